// MFMA and SMFMAC from machine code: operands, AGPRs, broadcasts, sparse indices.
// input: v2 near
// input: v16-19 f16
// input: v20-21 bits
// input: v24-27 bf16
// input: v28-31 finite8
v_mfma_f32_16x16x16_f16 v[40:43], v[16:17], v[18:19], v[2:5]
s_nop 15
s_nop 15
out 40,41,42,43
v_mfma_f32_16x16x16_bf16 v[40:43], v[24:25], v[26:27], v[2:5]
s_nop 15
s_nop 15
out 40,41,42,43
v_mfma_f32_16x16x4_f32 v[40:43], v3, v4, 1.0
s_nop 15
s_nop 15
out 40,41,42,43
v_mfma_f32_4x4x4_16b_f16 v[40:43], v[18:19], v[16:17], v[2:5] cbsz:2 abid:1 blgp:3
s_nop 15
s_nop 15
out 40,41,42,43
v_mfma_i32_16x16x32_i8 v[40:43], v[20:21], v[10:11], v[6:9]
s_nop 15
s_nop 15
out 40,41,42,43
v_mfma_i32_4x4x4_16b_i8 v[40:43], v20, v21, 0
s_nop 15
s_nop 15
out 40,41,42,43
v_mfma_f32_16x16x32_fp8_bf8 v[40:43], v[28:29], v[30:31], v[2:5]
s_nop 15
s_nop 15
out 40,41,42,43
v_mfma_f32_16x16x32_bf8_fp8 v[40:43], v[28:29], v[30:31], v[2:5]
s_nop 15
s_nop 15
out 40,41,42,43
v_mfma_f64_16x16x4_f64 v[40:47], v[10:11], v[12:13], 0
s_nop 15
s_nop 15
out 40,41,46,47
v_mfma_f64_4x4x4_4b_f64 v[40:41], v[10:11], v[12:13], v[14:15]
s_nop 15
s_nop 15
out 40,41
v_mfma_f32_32x32x8_f16 v[40:55], v[16:17], v[18:19], 0
s_nop 15
s_nop 15
out 40,45,50,55
v_mfma_f32_32x32x2_f32 a[0:15], v3, v4, 0
s_nop 15
s_nop 15
v_accvgpr_read_b32 v40, a0
v_accvgpr_read_b32 v41, a15
out 40,41
v_mov_b32_e32 v40, v3
v_mov_b32_e32 v41, v4
v_mov_b32_e32 v42, v5
v_mov_b32_e32 v43, v3
s_nop 4
v_smfmac_f32_16x16x32_f16 v[40:43], v[18:19], v[16:19], v21
s_nop 15
s_nop 15
out 40,41,42,43
v_mov_b32_e32 v40, v3
v_mov_b32_e32 v41, v4
v_mov_b32_e32 v42, v5
v_mov_b32_e32 v43, v3
s_nop 4
v_smfmac_f32_16x16x32_f16 v[40:43], v[18:19], v[16:19], v21 abid:1
s_nop 15
s_nop 15
out 40,41,42,43
v_mov_b32_e32 v40, v3
v_mov_b32_e32 v41, v4
v_mov_b32_e32 v42, v5
v_mov_b32_e32 v43, v3
s_nop 4
v_smfmac_f32_16x16x32_f16 v[40:43], v[18:19], v[16:19], v21 cbsz:1 abid:1
s_nop 15
s_nop 15
out 40,41,42,43
v_mov_b32_e32 v40, v3
v_mov_b32_e32 v41, v4
v_mov_b32_e32 v42, v5
v_mov_b32_e32 v43, v3
s_nop 4
v_smfmac_f32_16x16x32_bf16 v[40:43], v[24:25], v[24:27], v21
s_nop 15
s_nop 15
out 40,41,42,43
v_mov_b32_e32 v40, v3
v_mov_b32_e32 v41, v4
v_mov_b32_e32 v42, v5
v_mov_b32_e32 v43, v3
s_nop 4
v_smfmac_f32_16x16x32_bf16 v[40:43], v[24:25], v[24:27], v21 abid:1
s_nop 15
s_nop 15
out 40,41,42,43
v_mov_b32_e32 v40, v3
v_mov_b32_e32 v41, v4
v_mov_b32_e32 v42, v5
v_mov_b32_e32 v43, v3
s_nop 4
v_smfmac_f32_16x16x32_bf16 v[40:43], v[24:25], v[24:27], v21 cbsz:1 abid:1
s_nop 15
s_nop 15
out 40,41,42,43
v_mov_b32_e32 v40, v3
v_mov_b32_e32 v41, v4
v_mov_b32_e32 v42, v5
v_mov_b32_e32 v43, v3
s_nop 4
v_smfmac_f32_16x16x64_fp8_bf8 v[40:43], v[28:29], v[28:31], v21
s_nop 15
s_nop 15
out 40,41,42,43
v_mov_b32_e32 v40, v3
v_mov_b32_e32 v41, v4
v_mov_b32_e32 v42, v5
v_mov_b32_e32 v43, v3
s_nop 4
v_smfmac_f32_16x16x64_fp8_bf8 v[40:43], v[28:29], v[28:31], v21 abid:1
s_nop 15
s_nop 15
out 40,41,42,43
v_mov_b32_e32 v40, v3
v_mov_b32_e32 v41, v4
v_mov_b32_e32 v42, v5
v_mov_b32_e32 v43, v3
s_nop 4
v_smfmac_f32_16x16x64_fp8_bf8 v[40:43], v[28:29], v[28:31], v21 cbsz:1 abid:1
s_nop 15
s_nop 15
out 40,41,42,43
v_mov_b32_e32 v40, v6
v_mov_b32_e32 v41, v7
v_mov_b32_e32 v42, v8
v_mov_b32_e32 v43, v6
s_nop 4
v_smfmac_i32_16x16x64_i8 v[40:43], v[10:11], v[20:23], v6 abid:1
s_nop 15
s_nop 15
out 40,41,42,43
