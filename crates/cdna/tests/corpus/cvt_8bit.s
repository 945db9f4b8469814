// fp8 and bf8: FNUZ on gfx942, OCP on gfx950; stochastic rounding.
// input: v20-21 finite8
// input: v24-26 unit
// input: v27 quarter
v_cvt_f32_fp8_sdwa v40, v20 src0_sel:BYTE_0
out 40
v_cvt_f32_fp8_sdwa v40, v20 src0_sel:BYTE_1
out 40
v_cvt_f32_fp8_sdwa v40, v20 src0_sel:BYTE_2
out 40
v_cvt_f32_fp8_sdwa v40, v20 src0_sel:BYTE_3
out 40
v_cvt_f32_fp8_e32 v40, v21
out 40
v_cvt_pk_f32_fp8_sdwa v[40:41], v20 src0_sel:WORD_0
out 40,41
v_cvt_pk_f32_fp8_sdwa v[40:41], v20 src0_sel:WORD_1
out 40,41
v_mov_b32_e32 v40, v6
v_cvt_pk_fp8_f32 v40, v24, v25
out 40
v_cvt_pk_fp8_f32 v40, -v26, |v24| op_sel:[0,0,1]
out 40
v_mov_b32_e32 v40, v6
v_cvt_sr_fp8_f32 v40, v27, v21
out 40
v_mov_b32_e32 v40, v6
v_cvt_sr_fp8_f32 v40, v27, v21 op_sel:[0,0,1,0]
out 40
v_mov_b32_e32 v40, v6
v_cvt_sr_fp8_f32 v40, v27, v21 op_sel:[0,0,0,1]
out 40
v_mov_b32_e32 v40, v6
v_cvt_sr_fp8_f32 v40, v27, v21 op_sel:[0,0,1,1]
out 40
v_cvt_f32_bf8_sdwa v40, v20 src0_sel:BYTE_0
out 40
v_cvt_f32_bf8_sdwa v40, v20 src0_sel:BYTE_1
out 40
v_cvt_f32_bf8_sdwa v40, v20 src0_sel:BYTE_2
out 40
v_cvt_f32_bf8_sdwa v40, v20 src0_sel:BYTE_3
out 40
v_cvt_f32_bf8_e32 v40, v21
out 40
v_cvt_pk_f32_bf8_sdwa v[40:41], v20 src0_sel:WORD_0
out 40,41
v_cvt_pk_f32_bf8_sdwa v[40:41], v20 src0_sel:WORD_1
out 40,41
v_mov_b32_e32 v40, v6
v_cvt_pk_bf8_f32 v40, v24, v25
out 40
v_cvt_pk_bf8_f32 v40, -v26, |v24| op_sel:[0,0,1]
out 40
v_mov_b32_e32 v40, v6
v_cvt_sr_bf8_f32 v40, v27, v21
out 40
v_mov_b32_e32 v40, v6
v_cvt_sr_bf8_f32 v40, v27, v21 op_sel:[0,0,1,0]
out 40
v_mov_b32_e32 v40, v6
v_cvt_sr_bf8_f32 v40, v27, v21 op_sel:[0,0,0,1]
out 40
v_mov_b32_e32 v40, v6
v_cvt_sr_bf8_f32 v40, v27, v21 op_sel:[0,0,1,1]
out 40
