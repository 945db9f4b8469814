// Transposing reads.
// arch: gfx950
// lds: 1024
v_lshlrev_b32_e32 v50, 2, v0
v_lshlrev_b32_e32 v51, 1, v0
v_mul_u32_u24_e32 v52, 3, v0
ds_write_b128 v50, v[24:27]
s_waitcnt lgkmcnt(0)
ds_read_b64_tr_b4 v[40:41], v51
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64_tr_b8 v[40:41], v51
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64_tr_b16 v[40:41], v51
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64_tr_b16 v[40:41], v51 offset:512
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b96_tr_b6 v[40:42], v50
s_waitcnt lgkmcnt(0)
out 40,41,42
// Rows that lie apart: 16 lanes read rows of 64 bytes.
v_and_b32_e32 v53, 12, v0
v_lshlrev_b32_e32 v53, 1, v53
v_lshrrev_b32_e32 v54, 4, v0
v_lshl_add_u32 v53, v54, 6, v53
v_and_b32_e32 v53, 0x3f8, v53
ds_read_b64_tr_b16 v[40:41], v53
ds_read_b64_tr_b8 v[42:43], v53
s_waitcnt lgkmcnt(0)
out 40,41,42,43
