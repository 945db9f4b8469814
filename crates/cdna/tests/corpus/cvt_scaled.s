// gfx950's conversions with a scale, one and two elements.
// arch: gfx950
// input: v20 finite8
// input: v24-25 unit
// input: v26 quarter16
// input: v27 quarter
// input: v28 bf16
// input: v30-31 scale
v_mov_b32_e32 v40, v6
v_cvt_scalef32_pk_fp8_f32 v40, v24, v25, v30
out 40
v_cvt_scalef32_pk_fp8_f32 v40, v25, v24, v30 op_sel:[0,0,0,1]
out 40
v_mov_b32_e32 v40, v6
v_cvt_scalef32_pk_fp8_f16 v40, v18, v31 op_sel:[0,0,1]
out 40
v_mov_b32_e32 v40, v6
v_cvt_scalef32_pk_fp8_bf16 v40, v28, v31 op_sel:[0,0,1]
out 40
v_cvt_scalef32_pk_f32_fp8 v[40:41], v20, v30
out 40,41
v_cvt_scalef32_pk_f32_fp8 v[40:41], v20, v30 op_sel:[1,0,0]
out 40,41
v_cvt_scalef32_f32_fp8 v40, v20, v30
out 40
v_cvt_scalef32_f32_fp8 v40, v20, v30 op_sel:[1,0,0]
out 40
v_cvt_scalef32_f32_fp8 v40, v20, v30 op_sel:[0,1,0]
out 40
v_cvt_scalef32_f32_fp8 v40, v20, v30 op_sel:[1,1,0]
out 40
v_cvt_scalef32_pk_f16_fp8 v40, v20, v31
out 40
v_cvt_scalef32_pk_f16_fp8 v40, v20, v31 op_sel:[1,0,0]
out 40
v_cvt_scalef32_pk_bf16_fp8 v40, v20, v31
out 40
v_cvt_scalef32_pk_bf16_fp8 v40, v20, v31 op_sel:[1,0,0]
out 40
v_mov_b32_e32 v40, v6
v_cvt_scalef32_f16_fp8 v40, v20, v31 op_sel:[0,1,1]
out 40
v_mov_b32_e32 v40, v6
v_cvt_scalef32_sr_fp8_f32 v40, v27, v21, v31
out 40
v_mov_b32_e32 v40, v6
v_cvt_scalef32_sr_fp8_f32 v40, v27, v21, v31 op_sel:[0,0,1,0]
out 40
v_mov_b32_e32 v40, v6
v_cvt_scalef32_sr_fp8_f32 v40, v27, v21, v31 op_sel:[0,0,1,1]
out 40
v_mov_b32_e32 v40, v6
v_cvt_scalef32_sr_fp8_f16 v40, v26, v21, v31 op_sel:[0,0,0,1]
out 40
v_mov_b32_e32 v40, v6
v_cvt_scalef32_pk_bf8_f32 v40, v24, v25, v30
out 40
v_cvt_scalef32_pk_bf8_f32 v40, v25, v24, v30 op_sel:[0,0,0,1]
out 40
v_mov_b32_e32 v40, v6
v_cvt_scalef32_pk_bf8_f16 v40, v18, v31 op_sel:[0,0,1]
out 40
v_mov_b32_e32 v40, v6
v_cvt_scalef32_pk_bf8_bf16 v40, v28, v31 op_sel:[0,0,1]
out 40
v_cvt_scalef32_pk_f32_bf8 v[40:41], v20, v30
out 40,41
v_cvt_scalef32_pk_f32_bf8 v[40:41], v20, v30 op_sel:[1,0,0]
out 40,41
v_cvt_scalef32_f32_bf8 v40, v20, v30
out 40
v_cvt_scalef32_f32_bf8 v40, v20, v30 op_sel:[1,0,0]
out 40
v_cvt_scalef32_f32_bf8 v40, v20, v30 op_sel:[0,1,0]
out 40
v_cvt_scalef32_f32_bf8 v40, v20, v30 op_sel:[1,1,0]
out 40
v_cvt_scalef32_pk_f16_bf8 v40, v20, v31
out 40
v_cvt_scalef32_pk_f16_bf8 v40, v20, v31 op_sel:[1,0,0]
out 40
v_cvt_scalef32_pk_bf16_bf8 v40, v20, v31
out 40
v_cvt_scalef32_pk_bf16_bf8 v40, v20, v31 op_sel:[1,0,0]
out 40
v_mov_b32_e32 v40, v6
v_cvt_scalef32_f16_bf8 v40, v20, v31 op_sel:[0,1,1]
out 40
v_mov_b32_e32 v40, v6
v_cvt_scalef32_sr_bf8_f32 v40, v27, v21, v31
out 40
v_mov_b32_e32 v40, v6
v_cvt_scalef32_sr_bf8_f32 v40, v27, v21, v31 op_sel:[0,0,1,0]
out 40
v_mov_b32_e32 v40, v6
v_cvt_scalef32_sr_bf8_f32 v40, v27, v21, v31 op_sel:[0,0,1,1]
out 40
v_mov_b32_e32 v40, v6
v_cvt_scalef32_sr_bf8_f16 v40, v26, v21, v31 op_sel:[0,0,0,1]
out 40
v_mov_b32_e32 v40, v6
v_cvt_scalef32_pk_fp4_f32 v40, v24, v25, v30 op_sel:[0,0,1,0]
out 40
v_mov_b32_e32 v40, v6
v_cvt_scalef32_pk_fp4_f16 v40, v18, v31 op_sel:[0,0,1,1]
out 40
v_mov_b32_e32 v40, v6
v_cvt_scalef32_pk_fp4_bf16 v40, v28, v31 op_sel:[0,0,1,1]
out 40
v_cvt_scalef32_pk_f32_fp4 v[40:41], v20, v30 op_sel:[1,0,0]
out 40,41
v_cvt_scalef32_pk_f16_fp4 v40, v20, v31 op_sel:[0,1,0]
out 40
v_cvt_scalef32_pk_bf16_fp4 v40, v20, v31 op_sel:[0,1,0]
out 40
