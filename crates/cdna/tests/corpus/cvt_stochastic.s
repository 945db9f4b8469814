// gfx950's stochastic conversions with a scale; a generator steps from element to element.
// arch: gfx950
// input: v1-17 quarter
// input: v18-27 quarter16
// input: v28 quarterb16
// input: v29-30 bits
// input: v31 near_scale
v_mov_b32_e32 v60, v1
v_mov_b32_e32 v61, v2
v_mov_b32_e32 v62, v3
v_mov_b32_e32 v63, v4
v_mov_b32_e32 v64, v5
v_mov_b32_e32 v65, v6
v_mov_b32_e32 v66, v7
v_mov_b32_e32 v67, v8
v_mov_b32_e32 v68, v9
v_mov_b32_e32 v69, v10
v_mov_b32_e32 v70, v11
v_mov_b32_e32 v71, v12
v_mov_b32_e32 v72, v13
v_mov_b32_e32 v73, v14
v_mov_b32_e32 v74, v15
v_mov_b32_e32 v75, v16
v_mov_b32_e32 v76, v17
v_mov_b32_e32 v77, v1
v_mov_b32_e32 v78, v2
v_mov_b32_e32 v79, v3
v_mov_b32_e32 v80, v4
v_mov_b32_e32 v81, v5
v_mov_b32_e32 v82, v6
v_mov_b32_e32 v83, v7
v_mov_b32_e32 v84, v8
v_mov_b32_e32 v85, v9
v_mov_b32_e32 v86, v10
v_mov_b32_e32 v87, v11
v_mov_b32_e32 v88, v12
v_mov_b32_e32 v89, v13
v_mov_b32_e32 v90, v14
v_mov_b32_e32 v91, v15
v_mov_b32_e32 v40, v29
v_cvt_scalef32_sr_pk_fp4_f32 v40, v[2:3], v30, v31
out 40
v_mov_b32_e32 v40, v29
v_cvt_scalef32_sr_pk_fp4_f16 v40, v18, v30, v31
out 40
v_mov_b32_e32 v40, v29
v_cvt_scalef32_sr_pk_fp4_bf16 v40, v28, v30, v31
out 40
v_mov_b32_e32 v40, v29
v_cvt_scalef32_sr_pk_fp4_f32 v40, v[2:3], v30, v31 op_sel:[0,0,1,0]
out 40
v_mov_b32_e32 v40, v29
v_cvt_scalef32_sr_pk_fp4_f16 v40, v18, v30, v31 op_sel:[0,0,1,0]
out 40
v_mov_b32_e32 v40, v29
v_cvt_scalef32_sr_pk_fp4_bf16 v40, v28, v30, v31 op_sel:[0,0,1,0]
out 40
v_mov_b32_e32 v40, v29
v_cvt_scalef32_sr_pk_fp4_f32 v40, v[2:3], v30, v31 op_sel:[0,0,0,1]
out 40
v_mov_b32_e32 v40, v29
v_cvt_scalef32_sr_pk_fp4_f16 v40, v18, v30, v31 op_sel:[0,0,0,1]
out 40
v_mov_b32_e32 v40, v29
v_cvt_scalef32_sr_pk_fp4_bf16 v40, v28, v30, v31 op_sel:[0,0,0,1]
out 40
v_mov_b32_e32 v40, v29
v_cvt_scalef32_sr_fp8_bf16 v40, v28, v30, v31
out 40
v_mov_b32_e32 v40, v29
v_cvt_scalef32_sr_fp8_bf16 v40, v28, v30, v31 op_sel:[0,0,1,1]
out 40
v_mov_b32_e32 v40, v29
v_cvt_scalef32_sr_fp8_bf16 v40, v28, v30, v31 op_sel:[1,0,0,1]
out 40
v_mov_b32_e32 v40, v29
v_cvt_scalef32_sr_bf8_bf16 v40, v28, v30, v31
out 40
v_mov_b32_e32 v40, v29
v_cvt_scalef32_sr_bf8_bf16 v40, v28, v30, v31 op_sel:[0,0,1,1]
out 40
v_mov_b32_e32 v40, v29
v_cvt_scalef32_sr_bf8_bf16 v40, v28, v30, v31 op_sel:[1,0,0,1]
out 40
v_cvt_scalef32_sr_pk32_fp6_f32 v[40:45], v[60:91], v30, v31
out 40,41,42,43,44,45
v_cvt_scalef32_sr_pk32_bf6_f32 v[40:45], v[60:91], v30, v31
out 40,41,42,43,44,45
v_mov_b32_e32 v48, v18
v_mov_b32_e32 v49, v19
v_mov_b32_e32 v50, v20
v_mov_b32_e32 v51, v21
v_mov_b32_e32 v52, v22
v_mov_b32_e32 v53, v23
v_mov_b32_e32 v54, v24
v_mov_b32_e32 v55, v25
v_mov_b32_e32 v56, v26
v_mov_b32_e32 v57, v27
v_mov_b32_e32 v58, v18
v_mov_b32_e32 v59, v19
v_mov_b32_e32 v60, v20
v_mov_b32_e32 v61, v21
v_mov_b32_e32 v62, v22
v_mov_b32_e32 v63, v23
v_cvt_scalef32_sr_pk32_fp6_f16 v[40:45], v[48:63], v30, v31
out 40,41,42,45
v_cvt_scalef32_sr_pk32_bf6_f16 v[40:45], v[48:63], v30, v31
out 40,41,42,45
v_mov_b32_e32 v48, v28
v_mov_b32_e32 v49, v28
v_mov_b32_e32 v50, v28
v_mov_b32_e32 v51, v28
v_mov_b32_e32 v52, v28
v_mov_b32_e32 v53, v28
v_mov_b32_e32 v54, v28
v_mov_b32_e32 v55, v28
v_mov_b32_e32 v56, v28
v_mov_b32_e32 v57, v28
v_mov_b32_e32 v58, v28
v_mov_b32_e32 v59, v28
v_mov_b32_e32 v60, v28
v_mov_b32_e32 v61, v28
v_mov_b32_e32 v62, v28
v_mov_b32_e32 v63, v28
v_cvt_scalef32_sr_pk32_fp6_bf16 v[40:45], v[48:63], v30, v31
out 40,41,42,45
v_cvt_scalef32_pk32_fp6_bf16 v[40:45], v[48:63], v31
out 40,43
v_cvt_scalef32_sr_pk32_bf6_bf16 v[40:45], v[48:63], v30, v31
out 40,41,42,45
v_cvt_scalef32_pk32_bf6_bf16 v[40:45], v[48:63], v31
out 40,43
