// Loads that go to LDS.
// lds: 2048
v_lshlrev_b32_e32 v50, 2, v0
s_mov_b32 m0, 0
global_load_lds_dword v50, s[10:11]
s_mov_b32 m0, 0x100
global_load_lds_ubyte v50, s[10:11]
s_mov_b32 m0, 0x200
global_load_lds_sshort v50, s[10:11] offset:4
s_mov_b32 s12, s10
s_mov_b32 s13, s11
s_movk_i32 s14, 800
s_mov_b32 s15, 0x00020000
s_mov_b32 m0, 0x400
buffer_load_dword v50, s[12:15], 0 offen lds
s_mov_b32 m0, 0x500
s_waitcnt vmcnt(0)
ds_read2st64_b32 v[40:41], v0 offset0:0 offset1:1
ds_read_b32 v43, v0 offset:1024
s_waitcnt lgkmcnt(0)
out 40,41,43
s_mov_b64 exec, s[18:19]
s_mov_b32 m0, 0
buffer_load_ushort v0, s[12:15], 0 offen lds
s_waitcnt vmcnt(0)
s_mov_b64 exec, -1
ds_read_b32 v40, v0
s_waitcnt lgkmcnt(0)
out 40
