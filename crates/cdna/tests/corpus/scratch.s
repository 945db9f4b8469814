// SCRATCH: memory of each lane.
// scratch: 192
// descriptor: .amdhsa_enable_private_segment 1
v_lshlrev_b32_e32 v50, 0, v22
v_and_b32_e32 v50, 0x3c, v50
s_mov_b32 s40, 64
scratch_store_dwordx4 off, v[24:27], off offset:16
scratch_store_dword v50, v6, off offset:64
scratch_store_dwordx2 off, v[10:11], s40 offset:80
scratch_store_byte off, v7, off offset:5
scratch_store_byte_d16_hi off, v7, off offset:6
scratch_store_short off, v8, s40 offset:32
scratch_store_short_d16_hi off, v8, s40 offset:34
scratch_store_dword off, v8, off
s_waitcnt vmcnt(0)
scratch_load_dwordx4 v[40:43], off, off offset:16
scratch_load_dword v44, v50, off offset:64
scratch_load_dwordx2 v[46:47], off, s40 offset:80
s_waitcnt vmcnt(0)
out 40,41,42,43,44,46,47
scratch_load_ubyte v40, off, off offset:5
scratch_load_sbyte v41, off, off offset:6
scratch_load_ushort v42, off, s40 offset:32
scratch_load_sshort v43, off, s40 offset:34
v_mov_b32_e32 v44, v6
scratch_load_short_d16_hi v44, off, s40 offset:34
scratch_load_dword v45, off, off
s_waitcnt vmcnt(0)
out 40,41,42,43,44,45
s_mov_b64 exec, s[18:19]
scratch_store_dword off, v7, off
s_waitcnt vmcnt(0)
s_mov_b64 exec, -1
scratch_load_dword v45, off, off
s_waitcnt vmcnt(0)
out 45
