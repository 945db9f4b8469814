// LDS: reads and writes of every width, pairs, waits that count them.
// lds: 8192
v_lshlrev_b32_e32 v50, 2, v0
// v50 = 16 * lane
v_lshlrev_b32_e32 v51, 1, v0
// v51 = 8 * lane
ds_write_b128 v50, v[6:9]
ds_write_b128 v50, v[24:27] offset:1024
ds_write_b128 v50, v[28:31] offset:2048
s_waitcnt lgkmcnt(0)
ds_read_b128 v[40:43], v50
ds_read_b64 v[44:45], v51 offset:64
ds_read_b32 v46, v0 offset:1028
ds_read_b96 v[52:54], v50 offset:1024
s_waitcnt lgkmcnt(0)
out 40,41,42,43,44,45,46,52,53,54
ds_read_u8 v40, v51 offset:3
s_waitcnt lgkmcnt(0)
out 40
ds_read_i8 v40, v51 offset:3
s_waitcnt lgkmcnt(0)
out 40
ds_read_u16 v40, v51 offset:2
s_waitcnt lgkmcnt(0)
out 40
ds_read_i16 v40, v51 offset:2
s_waitcnt lgkmcnt(0)
out 40
v_mov_b32_e32 v40, v8
ds_read_u8_d16 v40, v51 offset:1
s_waitcnt lgkmcnt(0)
out 40
v_mov_b32_e32 v40, v8
ds_read_u8_d16_hi v40, v51 offset:1
s_waitcnt lgkmcnt(0)
out 40
v_mov_b32_e32 v40, v8
ds_read_i8_d16 v40, v51 offset:1
s_waitcnt lgkmcnt(0)
out 40
v_mov_b32_e32 v40, v8
ds_read_i8_d16_hi v40, v51 offset:1
s_waitcnt lgkmcnt(0)
out 40
v_mov_b32_e32 v40, v8
ds_read_u16_d16 v40, v51 offset:2
s_waitcnt lgkmcnt(0)
out 40
v_mov_b32_e32 v40, v8
ds_read_u16_d16_hi v40, v51 offset:2
s_waitcnt lgkmcnt(0)
out 40
ds_read2_b32 v[40:41], v0 offset0:3 offset1:130
ds_read2_b64 v[42:45], v51 offset0:1 offset1:100
ds_read2st64_b32 v[46:47], v0 offset0:1 offset1:7
ds_read2st64_b64 v[52:55], v51 offset0:2 offset1:3
s_waitcnt lgkmcnt(3)
out 40,41
s_waitcnt lgkmcnt(2)
out 42,43,44,45
s_waitcnt lgkmcnt(1)
out 46,47
s_waitcnt lgkmcnt(0)
out 52,53,54,55
ds_write2_b32 v0, v6, v7 offset0:0 offset1:64
ds_write2_b64 v51, v[24:25], v[26:27] offset0:64 offset1:128
s_waitcnt lgkmcnt(1)
ds_read_b32 v40, v0 offset:256
s_waitcnt lgkmcnt(0)
ds_read_b64 v[42:43], v51 offset:1024
s_waitcnt lgkmcnt(0)
out 40,42,43
ds_write2st64_b32 v0, v8, v10 offset0:1 offset1:3
ds_write2st64_b64 v51, v[28:29], v[30:31] offset0:2 offset1:4
s_waitcnt lgkmcnt(0)
ds_read2st64_b32 v[40:41], v0 offset0:1 offset1:3
ds_read2st64_b64 v[42:45], v51 offset0:2 offset1:4
s_waitcnt lgkmcnt(0)
out 40,41,42,43,44,45
ds_write_b8 v51, v6 offset:1
ds_write_b8_d16_hi v51, v6 offset:2
ds_write_b16 v51, v7 offset:4
ds_write_b16_d16_hi v51, v7 offset:6
s_waitcnt lgkmcnt(0)
ds_read_b64 v[40:41], v51
s_waitcnt lgkmcnt(0)
out 40,41
ds_write_b96 v50, v[24:26] offset:1024
ds_write_b64 v51, v[12:13] offset:2048
ds_write_b32 v0, v14 offset:2816
s_waitcnt lgkmcnt(0)
ds_read_b128 v[40:43], v50 offset:1024
ds_read_b64 v[44:45], v51 offset:2048
s_nop 0
s_waitcnt lgkmcnt(0)
out 40,41,42,43,44,45
// Lanes that do not run leave LDS and registers alone.
v_mov_b32_e32 v40, v8
s_mov_b64 exec, s[18:19]
ds_write_b32 v0, v7
ds_read_b32 v40, v0 offset:256
s_waitcnt lgkmcnt(0)
s_mov_b64 exec, -1
ds_read_b32 v41, v0
s_waitcnt lgkmcnt(0)
out 40,41
ds_wrxchg2_rtn_b32 v[40:41], v51, v6, v7 offset0:0 offset1:1
ds_wrxchg2st64_rtn_b32 v[42:43], v0, v8, v10 offset0:4 offset1:6
ds_wrxchg2_rtn_b64 v[52:55], v50, v[24:25], v[26:27] offset0:128 offset1:129
s_waitcnt lgkmcnt(0)
out 40,41,42,43,52,53,54,55
ds_read_b128 v[40:43], v50
ds_read_b128 v[44:47], v50 offset:1024
s_waitcnt lgkmcnt(0)
out 40,41,42,43,44,45,46,47
// Addresses from M0.
s_mov_b32 m0, 0x80
ds_write_addtid_b32 v6 offset:128
s_waitcnt lgkmcnt(0)
ds_read_b32 v40, v0 offset:256
ds_read_addtid_b32 v41 offset:64
s_waitcnt lgkmcnt(0)
out 40,41
v_mov_b32_e32 v42, v7
s_mov_b64 exec, s[18:19]
ds_append v40 offset:8
ds_append v41 offset:8
ds_consume v42 offset:8
s_waitcnt lgkmcnt(0)
s_mov_b64 exec, -1
ds_read_b32 v43, v0 offset:136
s_waitcnt lgkmcnt(0)
out 40,41,42,43
