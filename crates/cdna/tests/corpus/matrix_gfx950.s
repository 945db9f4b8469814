// gfx950's matrix instructions: scaled f8f6f4 in every pair of formats, wide and sparse forms.
// input: v2 near
// arch: gfx950
// input: v6-13 bf16
// input: v14-15 scales
// input: v16-31 finite8
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:23], v[24:31], v[2:5], v14, v15 op_sel:[0,0,0] op_sel_hi:[0,0,0]
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:23], v[24:31], v[2:5], v14, v15 op_sel:[0,1,0] op_sel_hi:[0,0,0] blgp:1
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:23], v[24:29], v[2:5], v14, v15 op_sel:[0,0,0] op_sel_hi:[0,1,0] blgp:2
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:23], v[24:29], v[2:5], v14, v15 op_sel:[0,1,0] op_sel_hi:[0,1,0] blgp:3
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:23], v[24:27], v[2:5], v14, v15 op_sel:[0,0,0] op_sel_hi:[0,0,0] blgp:4
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:23], v[24:31], v[2:5], v14, v15 op_sel:[1,0,0] op_sel_hi:[0,0,0] cbsz:1
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:23], v[24:31], v[2:5], v14, v15 op_sel:[1,1,0] op_sel_hi:[0,0,0] cbsz:1 blgp:1
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:23], v[24:29], v[2:5], v14, v15 op_sel:[1,0,0] op_sel_hi:[0,1,0] cbsz:1 blgp:2
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:23], v[24:29], v[2:5], v14, v15 op_sel:[1,1,0] op_sel_hi:[0,1,0] cbsz:1 blgp:3
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:23], v[24:27], v[2:5], v14, v15 op_sel:[1,0,0] op_sel_hi:[0,0,0] cbsz:1 blgp:4
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:21], v[24:31], v[2:5], v14, v15 op_sel:[0,0,0] op_sel_hi:[1,0,0] cbsz:2
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:21], v[24:31], v[2:5], v14, v15 op_sel:[0,1,0] op_sel_hi:[1,0,0] cbsz:2 blgp:1
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:21], v[24:29], v[2:5], v14, v15 op_sel:[0,0,0] op_sel_hi:[1,1,0] cbsz:2 blgp:2
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:21], v[24:29], v[2:5], v14, v15 op_sel:[0,1,0] op_sel_hi:[1,1,0] cbsz:2 blgp:3
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:21], v[24:27], v[2:5], v14, v15 op_sel:[0,0,0] op_sel_hi:[1,0,0] cbsz:2 blgp:4
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:21], v[24:31], v[2:5], v14, v15 op_sel:[1,0,0] op_sel_hi:[1,0,0] cbsz:3
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:21], v[24:31], v[2:5], v14, v15 op_sel:[1,1,0] op_sel_hi:[1,0,0] cbsz:3 blgp:1
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:21], v[24:29], v[2:5], v14, v15 op_sel:[1,0,0] op_sel_hi:[1,1,0] cbsz:3 blgp:2
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:21], v[24:29], v[2:5], v14, v15 op_sel:[1,1,0] op_sel_hi:[1,1,0] cbsz:3 blgp:3
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:21], v[24:27], v[2:5], v14, v15 op_sel:[1,0,0] op_sel_hi:[1,0,0] cbsz:3 blgp:4
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:19], v[24:31], v[2:5], v14, v15 op_sel:[0,0,0] op_sel_hi:[0,0,0] cbsz:4
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:19], v[24:31], v[2:5], v14, v15 op_sel:[0,1,0] op_sel_hi:[0,0,0] cbsz:4 blgp:1
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:19], v[24:29], v[2:5], v14, v15 op_sel:[0,0,0] op_sel_hi:[0,1,0] cbsz:4 blgp:2
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:19], v[24:29], v[2:5], v14, v15 op_sel:[0,1,0] op_sel_hi:[0,1,0] cbsz:4 blgp:3
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[16:19], v[24:27], v[2:5], v14, v15 op_sel:[0,0,0] op_sel_hi:[0,0,0] cbsz:4 blgp:4
s_nop 15
s_nop 15
out 40,43
v_mfma_scale_f32_32x32x64_f8f6f4 v[40:55], v[16:21], v[24:27], 0, v14, v15 op_sel:[1,0,0] op_sel_hi:[0,1,0] cbsz:2 blgp:4
s_nop 15
s_nop 15
out 40,49
v_mfma_f32_16x16x128_f8f6f4 v[40:43], v[16:21], v[24:29], v[2:5] cbsz:3 blgp:2
s_nop 15
s_nop 15
out 40,41,42,43
v_mfma_f32_16x16x32_bf16 v[40:43], v[8:11], v[8:11], v[2:5]
s_nop 0
s_nop 15
s_nop 15
out 40,41,42,43
v_mfma_i32_16x16x64_i8 v[40:43], v[16:19], v[24:27], v[6:9]
s_nop 15
s_nop 15
out 40,41,42,43
v_mov_b32_e32 v40, v3
v_mov_b32_e32 v41, v4
v_mov_b32_e32 v42, v5
v_mov_b32_e32 v43, v3
s_nop 4
v_smfmac_f32_16x16x64_bf16 v[40:43], v[8:11], v[6:13], v7
s_nop 15
s_nop 15
out 40,41,42,43
v_mov_b32_e32 v40, v3
v_mov_b32_e32 v41, v4
v_mov_b32_e32 v42, v5
v_mov_b32_e32 v43, v3
s_nop 4
v_smfmac_f32_16x16x64_bf16 v[40:43], v[8:11], v[6:13], v7 abid:1
s_nop 15
s_nop 15
out 40,41,42,43
v_mov_b32_e32 v40, v3
v_mov_b32_e32 v41, v4
v_mov_b32_e32 v42, v5
v_mov_b32_e32 v43, v3
s_nop 4
v_smfmac_f32_16x16x128_fp8_fp8 v[40:43], v[16:19], v[24:31], v7
s_nop 15
s_nop 15
out 40,41,42,43
