// Loads of 12 and 16 bytes that go to LDS.
// arch: gfx950
// lds: 2048
v_lshlrev_b32_e32 v50, 2, v0
s_mov_b32 m0, 0
global_load_lds_dwordx4 v50, s[10:11]
s_mov_b32 m0, 0x400
global_load_lds_dwordx3 v50, s[10:11]
s_waitcnt vmcnt(0)
v_mul_u32_u24_e32 v51, 3, v0
ds_read_b128 v[40:43], v50
ds_read_b32 v44, v51 offset:1024
ds_read_b32 v45, v51 offset:1032
s_waitcnt lgkmcnt(0)
out 40,41,42,43,44,45
