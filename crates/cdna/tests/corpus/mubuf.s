// MUBUF: descriptors, offsets, strides, bounds.
v_lshlrev_b32_e32 v50, 2, v0
v_lshrrev_b32_e32 v51, 2, v0
v_mov_b32_e32 v52, v51
v_lshlrev_b32_e32 v53, 2, v22
s_mov_b32 s40, 128
s_mov_b32 s12, s10
s_or_b32 s13, s11, 0x0
s_movk_i32 s14, 800
s_mov_b32 s15, 0x00020000
// Beyond 800 bytes everything reads 0 and nothing is written.
buffer_load_ubyte v40, v50, s[12:15], 0 offen offset:4
s_waitcnt vmcnt(0)
out 40
buffer_load_ubyte v40, v50, s[12:15], s40 offen
s_waitcnt vmcnt(0)
out 40
buffer_load_sbyte v40, v50, s[12:15], 0 offen offset:4
s_waitcnt vmcnt(0)
out 40
buffer_load_sbyte v40, v50, s[12:15], s40 offen
s_waitcnt vmcnt(0)
out 40
buffer_load_ushort v40, v50, s[12:15], 0 offen offset:4
s_waitcnt vmcnt(0)
out 40
buffer_load_ushort v40, v50, s[12:15], s40 offen
s_waitcnt vmcnt(0)
out 40
buffer_load_sshort v40, v50, s[12:15], 0 offen offset:4
s_waitcnt vmcnt(0)
out 40
buffer_load_sshort v40, v50, s[12:15], s40 offen
s_waitcnt vmcnt(0)
out 40
buffer_load_dword v40, v50, s[12:15], 0 offen offset:4
s_waitcnt vmcnt(0)
out 40
buffer_load_dword v40, v50, s[12:15], s40 offen
s_waitcnt vmcnt(0)
out 40
buffer_load_dwordx2 v[40:41], v50, s[12:15], 0 offen offset:4
s_waitcnt vmcnt(0)
out 40,41
buffer_load_dwordx2 v[40:41], v50, s[12:15], s40 offen
s_waitcnt vmcnt(0)
out 40,41
buffer_load_dwordx3 v[40:42], v50, s[12:15], 0 offen offset:4
s_waitcnt vmcnt(0)
out 40,41,42
buffer_load_dwordx3 v[40:42], v50, s[12:15], s40 offen
s_waitcnt vmcnt(0)
out 40,41,42
buffer_load_dwordx4 v[40:43], v50, s[12:15], 0 offen offset:4
s_waitcnt vmcnt(0)
out 40,41,42,43
buffer_load_dwordx4 v[40:43], v50, s[12:15], s40 offen
s_waitcnt vmcnt(0)
out 40,41,42,43
v_mov_b32_e32 v40, v8
buffer_load_ubyte_d16 v40, v50, s[12:15], 0 offen offset:2
s_waitcnt vmcnt(0)
out 40
v_mov_b32_e32 v40, v8
buffer_load_ubyte_d16_hi v40, v50, s[12:15], 0 offen offset:2
s_waitcnt vmcnt(0)
out 40
v_mov_b32_e32 v40, v8
buffer_load_sbyte_d16 v40, v50, s[12:15], 0 offen offset:2
s_waitcnt vmcnt(0)
out 40
v_mov_b32_e32 v40, v8
buffer_load_sbyte_d16_hi v40, v50, s[12:15], 0 offen offset:2
s_waitcnt vmcnt(0)
out 40
v_mov_b32_e32 v40, v8
buffer_load_short_d16 v40, v50, s[12:15], 0 offen offset:2
s_waitcnt vmcnt(0)
out 40
v_mov_b32_e32 v40, v8
buffer_load_short_d16_hi v40, v50, s[12:15], 0 offen offset:2
s_waitcnt vmcnt(0)
out 40
buffer_load_dword v40, off, s[12:15], s40 offset:12
s_waitcnt vmcnt(0)
out 40
buffer_store_dword v6, v50, s[12:15], 0 offen
buffer_store_byte v7, v50, s[12:15], 0 offen offset:5
buffer_store_short v8, v50, s[12:15], 0 offen offset:10
buffer_store_short_d16_hi v8, v50, s[12:15], 0 offen offset:8
s_nop 0
s_waitcnt vmcnt(0)
// With a stride: indices from 40 on are outside.
s_mov_b32 s12, s10
s_or_b32 s13, s11, 0x140000
s_movk_i32 s14, 40
s_mov_b32 s15, 0x00020000
buffer_load_dword v40, v51, s[12:15], 0 idxen offset:8
buffer_load_dwordx2 v[42:43], v[52:53], s[12:15], s40 idxen offen
s_waitcnt vmcnt(0)
out 40,42,43
buffer_store_dwordx4 v[24:27], v51, s[12:15], s40 idxen offset:2000
s_waitcnt vmcnt(0)
s_mov_b64 exec, s[18:19]
v_mov_b32_e32 v44, v6
s_mov_b64 exec, -1
v_mov_b32_e32 v45, v7
s_mov_b64 exec, s[20:21]
buffer_load_dword v45, v51, s[12:15], 0 idxen
s_waitcnt vmcnt(0)
s_mov_b64 exec, -1
out 45
