// LDS atomics, with and without the old value.
// lds: 8192
// input: v28-29 bf16
v_lshlrev_b32_e32 v51, 1, v0
ds_write_b32 v0, v6
ds_write_b64 v51, v[6:7] offset:512
ds_write_b32 v0, v3 offset:1024
ds_write_b64 v51, v[10:11] offset:1536
ds_write_b32 v0, v18 offset:2048
s_waitcnt lgkmcnt(0)
ds_add_rtn_u32 v40, v0, v7 offset:0
ds_add_u32 v0, v7 offset:0
s_waitcnt lgkmcnt(0)
out 40
ds_read_b32 v42, v0 offset:0
s_waitcnt lgkmcnt(0)
out 42
ds_add_rtn_u64 v[40:41], v51, v[20:21] offset:512
ds_add_u64 v51, v[20:21] offset:512
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64 v[42:43], v51 offset:512
s_waitcnt lgkmcnt(0)
out 42,43
ds_sub_rtn_u32 v40, v0, v7 offset:0
ds_sub_u32 v0, v7 offset:0
s_waitcnt lgkmcnt(0)
out 40
ds_read_b32 v42, v0 offset:0
s_waitcnt lgkmcnt(0)
out 42
ds_sub_rtn_u64 v[40:41], v51, v[20:21] offset:512
ds_sub_u64 v51, v[20:21] offset:512
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64 v[42:43], v51 offset:512
s_waitcnt lgkmcnt(0)
out 42,43
ds_rsub_rtn_u32 v40, v0, v7 offset:0
ds_rsub_u32 v0, v7 offset:0
s_waitcnt lgkmcnt(0)
out 40
ds_read_b32 v42, v0 offset:0
s_waitcnt lgkmcnt(0)
out 42
ds_rsub_rtn_u64 v[40:41], v51, v[20:21] offset:512
ds_rsub_u64 v51, v[20:21] offset:512
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64 v[42:43], v51 offset:512
s_waitcnt lgkmcnt(0)
out 42,43
ds_inc_rtn_u32 v40, v0, v7 offset:0
ds_inc_u32 v0, v7 offset:0
s_waitcnt lgkmcnt(0)
out 40
ds_read_b32 v42, v0 offset:0
s_waitcnt lgkmcnt(0)
out 42
ds_inc_rtn_u64 v[40:41], v51, v[20:21] offset:512
ds_inc_u64 v51, v[20:21] offset:512
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64 v[42:43], v51 offset:512
s_waitcnt lgkmcnt(0)
out 42,43
ds_dec_rtn_u32 v40, v0, v7 offset:0
ds_dec_u32 v0, v7 offset:0
s_waitcnt lgkmcnt(0)
out 40
ds_read_b32 v42, v0 offset:0
s_waitcnt lgkmcnt(0)
out 42
ds_dec_rtn_u64 v[40:41], v51, v[20:21] offset:512
ds_dec_u64 v51, v[20:21] offset:512
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64 v[42:43], v51 offset:512
s_waitcnt lgkmcnt(0)
out 42,43
ds_min_rtn_i32 v40, v0, v7 offset:0
ds_min_i32 v0, v7 offset:0
s_waitcnt lgkmcnt(0)
out 40
ds_read_b32 v42, v0 offset:0
s_waitcnt lgkmcnt(0)
out 42
ds_min_rtn_i64 v[40:41], v51, v[20:21] offset:512
ds_min_i64 v51, v[20:21] offset:512
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64 v[42:43], v51 offset:512
s_waitcnt lgkmcnt(0)
out 42,43
ds_max_rtn_i32 v40, v0, v7 offset:0
ds_max_i32 v0, v7 offset:0
s_waitcnt lgkmcnt(0)
out 40
ds_read_b32 v42, v0 offset:0
s_waitcnt lgkmcnt(0)
out 42
ds_max_rtn_i64 v[40:41], v51, v[20:21] offset:512
ds_max_i64 v51, v[20:21] offset:512
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64 v[42:43], v51 offset:512
s_waitcnt lgkmcnt(0)
out 42,43
ds_min_rtn_u32 v40, v0, v7 offset:0
ds_min_u32 v0, v7 offset:0
s_waitcnt lgkmcnt(0)
out 40
ds_read_b32 v42, v0 offset:0
s_waitcnt lgkmcnt(0)
out 42
ds_min_rtn_u64 v[40:41], v51, v[20:21] offset:512
ds_min_u64 v51, v[20:21] offset:512
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64 v[42:43], v51 offset:512
s_waitcnt lgkmcnt(0)
out 42,43
ds_max_rtn_u32 v40, v0, v7 offset:0
ds_max_u32 v0, v7 offset:0
s_waitcnt lgkmcnt(0)
out 40
ds_read_b32 v42, v0 offset:0
s_waitcnt lgkmcnt(0)
out 42
ds_max_rtn_u64 v[40:41], v51, v[20:21] offset:512
ds_max_u64 v51, v[20:21] offset:512
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64 v[42:43], v51 offset:512
s_waitcnt lgkmcnt(0)
out 42,43
ds_and_rtn_b32 v40, v0, v7 offset:0
ds_and_b32 v0, v7 offset:0
s_waitcnt lgkmcnt(0)
out 40
ds_read_b32 v42, v0 offset:0
s_waitcnt lgkmcnt(0)
out 42
ds_and_rtn_b64 v[40:41], v51, v[20:21] offset:512
ds_and_b64 v51, v[20:21] offset:512
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64 v[42:43], v51 offset:512
s_waitcnt lgkmcnt(0)
out 42,43
ds_or_rtn_b32 v40, v0, v7 offset:0
ds_or_b32 v0, v7 offset:0
s_waitcnt lgkmcnt(0)
out 40
ds_read_b32 v42, v0 offset:0
s_waitcnt lgkmcnt(0)
out 42
ds_or_rtn_b64 v[40:41], v51, v[20:21] offset:512
ds_or_b64 v51, v[20:21] offset:512
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64 v[42:43], v51 offset:512
s_waitcnt lgkmcnt(0)
out 42,43
ds_xor_rtn_b32 v40, v0, v7 offset:0
ds_xor_b32 v0, v7 offset:0
s_waitcnt lgkmcnt(0)
out 40
ds_read_b32 v42, v0 offset:0
s_waitcnt lgkmcnt(0)
out 42
ds_xor_rtn_b64 v[40:41], v51, v[20:21] offset:512
ds_xor_b64 v51, v[20:21] offset:512
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64 v[42:43], v51 offset:512
s_waitcnt lgkmcnt(0)
out 42,43
ds_mskor_rtn_b32 v40, v0, v20, v21 offset:0
ds_mskor_b32 v0, v20, v21 offset:0
s_waitcnt lgkmcnt(0)
out 40
ds_read_b32 v42, v0 offset:0
s_waitcnt lgkmcnt(0)
out 42
ds_mskor_rtn_b64 v[40:41], v51, v[24:25], v[26:27] offset:512
ds_mskor_b64 v51, v[24:25], v[26:27] offset:512
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64 v[42:43], v51 offset:512
s_waitcnt lgkmcnt(0)
out 42,43
ds_write_b32 v0, v6
s_waitcnt lgkmcnt(0)
v_cndmask_b32_e64 v44, v7, v6, s[18:19]
ds_cmpst_rtn_b32 v40, v0, v44, v8
ds_cmpst_b32 v0, v8, v20
s_waitcnt lgkmcnt(0)
ds_read_b32 v41, v0
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64 v[44:45], v51 offset:512
s_waitcnt lgkmcnt(0)
v_cndmask_b32_e64 v44, v7, v44, s[18:19]
ds_cmpst_rtn_b64 v[40:41], v51, v[44:45], v[24:25] offset:512
s_waitcnt lgkmcnt(0)
ds_read_b64 v[42:43], v51 offset:512
s_waitcnt lgkmcnt(0)
out 40,41,42,43
ds_wrxchg_rtn_b32 v40, v0, v20
ds_wrxchg_rtn_b64 v[42:43], v51, v[26:27] offset:512
s_waitcnt lgkmcnt(0)
out 40,42,43
ds_add_rtn_f32 v40, v0, v4 offset:1024
ds_add_f32 v0, v4 offset:1024
s_waitcnt lgkmcnt(0)
out 40
ds_read_b32 v42, v0 offset:1024
s_waitcnt lgkmcnt(0)
out 42
ds_add_rtn_f64 v[40:41], v51, v[12:13] offset:1536
ds_add_f64 v51, v[12:13] offset:1536
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64 v[42:43], v51 offset:1536
s_waitcnt lgkmcnt(0)
out 42,43
ds_min_rtn_f32 v40, v0, v4 offset:1024
ds_min_f32 v0, v4 offset:1024
s_waitcnt lgkmcnt(0)
out 40
ds_read_b32 v42, v0 offset:1024
s_waitcnt lgkmcnt(0)
out 42
ds_min_rtn_f64 v[40:41], v51, v[12:13] offset:1536
ds_min_f64 v51, v[12:13] offset:1536
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64 v[42:43], v51 offset:1536
s_waitcnt lgkmcnt(0)
out 42,43
ds_max_rtn_f32 v40, v0, v4 offset:1024
ds_max_f32 v0, v4 offset:1024
s_waitcnt lgkmcnt(0)
out 40
ds_read_b32 v42, v0 offset:1024
s_waitcnt lgkmcnt(0)
out 42
ds_max_rtn_f64 v[40:41], v51, v[12:13] offset:1536
ds_max_f64 v51, v[12:13] offset:1536
s_waitcnt lgkmcnt(0)
out 40,41
ds_read_b64 v[42:43], v51 offset:1536
s_waitcnt lgkmcnt(0)
out 42,43
ds_write_b32 v0, v3 offset:1024
s_waitcnt lgkmcnt(0)
v_cndmask_b32_e64 v44, v4, v3, s[18:19]
ds_cmpst_rtn_f32 v40, v0, v44, v5 offset:1024
s_waitcnt lgkmcnt(0)
ds_read_b32 v41, v0 offset:1024
s_waitcnt lgkmcnt(0)
out 40,41
ds_pk_add_rtn_f16 v40, v0, v19 offset:2048
ds_pk_add_f16 v0, v19 offset:2048
s_waitcnt lgkmcnt(0)
out 40
ds_read_b32 v42, v0 offset:2048
s_waitcnt lgkmcnt(0)
out 42
ds_write_b32 v0, v28 offset:2304
s_waitcnt lgkmcnt(0)
ds_pk_add_rtn_bf16 v40, v0, v29 offset:2304
ds_pk_add_bf16 v0, v29 offset:2304
s_waitcnt lgkmcnt(0)
out 40
ds_read_b32 v42, v0 offset:2304
s_waitcnt lgkmcnt(0)
out 42
ds_wrap_rtn_b32 v40, v0, v22, v23
s_waitcnt lgkmcnt(0)
ds_read_b32 v41, v0
s_waitcnt lgkmcnt(0)
out 40,41
// Every lane adds to one word.
v_mov_b32_e32 v44, 0
ds_write_b32 v44, v44
s_waitcnt lgkmcnt(0)
ds_add_u32 v44, v22
s_waitcnt lgkmcnt(0)
ds_read_b32 v40, v44
s_waitcnt lgkmcnt(0)
out 40
ds_write_b64 v51, v[10:11] offset:1536
s_waitcnt lgkmcnt(0)
v_cndmask_b32_e64 v44, v12, v10, s[18:19]
v_mov_b32_e32 v45, v11
ds_cmpst_rtn_f64 v[40:41], v51, v[44:45], v[12:13] offset:1536
s_waitcnt lgkmcnt(0)
ds_read_b64 v[42:43], v51 offset:1536
s_waitcnt lgkmcnt(0)
out 40,41,42,43
