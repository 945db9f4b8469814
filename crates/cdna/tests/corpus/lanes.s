// Lanes that hand values to others: readlane, permute, swizzle, AGPRs.
// input: v24 lane64
v_readfirstlane_b32 s40, v6
outs 40
s_mov_b64 exec, s[18:19]
v_readfirstlane_b32 s40, v6
s_mov_b64 exec, -1
outs 40
s_mov_b64 exec, 0
v_readfirstlane_b32 s40, v6
s_mov_b64 exec, -1
outs 40
s_mov_b32 s42, 37
v_readlane_b32 s40, v7, s42
outs 40
v_readlane_b32 s40, v7, 63
outs 40
v_mov_b32_e32 v40, v8
v_writelane_b32 v40, s16, 11
v_writelane_b32 v40, 7, s42
out 40
v_mov_b32_e32 v40, v6
v_mov_b32_e32 v41, v7
s_mov_b64 exec, s[20:21]
v_swap_b32 v40, v41
s_mov_b64 exec, -1
out 40,41
v_accvgpr_write_b32 a3, v6
v_accvgpr_write_b32 a4, 7
v_accvgpr_mov_b32 a5, a3
s_nop 2
v_accvgpr_read_b32 v40, a5
v_accvgpr_read_b32 v41, a4
out 40,41
ds_permute_b32 v40, v24, v6
ds_bpermute_b32 v41, v24, v6
s_waitcnt lgkmcnt(0)
out 40,41
ds_permute_b32 v40, v24, v6 offset:12
ds_bpermute_b32 v41, v24, v6 offset:12
s_waitcnt lgkmcnt(0)
out 40,41
// Lanes that do not run are read as 0.
v_mov_b32_e32 v40, v7
v_mov_b32_e32 v41, v7
s_mov_b64 exec, s[18:19]
ds_permute_b32 v40, v24, v6
ds_bpermute_b32 v41, v24, v6
s_waitcnt lgkmcnt(0)
s_mov_b64 exec, -1
out 40,41
ds_swizzle_b32 v40, v6 offset:0x801f
s_waitcnt lgkmcnt(0)
out 40
ds_swizzle_b32 v40, v6 offset:0x401f
s_waitcnt lgkmcnt(0)
out 40
ds_swizzle_b32 v40, v6 offset:0x041f
s_waitcnt lgkmcnt(0)
out 40
ds_swizzle_b32 v40, v6 offset:0x0c1f
s_waitcnt lgkmcnt(0)
out 40
ds_swizzle_b32 v40, v6 offset:0x1f
s_waitcnt lgkmcnt(0)
out 40
ds_swizzle_b32 v40, v6 offset:0x00e8
s_waitcnt lgkmcnt(0)
out 40
ds_swizzle_b32 v40, v6 offset:0x8039
s_waitcnt lgkmcnt(0)
out 40
ds_swizzle_b32 v40, v6 offset:0x80e4
s_waitcnt lgkmcnt(0)
out 40
ds_swizzle_b32 v40, v6 offset:0x801b
s_waitcnt lgkmcnt(0)
out 40
v_mov_b32_e32 v40, v7
s_mov_b64 exec, s[20:21]
ds_swizzle_b32 v40, v6 offset:0x041f
s_waitcnt lgkmcnt(0)
s_mov_b64 exec, -1
out 40
