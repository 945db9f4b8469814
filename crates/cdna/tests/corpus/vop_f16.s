// f16 in one half of a register.
v_add_f16_e32 v40, v18, v19
out 40
v_add_f16_e64 v40, -v16, |v18|
out 40
v_add_f16_e64 v40, v18, v19 clamp
out 40
v_add_f16_e32 v40, 2.0, v18
out 40
v_sub_f16_e32 v40, v18, v19
out 40
v_sub_f16_e64 v40, -v16, |v18|
out 40
v_sub_f16_e64 v40, v18, v19 clamp
out 40
v_sub_f16_e32 v40, 2.0, v18
out 40
v_mul_f16_e32 v40, v18, v19
out 40
v_mul_f16_e64 v40, -v16, |v18|
out 40
v_mul_f16_e64 v40, v18, v19 clamp
out 40
v_mul_f16_e32 v40, 2.0, v18
out 40
v_min_f16_e32 v40, v18, v19
out 40
v_min_f16_e64 v40, -v16, |v18|
out 40
v_min_f16_e64 v40, v18, v19 clamp
out 40
v_min_f16_e32 v40, 2.0, v18
out 40
v_max_f16_e32 v40, v18, v19
out 40
v_max_f16_e64 v40, -v16, |v18|
out 40
v_max_f16_e64 v40, v18, v19 clamp
out 40
v_max_f16_e32 v40, 2.0, v18
out 40
v_mov_b32_e32 v40, v6
v_fma_f16 v40, v18, v19, v16
out 40
v_mov_b32_e32 v40, v6
v_fma_f16 v40, v18, -v19, v18 op_sel:[1,0,1,1]
out 40
v_mov_b32_e32 v40, v6
v_min3_f16 v40, v18, v19, v16
out 40
v_mov_b32_e32 v40, v6
v_min3_f16 v40, v18, v19, v16 op_sel:[0,1,1,1]
out 40
v_mov_b32_e32 v40, v6
v_max3_f16 v40, v18, v19, v16
out 40
v_mov_b32_e32 v40, v6
v_max3_f16 v40, v18, v19, v16 op_sel:[0,1,1,1]
out 40
v_mov_b32_e32 v40, v6
v_med3_f16 v40, v18, v19, v16
out 40
v_mov_b32_e32 v40, v6
v_med3_f16 v40, v18, v19, v16 op_sel:[0,1,1,1]
out 40
v_trunc_f16_e32 v40, v18
out 40
v_trunc_f16_e32 v40, v16
out 40
v_ceil_f16_e32 v40, v18
out 40
v_ceil_f16_e32 v40, v16
out 40
v_floor_f16_e32 v40, v18
out 40
v_floor_f16_e32 v40, v16
out 40
v_rndne_f16_e32 v40, v18
out 40
v_rndne_f16_e32 v40, v16
out 40
v_fract_f16_e32 v40, v18
out 40
v_ldexp_f16_e32 v40, v18, v22
out 40
v_pack_b32_f16 v40, v18, v19
out 40
v_pack_b32_f16 v40, v18, v19 op_sel:[1,1,0]
out 40
