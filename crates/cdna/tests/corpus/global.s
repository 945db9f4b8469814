// FLAT and GLOBAL loads and stores.
v_lshlrev_b32_e32 v50, 2, v0
v_lshlrev_b32_e32 v51, 1, v0
v_mov_b32_e32 v46, s10
v_mov_b32_e32 v47, s11
v_add_co_u32_e32 v48, vcc, v46, v50
v_addc_co_u32_e32 v49, vcc, 0, v47, vcc
global_load_ubyte v40, v50, s[10:11] offset:16
s_waitcnt vmcnt(0)
out 40
global_load_ubyte v40, v[48:49], off offset:32
s_waitcnt vmcnt(0)
out 40
flat_load_ubyte v40, v[48:49]
s_waitcnt vmcnt(0) lgkmcnt(0)
out 40
global_load_sbyte v40, v50, s[10:11] offset:16
s_waitcnt vmcnt(0)
out 40
global_load_sbyte v40, v[48:49], off offset:32
s_waitcnt vmcnt(0)
out 40
flat_load_sbyte v40, v[48:49]
s_waitcnt vmcnt(0) lgkmcnt(0)
out 40
global_load_ushort v40, v50, s[10:11] offset:16
s_waitcnt vmcnt(0)
out 40
global_load_ushort v40, v[48:49], off offset:32
s_waitcnt vmcnt(0)
out 40
flat_load_ushort v40, v[48:49]
s_waitcnt vmcnt(0) lgkmcnt(0)
out 40
global_load_sshort v40, v50, s[10:11] offset:16
s_waitcnt vmcnt(0)
out 40
global_load_sshort v40, v[48:49], off offset:32
s_waitcnt vmcnt(0)
out 40
flat_load_sshort v40, v[48:49]
s_waitcnt vmcnt(0) lgkmcnt(0)
out 40
global_load_dword v40, v50, s[10:11] offset:16
s_waitcnt vmcnt(0)
out 40
global_load_dword v40, v[48:49], off offset:32
s_waitcnt vmcnt(0)
out 40
flat_load_dword v40, v[48:49]
s_waitcnt vmcnt(0) lgkmcnt(0)
out 40
global_load_dwordx2 v[40:41], v50, s[10:11] offset:16
s_waitcnt vmcnt(0)
out 40,41
global_load_dwordx2 v[40:41], v[48:49], off offset:32
s_waitcnt vmcnt(0)
out 40,41
flat_load_dwordx2 v[40:41], v[48:49]
s_waitcnt vmcnt(0) lgkmcnt(0)
out 40,41
global_load_dwordx3 v[40:42], v50, s[10:11] offset:16
s_waitcnt vmcnt(0)
out 40,41,42
global_load_dwordx3 v[40:42], v[48:49], off offset:32
s_waitcnt vmcnt(0)
out 40,41,42
flat_load_dwordx3 v[40:42], v[48:49]
s_waitcnt vmcnt(0) lgkmcnt(0)
out 40,41,42
global_load_dwordx4 v[40:43], v50, s[10:11] offset:16
s_waitcnt vmcnt(0)
out 40,41,42,43
global_load_dwordx4 v[40:43], v[48:49], off offset:32
s_waitcnt vmcnt(0)
out 40,41,42,43
flat_load_dwordx4 v[40:43], v[48:49]
s_waitcnt vmcnt(0) lgkmcnt(0)
out 40,41,42,43
v_mov_b32_e32 v40, v8
global_load_ubyte_d16 v40, v50, s[10:11] offset:6
s_waitcnt vmcnt(0)
out 40
v_mov_b32_e32 v40, v8
global_load_ubyte_d16_hi v40, v50, s[10:11] offset:6
s_waitcnt vmcnt(0)
out 40
v_mov_b32_e32 v40, v8
global_load_sbyte_d16 v40, v50, s[10:11] offset:6
s_waitcnt vmcnt(0)
out 40
v_mov_b32_e32 v40, v8
global_load_sbyte_d16_hi v40, v50, s[10:11] offset:6
s_waitcnt vmcnt(0)
out 40
v_mov_b32_e32 v40, v8
global_load_short_d16 v40, v50, s[10:11] offset:6
s_waitcnt vmcnt(0)
out 40
v_mov_b32_e32 v40, v8
global_load_short_d16_hi v40, v50, s[10:11] offset:6
s_waitcnt vmcnt(0)
out 40
global_store_byte v50, v6, s[10:11] offset:1
global_store_byte_d16_hi v50, v6, s[10:11] offset:2
global_store_short v50, v7, s[10:11] offset:4
global_store_short_d16_hi v50, v7, s[10:11] offset:6
global_store_dword v0, v8, s[10:11] offset:1024
global_store_dwordx2 v51, v[24:25], s[10:11] offset:1280
global_store_dwordx4 v[48:49], v[24:27], off offset:2048
flat_store_dwordx3 v[48:49], v[28:30] offset:3072
s_waitcnt vmcnt(0) lgkmcnt(0)
s_mov_b64 exec, s[18:19]
v_mov_b32_e32 v40, v8
s_mov_b64 exec, -1
v_mov_b32_e32 v41, v6
s_mov_b64 exec, s[20:21]
global_load_dword v41, v0, s[10:11] offset:1792
global_store_dword v0, v10, s[10:11] offset:1792
s_waitcnt vmcnt(0)
s_mov_b64 exec, -1
out 41
global_load_dwordx4 v[40:43], v50, s[10:11]
s_waitcnt vmcnt(0)
out 40,41,42,43
