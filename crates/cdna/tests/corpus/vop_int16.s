// Integers of 16 bits: the other half of a register is cleared, or kept with op_sel.
v_add_u16_e32 v40, v6, v7
out 40
v_add_u16_e64 v40, v20, s16
out 40
v_sub_u16_e32 v40, v6, v7
out 40
v_sub_u16_e64 v40, v20, s16
out 40
v_mul_lo_u16_e32 v40, v6, v7
out 40
v_mul_lo_u16_e64 v40, v20, s16
out 40
v_lshlrev_b16_e32 v40, v6, v7
out 40
v_lshlrev_b16_e64 v40, v20, s16
out 40
v_lshrrev_b16_e32 v40, v6, v7
out 40
v_lshrrev_b16_e64 v40, v20, s16
out 40
v_ashrrev_i16_e32 v40, v6, v7
out 40
v_ashrrev_i16_e64 v40, v20, s16
out 40
v_max_u16_e32 v40, v6, v7
out 40
v_max_u16_e64 v40, v20, s16
out 40
v_min_u16_e32 v40, v6, v7
out 40
v_min_u16_e64 v40, v20, s16
out 40
v_max_i16_e32 v40, v6, v7
out 40
v_max_i16_e64 v40, v20, s16
out 40
v_min_i16_e32 v40, v6, v7
out 40
v_min_i16_e64 v40, v20, s16
out 40
v_mov_b32_e32 v40, v8
v_mad_u16 v40, v6, v7, v20
out 40
v_mov_b32_e32 v40, v8
v_mad_u16 v40, v6, v7, v20 op_sel:[1,0,1,1]
out 40
v_mov_b32_e32 v40, v8
v_mad_i16 v40, v6, v7, v20
out 40
v_mov_b32_e32 v40, v8
v_mad_i16 v40, v6, v7, v20 op_sel:[1,0,1,1]
out 40
v_mov_b32_e32 v40, v8
v_add_i16 v40, v6, v7 op_sel:[1,0,1]
out 40
v_add_i16 v40, v20, v7
out 40
v_mov_b32_e32 v40, v8
v_sub_i16 v40, v6, v7 op_sel:[1,0,1]
out 40
v_sub_i16 v40, v20, v7
out 40
v_add_u16_e64 v40, v6, v7 clamp
out 40
v_sub_u16_e64 v40, v6, v7 clamp
out 40
v_mov_b32_e32 v40, v8
v_min3_i16 v40, v6, v7, v20
out 40
v_mov_b32_e32 v40, v8
v_max3_i16 v40, v6, v7, v20 op_sel:[0,1,0,1]
out 40
v_mov_b32_e32 v40, v8
v_med3_i16 v40, v6, v7, v20 op_sel:[1,0,0,0]
out 40
v_mov_b32_e32 v40, v8
v_min3_u16 v40, v6, v7, v20 op_sel:[1,1,0,1]
out 40
v_mov_b32_e32 v40, v8
v_max3_u16 v40, v6, v7, v20
out 40
v_mov_b32_e32 v40, v8
v_med3_u16 v40, v6, v7, v20
out 40
