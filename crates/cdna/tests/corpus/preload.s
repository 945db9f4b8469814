// Kernel arguments that are in scalar registers when the wave starts. The first
// 256 bytes load them for firmware that does not, and are jumped over.
// descriptor: .amdhsa_user_sgpr_kernarg_preload_length 4
// descriptor: .amdhsa_user_sgpr_kernarg_preload_offset 2
// first: s_load_dwordx2 s[2:3], s[0:1], 0x8
// first: s_load_dwordx2 s[4:5], s[0:1], 0x10
// first: s_waitcnt lgkmcnt(0)
// first: s_mov_b32 s32, 1
// first: s_branch loaded
// first: .p2align 8
// first: s_mov_b32 s32, 2
// first: loaded:
// first: s_mov_b64 s[34:35], s[2:3]
// first: s_mov_b64 s[36:37], s[4:5]
// before: s_mov_b32 s32, 2
// The second argument is where results go, the third the piece of memory.
s_sub_u32 s40, s6, s34
s_subb_u32 s41, s7, s35
s_sub_u32 s42, s10, s36
s_subb_u32 s43, s11, s37
outs 32,40,41,42,43
// before: s_mov_b64 s[34:35], s[6:7]
// before: s_mov_b64 s[36:37], s[10:11]
