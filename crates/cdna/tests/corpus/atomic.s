// GLOBAL and FLAT atomics.
// input: v28-29 bf16
v_lshlrev_b32_e32 v51, 1, v0
v_mov_b32_e32 v46, s10
v_mov_b32_e32 v47, s11
v_add_co_u32_e32 v48, vcc, v46, v51
v_addc_co_u32_e32 v49, vcc, 0, v47, vcc
global_atomic_swap v40, v0, v7, s[10:11] sc0
s_waitcnt vmcnt(0)
out 40
global_atomic_swap v0, v8, s[10:11] offset:256
s_waitcnt vmcnt(0)
global_atomic_swap_x2 v[40:41], v51, v[24:25], s[10:11] offset:512 sc0
s_waitcnt vmcnt(0)
out 40,41
flat_atomic_swap_x2 v[48:49], v[26:27] offset:1024
s_waitcnt vmcnt(0) lgkmcnt(0)
global_atomic_add v40, v0, v7, s[10:11] sc0
s_waitcnt vmcnt(0)
out 40
global_atomic_add v0, v8, s[10:11] offset:256
s_waitcnt vmcnt(0)
global_atomic_add_x2 v[40:41], v51, v[24:25], s[10:11] offset:512 sc0
s_waitcnt vmcnt(0)
out 40,41
flat_atomic_add_x2 v[48:49], v[26:27] offset:1024
s_waitcnt vmcnt(0) lgkmcnt(0)
global_atomic_sub v40, v0, v7, s[10:11] sc0
s_waitcnt vmcnt(0)
out 40
global_atomic_sub v0, v8, s[10:11] offset:256
s_waitcnt vmcnt(0)
global_atomic_sub_x2 v[40:41], v51, v[24:25], s[10:11] offset:512 sc0
s_waitcnt vmcnt(0)
out 40,41
flat_atomic_sub_x2 v[48:49], v[26:27] offset:1024
s_waitcnt vmcnt(0) lgkmcnt(0)
global_atomic_smin v40, v0, v7, s[10:11] sc0
s_waitcnt vmcnt(0)
out 40
global_atomic_smin v0, v8, s[10:11] offset:256
s_waitcnt vmcnt(0)
global_atomic_smin_x2 v[40:41], v51, v[24:25], s[10:11] offset:512 sc0
s_waitcnt vmcnt(0)
out 40,41
flat_atomic_smin_x2 v[48:49], v[26:27] offset:1024
s_waitcnt vmcnt(0) lgkmcnt(0)
global_atomic_umin v40, v0, v7, s[10:11] sc0
s_waitcnt vmcnt(0)
out 40
global_atomic_umin v0, v8, s[10:11] offset:256
s_waitcnt vmcnt(0)
global_atomic_umin_x2 v[40:41], v51, v[24:25], s[10:11] offset:512 sc0
s_waitcnt vmcnt(0)
out 40,41
flat_atomic_umin_x2 v[48:49], v[26:27] offset:1024
s_waitcnt vmcnt(0) lgkmcnt(0)
global_atomic_smax v40, v0, v7, s[10:11] sc0
s_waitcnt vmcnt(0)
out 40
global_atomic_smax v0, v8, s[10:11] offset:256
s_waitcnt vmcnt(0)
global_atomic_smax_x2 v[40:41], v51, v[24:25], s[10:11] offset:512 sc0
s_waitcnt vmcnt(0)
out 40,41
flat_atomic_smax_x2 v[48:49], v[26:27] offset:1024
s_waitcnt vmcnt(0) lgkmcnt(0)
global_atomic_umax v40, v0, v7, s[10:11] sc0
s_waitcnt vmcnt(0)
out 40
global_atomic_umax v0, v8, s[10:11] offset:256
s_waitcnt vmcnt(0)
global_atomic_umax_x2 v[40:41], v51, v[24:25], s[10:11] offset:512 sc0
s_waitcnt vmcnt(0)
out 40,41
flat_atomic_umax_x2 v[48:49], v[26:27] offset:1024
s_waitcnt vmcnt(0) lgkmcnt(0)
global_atomic_and v40, v0, v7, s[10:11] sc0
s_waitcnt vmcnt(0)
out 40
global_atomic_and v0, v8, s[10:11] offset:256
s_waitcnt vmcnt(0)
global_atomic_and_x2 v[40:41], v51, v[24:25], s[10:11] offset:512 sc0
s_waitcnt vmcnt(0)
out 40,41
flat_atomic_and_x2 v[48:49], v[26:27] offset:1024
s_waitcnt vmcnt(0) lgkmcnt(0)
global_atomic_or v40, v0, v7, s[10:11] sc0
s_waitcnt vmcnt(0)
out 40
global_atomic_or v0, v8, s[10:11] offset:256
s_waitcnt vmcnt(0)
global_atomic_or_x2 v[40:41], v51, v[24:25], s[10:11] offset:512 sc0
s_waitcnt vmcnt(0)
out 40,41
flat_atomic_or_x2 v[48:49], v[26:27] offset:1024
s_waitcnt vmcnt(0) lgkmcnt(0)
global_atomic_xor v40, v0, v7, s[10:11] sc0
s_waitcnt vmcnt(0)
out 40
global_atomic_xor v0, v8, s[10:11] offset:256
s_waitcnt vmcnt(0)
global_atomic_xor_x2 v[40:41], v51, v[24:25], s[10:11] offset:512 sc0
s_waitcnt vmcnt(0)
out 40,41
flat_atomic_xor_x2 v[48:49], v[26:27] offset:1024
s_waitcnt vmcnt(0) lgkmcnt(0)
global_atomic_inc v40, v0, v7, s[10:11] sc0
s_waitcnt vmcnt(0)
out 40
global_atomic_inc v0, v8, s[10:11] offset:256
s_waitcnt vmcnt(0)
global_atomic_inc_x2 v[40:41], v51, v[24:25], s[10:11] offset:512 sc0
s_waitcnt vmcnt(0)
out 40,41
flat_atomic_inc_x2 v[48:49], v[26:27] offset:1024
s_waitcnt vmcnt(0) lgkmcnt(0)
global_atomic_dec v40, v0, v7, s[10:11] sc0
s_waitcnt vmcnt(0)
out 40
global_atomic_dec v0, v8, s[10:11] offset:256
s_waitcnt vmcnt(0)
global_atomic_dec_x2 v[40:41], v51, v[24:25], s[10:11] offset:512 sc0
s_waitcnt vmcnt(0)
out 40,41
flat_atomic_dec_x2 v[48:49], v[26:27] offset:1024
s_waitcnt vmcnt(0) lgkmcnt(0)
global_load_dword v44, v0, s[10:11]
s_waitcnt vmcnt(0)
v_cndmask_b32_e64 v45, v7, v44, s[18:19]
v_mov_b32_e32 v44, v8
global_atomic_cmpswap v40, v0, v[44:45], s[10:11] sc0
s_waitcnt vmcnt(0)
out 40
global_load_dwordx2 v[54:55], v51, s[10:11] offset:512
s_waitcnt vmcnt(0)
v_mov_b32_e32 v52, v24
v_mov_b32_e32 v53, v25
v_cndmask_b32_e64 v54, v7, v54, s[18:19]
global_atomic_cmpswap_x2 v[40:41], v51, v[52:55], s[10:11] offset:512 sc0
s_waitcnt vmcnt(0)
out 40,41
global_store_dword v0, v3, s[10:11] offset:1536
global_store_dwordx2 v51, v[10:11], s[10:11] offset:2048
global_store_dword v0, v18, s[10:11] offset:2560
global_store_dword v0, v28, s[10:11] offset:2816
s_waitcnt vmcnt(0)
global_atomic_add_f32 v40, v0, v4, s[10:11] offset:1536 sc0
s_waitcnt vmcnt(0)
out 40
global_atomic_add_f64 v[40:41], v51, v[12:13], s[10:11] offset:2048 sc0
s_waitcnt vmcnt(0)
out 40,41
global_atomic_min_f64 v[40:41], v51, v[12:13], s[10:11] offset:2048 sc0
s_waitcnt vmcnt(0)
out 40,41
global_atomic_max_f64 v[40:41], v51, v[12:13], s[10:11] offset:2048 sc0
s_waitcnt vmcnt(0)
out 40,41
global_atomic_pk_add_f16 v40, v0, v19, s[10:11] offset:2560 sc0
global_atomic_pk_add_bf16 v41, v0, v29, s[10:11] offset:2816 sc0
s_waitcnt vmcnt(0)
out 40,41
// Every lane adds to one word; part of them to another.
v_mov_b32_e32 v44, 0
global_atomic_add v44, v22, s[10:11] offset:3072
s_mov_b64 exec, s[20:21]
global_atomic_umax v44, v6, s[10:11] offset:3076
s_waitcnt vmcnt(0)
s_mov_b64 exec, -1
