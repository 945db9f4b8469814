// What gfx950 adds to VOP1 and VOP3.
// arch: gfx950
// input: v28 bf16
v_cvt_pk_bf16_f32 v40, v3, v4
out 40
v_cvt_pk_bf16_f32 v40, -v1, |v3|
out 40
v_cvt_pk_f16_f32 v40, v3, v4
out 40
v_cvt_pk_f16_f32 v40, -v1, |v3|
out 40
v_cvt_f32_bf16_e32 v40, v28
out 40
v_cvt_f32_bf16_sdwa v40, v28 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1
out 40
v_mov_b32_e32 v40, v6
v_cvt_sr_f16_f32 v40, v3, v21
out 40
v_cvt_sr_f16_f32 v40, -v4, v20 op_sel:[0,0,1]
out 40
v_mov_b32_e32 v40, v6
v_cvt_sr_bf16_f32 v40, v3, v21
out 40
v_cvt_sr_bf16_f32 v40, -v4, v20 op_sel:[0,0,1]
out 40
v_prng_b32_e32 v40, v6
out 40
v_mov_b32_e32 v40, v6
v_mov_b32_e32 v41, v7
s_nop 1
v_permlane16_swap_b32_e32 v40, v41
out 40,41
v_mov_b32_e32 v40, v6
v_mov_b32_e32 v41, v7
s_nop 1
v_permlane32_swap_b32_e32 v40, v41
out 40,41
v_bitop3_b32 v40, v20, v21, v6 bitop3:0x96
out 40
v_mov_b32_e32 v40, v8
v_bitop3_b16 v40, v20, v21, v6 bitop3:0x96 op_sel:[1,0,1,1]
out 40
v_bitop3_b32 v40, v20, v21, v6 bitop3:0xe8
out 40
v_mov_b32_e32 v40, v8
v_bitop3_b16 v40, v20, v21, v6 bitop3:0xe8 op_sel:[1,0,1,1]
out 40
v_bitop3_b32 v40, v20, v21, v6 bitop3:0x1b
out 40
v_mov_b32_e32 v40, v8
v_bitop3_b16 v40, v20, v21, v6 bitop3:0x1b op_sel:[1,0,1,1]
out 40
v_bitop3_b32 v40, v20, v21, v6 bitop3:0x40
out 40
v_mov_b32_e32 v40, v8
v_bitop3_b16 v40, v20, v21, v6 bitop3:0x40 op_sel:[1,0,1,1]
out 40
v_mov_b32_e32 v40, v8
v_ashr_pk_i8_i32 v40, v6, v7, v22
out 40
v_mov_b32_e32 v40, v8
v_ashr_pk_i8_i32 v40, v6, v7, 23 op_sel:[0,0,0,1]
out 40
v_mov_b32_e32 v40, v8
v_ashr_pk_u8_i32 v40, v6, v7, v22
out 40
v_mov_b32_e32 v40, v8
v_ashr_pk_u8_i32 v40, v6, v7, 23 op_sel:[0,0,0,1]
out 40
v_pk_minimum3_f16 v40, v18, v19, v16
out 40
v_pk_minimum3_f16 v40, v16, v17, v18 op_sel:[1,0,1] op_sel_hi:[0,1,0] neg_lo:[1,0,0] neg_hi:[0,1,0]
out 40
v_minimum3_f32 v40, v3, v4, v1
out 40
v_pk_maximum3_f16 v40, v18, v19, v16
out 40
v_pk_maximum3_f16 v40, v16, v17, v18 op_sel:[1,0,1] op_sel_hi:[0,1,0] neg_lo:[1,0,0] neg_hi:[0,1,0]
out 40
v_maximum3_f32 v40, v3, v4, v1
out 40
// A NaN wins.
v_mov_b32_e32 v41, 0x3c007e01
v_pk_minimum3_f16 v40, v18, v41, v16
out 40
v_pk_maximum3_f16 v40, v18, v19, v41
out 40
v_mov_b32_e32 v41, 0x7fc00123
v_minimum3_f32 v40, v3, v4, v41
out 40
