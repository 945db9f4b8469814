// gfx950's conversions of 32 elements of 6 bits.
// arch: gfx950
// input: v1-29 unit
// input: v30-31 scale
// Sixteen registers are 32 halves; 16 of each of two make 32 floats.
v_mov_b32_e32 v62, v31
v_cvt_scalef32_2xpk16_fp6_f32 v[40:45], v[2:17], v[12:27], v62
out 40,41,42,43,44,45
v_cvt_scalef32_pk32_f32_fp6 v[60:91], v[40:45], v30
out 60,61,62,63,75,90,91
v_mov_b32_e32 v62, v31
v_cvt_scalef32_pk32_f16_fp6 v[64:79], v[40:45], v31
out 64,65,70,79
v_cvt_scalef32_pk32_bf16_fp6 v[64:79], v[40:45], v31
out 64,65,70,79
v_cvt_scalef32_pk32_fp6_f16 v[46:51], v[64:79], v31
out 46,47,51
v_cvt_scalef32_2xpk16_bf6_f32 v[40:45], v[2:17], v[12:27], v62
out 40,41,42,43,44,45
v_cvt_scalef32_pk32_f32_bf6 v[60:91], v[40:45], v30
out 60,61,62,63,75,90,91
v_mov_b32_e32 v62, v31
v_cvt_scalef32_pk32_f16_bf6 v[64:79], v[40:45], v31
out 64,65,70,79
v_cvt_scalef32_pk32_bf16_bf6 v[64:79], v[40:45], v31
out 64,65,70,79
v_cvt_scalef32_pk32_bf6_f16 v[46:51], v[64:79], v31
out 46,47,51
