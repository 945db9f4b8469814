// Conversions between integers, f16, f32 and f64.
v_cvt_f32_i32_e32 v40, v6
out 40
v_cvt_f32_u32_e32 v40, v6
out 40
v_cvt_u32_f32_e32 v40, v9
out 40
v_cvt_i32_f32_e32 v40, v9
out 40
v_cvt_flr_i32_f32_e32 v40, v9
out 40
v_cvt_f16_f32_e32 v40, v3
out 40
v_cvt_f16_f32_e32 v40, v1
out 40
v_cvt_f32_f16_e32 v40, v16
out 40
v_cvt_f32_f16_e32 v40, v18
out 40
v_cvt_f16_u16_e32 v40, v6
out 40
v_cvt_f16_i16_e32 v40, v6
out 40
v_cvt_u16_f16_e32 v40, v18
out 40
v_cvt_i16_f16_e32 v40, v18
out 40
v_cvt_off_f32_i4_e32 v40, v6
out 40
v_cvt_f32_ubyte0_e32 v40, v20
out 40
v_cvt_f32_ubyte1_e32 v40, v20
out 40
v_cvt_f32_ubyte2_e32 v40, v20
out 40
v_cvt_f32_ubyte3_e32 v40, v20
out 40
v_cvt_i32_f32_e32 v40, v1
out 40
v_cvt_u32_f32_e32 v40, v2
out 40
v_cvt_f64_i32_e32 v[40:41], v6
out 40,41
v_cvt_f64_u32_e32 v[40:41], v6
out 40,41
v_cvt_f64_f32_e32 v[40:41], v1
out 40,41
v_cvt_f32_f64_e32 v40, v[10:11]
out 40
v_ldexp_f64 v[42:43], v[12:13], 20
v_cvt_u32_f64_e32 v40, v[42:43]
out 40
v_cvt_u32_f64_e32 v40, v[10:11]
out 40
v_ldexp_f64 v[42:43], v[12:13], 20
v_cvt_i32_f64_e32 v40, v[42:43]
out 40
v_cvt_i32_f64_e32 v40, v[10:11]
out 40
v_cvt_pkrtz_f16_f32 v40, v3, v4
out 40
v_cvt_pkrtz_f16_f32 v40, v9, -v3
out 40
v_cvt_pknorm_i16_f32 v40, v3, v4
out 40
v_cvt_pknorm_u16_f32 v40, v3, v4
out 40
