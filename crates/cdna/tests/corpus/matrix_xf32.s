// xf32.
// arch: gfx942
// input: v2 near
v_mfma_f32_16x16x8_xf32 v[40:43], v[4:5], v[2:3], v[2:5]
s_nop 15
s_nop 15
out 40,41,42,43
