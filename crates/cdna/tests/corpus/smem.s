// SMEM: loads of every width, and through a descriptor.
s_load_dword s40, s[10:11], 0x14
s_load_dwordx2 s[42:43], s[10:11], 0x20
s_load_dwordx4 s[44:47], s[10:11], 0x40
s_load_dwordx8 s[48:55], s[10:11], 0x100
s_load_dwordx16 s[64:79], s[10:11], 0x200
s_waitcnt lgkmcnt(0)
outs 40,42,43,44,45,46,47,48,49,50,51,52,53,54,55,64,65,66,67,68,69,70,71,72,73,74,75,76,77,78,79
s_movk_i32 s41, 0x84
s_load_dword s40, s[10:11], s41
s_load_dwordx2 s[42:43], s[10:11], s41 offset:0x10
s_waitcnt lgkmcnt(0)
outs 40,42,43
// Buffers end after 100 bytes.
s_mov_b32 s12, s10
s_mov_b32 s13, s11
s_movk_i32 s14, 100
s_mov_b32 s15, 0x00020000
s_buffer_load_dword s40, s[12:15], 0x10
s_buffer_load_dwordx4 s[44:47], s[12:15], 0x58
s_buffer_load_dwordx8 s[48:55], s[12:15], s41
s_waitcnt lgkmcnt(0)
outs 40,44,45,46,47,48,49,50,51,52,53,54,55
