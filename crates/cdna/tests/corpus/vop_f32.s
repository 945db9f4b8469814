// VOP1, VOP2 and VOP3 on f32, denormals kept.
v_add_f32_e32 v40, v3, v4
out 40
v_add_f32_e32 v40, 0.5, v5
out 40
v_add_f32_e64 v40, -v1, |v3|
out 40
v_add_f32_e64 v40, v3, -|v2|
out 40
v_sub_f32_e32 v40, v3, v4
out 40
v_sub_f32_e32 v40, 0.5, v5
out 40
v_sub_f32_e64 v40, -v1, |v3|
out 40
v_sub_f32_e64 v40, v3, -|v2|
out 40
v_subrev_f32_e32 v40, v3, v4
out 40
v_subrev_f32_e32 v40, 0.5, v5
out 40
v_subrev_f32_e64 v40, -v1, |v3|
out 40
v_subrev_f32_e64 v40, v3, -|v2|
out 40
v_mul_f32_e32 v40, v3, v4
out 40
v_mul_f32_e32 v40, 0.5, v5
out 40
v_mul_f32_e64 v40, -v1, |v3|
out 40
v_mul_f32_e64 v40, v3, -|v2|
out 40
v_min_f32_e32 v40, v3, v4
out 40
v_min_f32_e32 v40, 0.5, v5
out 40
v_min_f32_e64 v40, -v1, |v3|
out 40
v_min_f32_e64 v40, v3, -|v2|
out 40
v_max_f32_e32 v40, v3, v4
out 40
v_max_f32_e32 v40, 0.5, v5
out 40
v_max_f32_e64 v40, -v1, |v3|
out 40
v_max_f32_e64 v40, v3, -|v2|
out 40
v_mul_legacy_f32 v40, v3, v1
out 40
v_add_f32_e64 v40, v3, v4 clamp
out 40
v_mul_f32_e64 v40, v3, v4 clamp
out 40
// Output multipliers work when denormals are flushed.
v_fma_f32 v40, v3, v4, v5
out 40
v_fma_f32 v40, v3, -v4, |v5|
out 40
v_fma_f32 v40, v1, v3, v4
out 40
v_fma_f32 v40, v3, v4, v5 clamp
out 40
v_mov_b32_e32 v40, v5
v_fmac_f32_e32 v40, v3, v4
out 40
v_fmamk_f32 v40, v3, 0x40490fdb, v4
out 40
v_fmaak_f32 v40, v3, v4, 0xbfc90fdb
out 40
v_min3_f32 v40, v3, v4, v5
out 40
v_min3_f32 v40, v1, v2, v3
out 40
v_max3_f32 v40, v3, v4, v5
out 40
v_max3_f32 v40, v1, v2, v3
out 40
v_med3_f32 v40, v3, v4, v5
out 40
v_med3_f32 v40, v1, v2, v3
out 40
v_trunc_f32_e32 v40, v9
out 40
v_trunc_f32_e32 v40, v1
out 40
v_ceil_f32_e32 v40, v9
out 40
v_ceil_f32_e32 v40, v1
out 40
v_floor_f32_e32 v40, v9
out 40
v_floor_f32_e32 v40, v1
out 40
v_rndne_f32_e32 v40, v9
out 40
v_rndne_f32_e32 v40, v1
out 40
v_fract_f32_e32 v40, v9
out 40
v_fract_f32_e32 v40, v3
out 40
v_ldexp_f32 v40, v3, v22
out 40
v_mov_b32_e32 v41, 0xffffff6a
v_ldexp_f32 v40, v3, v41
out 40
v_mov_b32_e32 v41, 0xffffffc4
v_ldexp_f32 v40, v2, v41
out 40
v_frexp_mant_f32_e32 v40, v3
out 40
v_frexp_exp_i32_f32_e32 v40, v3
out 40
// A NaN goes through, made quiet; minimum and maximum prefer the number.
v_mov_b32_e32 v41, 0x7f812345
v_add_f32_e32 v40, v41, v3
out 40
v_mul_f32_e32 v40, v41, v3
out 40
v_fma_f32 v40, v3, v41, v4
out 40
v_mov_b32_e32 v41, 0xffc12345
v_min_f32_e32 v40, v41, v3
out 40
v_max_f32_e32 v40, v3, v41
out 40
v_cubeid_f32 v40, v3, v4, v5
out 40
v_cubeid_f32 v40, v5, -v3, v4
out 40
v_cubesc_f32 v40, v3, v4, v5
out 40
v_cubesc_f32 v40, v5, -v3, v4
out 40
v_cubetc_f32 v40, v3, v4, v5
out 40
v_cubetc_f32 v40, v5, -v3, v4
out 40
v_cubema_f32 v40, v3, v4, v5
out 40
v_cubema_f32 v40, v5, -v3, v4
out 40
