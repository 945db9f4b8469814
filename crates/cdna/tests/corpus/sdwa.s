// SDWA: parts of sources and results, sign extension, modifiers.
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:BYTE_0 dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:BYTE_0 dst_unused:UNUSED_SEXT src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:BYTE_0 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:BYTE_1 dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:BYTE_2 dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:BYTE_2 dst_unused:UNUSED_SEXT src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:BYTE_3 dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:BYTE_3 dst_unused:UNUSED_SEXT src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:BYTE_3 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:WORD_0 dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:WORD_0 dst_unused:UNUSED_SEXT src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:WORD_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:DWORD dst_unused:UNUSED_SEXT src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_e32 v40, v8
v_add_u32_sdwa v40, v6, v7 dst_sel:DWORD dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 src1_sel:WORD_1
out 40
v_mov_b32_sdwa v40, v6 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0
out 40
v_max_i32_sdwa v40, sext(v6), v7 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD
out 40
v_sub_u32_sdwa v40, sext(v6), sext(v7) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:BYTE_0
out 40
v_mov_b32_sdwa v40, v6 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1
out 40
v_max_i32_sdwa v40, sext(v6), v7 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD
out 40
v_sub_u32_sdwa v40, sext(v6), sext(v7) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:BYTE_1
out 40
v_mov_b32_sdwa v40, v6 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2
out 40
v_max_i32_sdwa v40, sext(v6), v7 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2 src1_sel:DWORD
out 40
v_sub_u32_sdwa v40, sext(v6), sext(v7) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2 src1_sel:BYTE_2
out 40
v_mov_b32_sdwa v40, v6 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3
out 40
v_max_i32_sdwa v40, sext(v6), v7 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:DWORD
out 40
v_sub_u32_sdwa v40, sext(v6), sext(v7) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:BYTE_3
out 40
v_mov_b32_sdwa v40, v6 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0
out 40
v_max_i32_sdwa v40, sext(v6), v7 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:DWORD
out 40
v_sub_u32_sdwa v40, sext(v6), sext(v7) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_0
out 40
v_mov_b32_sdwa v40, v6 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1
out 40
v_max_i32_sdwa v40, sext(v6), v7 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD
out 40
v_sub_u32_sdwa v40, sext(v6), sext(v7) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_1
out 40
v_mov_b32_sdwa v40, v6 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD
out 40
v_max_i32_sdwa v40, sext(v6), v7 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD
out 40
v_sub_u32_sdwa v40, sext(v6), sext(v7) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD
out 40
v_mov_b32_e32 v40, v8
v_mul_f16_sdwa v40, v18, -|v19| dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0
out 40
v_add_f16_sdwa v40, v18, v19 clamp dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_1
out 40
v_mul_f32_sdwa v40, -v3, |v4| dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD
out 40
v_cvt_f32_f16_sdwa v40, v18 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1
out 40
v_cvt_f32_u32_sdwa v40, v20 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2
out 40
v_cmp_lt_u32_sdwa s[40:41], v6, v7 src0_sel:BYTE_1 src1_sel:WORD_1
outs 40,41
v_cmp_gt_i32_sdwa vcc, sext(v6), v22 src0_sel:BYTE_3 src1_sel:DWORD
s_mov_b64 s[44:45], vcc
outs 44,45
v_mov_b32_e32 v40, v8
s_mov_b64 exec, s[18:19]
v_xor_b32_sdwa v40, v6, v7 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0 src1_sel:WORD_1
s_mov_b64 exec, -1
out 40
