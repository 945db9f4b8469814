// VOPC: comparisons and classes, masks and EXEC.
// input: v1-2 any_f32
v_cmp_f_f32_e64 s[40:41], v1, v2
outs 40,41
v_cmp_lt_f32_e64 s[40:41], v1, v2
outs 40,41
v_cmp_eq_f32_e64 s[40:41], v1, v2
outs 40,41
v_cmp_le_f32_e64 s[40:41], v1, v2
outs 40,41
v_cmp_gt_f32_e64 s[40:41], v1, v2
outs 40,41
v_cmp_lg_f32_e64 s[40:41], v1, v2
outs 40,41
v_cmp_ge_f32_e64 s[40:41], v1, v2
outs 40,41
v_cmp_o_f32_e64 s[40:41], v1, v2
outs 40,41
v_cmp_u_f32_e64 s[40:41], v1, v2
outs 40,41
v_cmp_nge_f32_e64 s[40:41], v1, v2
outs 40,41
v_cmp_nlg_f32_e64 s[40:41], v1, v2
outs 40,41
v_cmp_ngt_f32_e64 s[40:41], v1, v2
outs 40,41
v_cmp_nle_f32_e64 s[40:41], v1, v2
outs 40,41
v_cmp_neq_f32_e64 s[40:41], v1, v2
outs 40,41
v_cmp_nlt_f32_e64 s[40:41], v1, v2
outs 40,41
v_cmp_tru_f32_e64 s[40:41], v1, v2
outs 40,41
v_cmp_lt_f32_e64 s[40:41], -v1, |v2|
outs 40,41
s_movk_i32 s42, 0x3ff
v_cmp_class_f32_e64 s[40:41], v1, s42
outs 40,41
s_movk_i32 s42, 0x204
v_cmp_class_f32_e64 s[40:41], v1, s42
outs 40,41
s_movk_i32 s42, 0x60
v_cmp_class_f32_e64 s[40:41], v1, s42
outs 40,41
s_movk_i32 s42, 0x90
v_cmp_class_f32_e64 s[40:41], v1, s42
outs 40,41
s_movk_i32 s42, 0x108
v_cmp_class_f32_e64 s[40:41], v1, s42
outs 40,41
v_cmp_f_f16_e64 s[40:41], v16, v17
outs 40,41
v_cmp_lt_f16_e64 s[40:41], v16, v17
outs 40,41
v_cmp_eq_f16_e64 s[40:41], v16, v17
outs 40,41
v_cmp_le_f16_e64 s[40:41], v16, v17
outs 40,41
v_cmp_gt_f16_e64 s[40:41], v16, v17
outs 40,41
v_cmp_lg_f16_e64 s[40:41], v16, v17
outs 40,41
v_cmp_ge_f16_e64 s[40:41], v16, v17
outs 40,41
v_cmp_o_f16_e64 s[40:41], v16, v17
outs 40,41
v_cmp_u_f16_e64 s[40:41], v16, v17
outs 40,41
v_cmp_nge_f16_e64 s[40:41], v16, v17
outs 40,41
v_cmp_nlg_f16_e64 s[40:41], v16, v17
outs 40,41
v_cmp_ngt_f16_e64 s[40:41], v16, v17
outs 40,41
v_cmp_nle_f16_e64 s[40:41], v16, v17
outs 40,41
v_cmp_neq_f16_e64 s[40:41], v16, v17
outs 40,41
v_cmp_nlt_f16_e64 s[40:41], v16, v17
outs 40,41
v_cmp_tru_f16_e64 s[40:41], v16, v17
outs 40,41
v_cmp_lt_f16_e64 s[40:41], -v16, |v17|
outs 40,41
s_movk_i32 s42, 0x3ff
v_cmp_class_f16_e64 s[40:41], v16, s42
outs 40,41
s_movk_i32 s42, 0x204
v_cmp_class_f16_e64 s[40:41], v16, s42
outs 40,41
s_movk_i32 s42, 0x60
v_cmp_class_f16_e64 s[40:41], v16, s42
outs 40,41
s_movk_i32 s42, 0x90
v_cmp_class_f16_e64 s[40:41], v16, s42
outs 40,41
s_movk_i32 s42, 0x108
v_cmp_class_f16_e64 s[40:41], v16, s42
outs 40,41
v_cmp_f_f64_e64 s[40:41], v[10:11], v[12:13]
outs 40,41
v_cmp_lt_f64_e64 s[40:41], v[10:11], v[12:13]
outs 40,41
v_cmp_eq_f64_e64 s[40:41], v[10:11], v[12:13]
outs 40,41
v_cmp_le_f64_e64 s[40:41], v[10:11], v[12:13]
outs 40,41
v_cmp_gt_f64_e64 s[40:41], v[10:11], v[12:13]
outs 40,41
v_cmp_lg_f64_e64 s[40:41], v[10:11], v[12:13]
outs 40,41
v_cmp_ge_f64_e64 s[40:41], v[10:11], v[12:13]
outs 40,41
v_cmp_o_f64_e64 s[40:41], v[10:11], v[12:13]
outs 40,41
v_cmp_u_f64_e64 s[40:41], v[10:11], v[12:13]
outs 40,41
v_cmp_nge_f64_e64 s[40:41], v[10:11], v[12:13]
outs 40,41
v_cmp_nlg_f64_e64 s[40:41], v[10:11], v[12:13]
outs 40,41
v_cmp_ngt_f64_e64 s[40:41], v[10:11], v[12:13]
outs 40,41
v_cmp_nle_f64_e64 s[40:41], v[10:11], v[12:13]
outs 40,41
v_cmp_neq_f64_e64 s[40:41], v[10:11], v[12:13]
outs 40,41
v_cmp_nlt_f64_e64 s[40:41], v[10:11], v[12:13]
outs 40,41
v_cmp_tru_f64_e64 s[40:41], v[10:11], v[12:13]
outs 40,41
v_cmp_lt_f64_e64 s[40:41], -v[10:11], |v[12:13]|
outs 40,41
s_movk_i32 s42, 0x3ff
v_cmp_class_f64_e64 s[40:41], v[10:11], s42
outs 40,41
s_movk_i32 s42, 0x204
v_cmp_class_f64_e64 s[40:41], v[10:11], s42
outs 40,41
s_movk_i32 s42, 0x60
v_cmp_class_f64_e64 s[40:41], v[10:11], s42
outs 40,41
s_movk_i32 s42, 0x90
v_cmp_class_f64_e64 s[40:41], v[10:11], s42
outs 40,41
s_movk_i32 s42, 0x108
v_cmp_class_f64_e64 s[40:41], v[10:11], s42
outs 40,41
v_cmp_f_i16_e64 s[40:41], v6, v7
outs 40,41
v_cmp_lt_i16_e64 s[40:41], v6, v7
outs 40,41
v_cmp_eq_i16_e64 s[40:41], v6, v7
outs 40,41
v_cmp_le_i16_e64 s[40:41], v6, v7
outs 40,41
v_cmp_gt_i16_e64 s[40:41], v6, v7
outs 40,41
v_cmp_ne_i16_e64 s[40:41], v6, v7
outs 40,41
v_cmp_ge_i16_e64 s[40:41], v6, v7
outs 40,41
v_cmp_t_i16_e64 s[40:41], v6, v7
outs 40,41
v_cmp_f_u16_e64 s[40:41], v6, v7
outs 40,41
v_cmp_lt_u16_e64 s[40:41], v6, v7
outs 40,41
v_cmp_eq_u16_e64 s[40:41], v6, v7
outs 40,41
v_cmp_le_u16_e64 s[40:41], v6, v7
outs 40,41
v_cmp_gt_u16_e64 s[40:41], v6, v7
outs 40,41
v_cmp_ne_u16_e64 s[40:41], v6, v7
outs 40,41
v_cmp_ge_u16_e64 s[40:41], v6, v7
outs 40,41
v_cmp_t_u16_e64 s[40:41], v6, v7
outs 40,41
v_cmp_f_i32_e64 s[40:41], v6, v7
outs 40,41
v_cmp_lt_i32_e64 s[40:41], v6, v7
outs 40,41
v_cmp_eq_i32_e64 s[40:41], v6, v7
outs 40,41
v_cmp_le_i32_e64 s[40:41], v6, v7
outs 40,41
v_cmp_gt_i32_e64 s[40:41], v6, v7
outs 40,41
v_cmp_ne_i32_e64 s[40:41], v6, v7
outs 40,41
v_cmp_ge_i32_e64 s[40:41], v6, v7
outs 40,41
v_cmp_t_i32_e64 s[40:41], v6, v7
outs 40,41
v_cmp_f_u32_e64 s[40:41], v6, v7
outs 40,41
v_cmp_lt_u32_e64 s[40:41], v6, v7
outs 40,41
v_cmp_eq_u32_e64 s[40:41], v6, v7
outs 40,41
v_cmp_le_u32_e64 s[40:41], v6, v7
outs 40,41
v_cmp_gt_u32_e64 s[40:41], v6, v7
outs 40,41
v_cmp_ne_u32_e64 s[40:41], v6, v7
outs 40,41
v_cmp_ge_u32_e64 s[40:41], v6, v7
outs 40,41
v_cmp_t_u32_e64 s[40:41], v6, v7
outs 40,41
v_cmp_f_i64_e64 s[40:41], v[6:7], v[20:21]
outs 40,41
v_cmp_lt_i64_e64 s[40:41], v[6:7], v[20:21]
outs 40,41
v_cmp_eq_i64_e64 s[40:41], v[6:7], v[20:21]
outs 40,41
v_cmp_le_i64_e64 s[40:41], v[6:7], v[20:21]
outs 40,41
v_cmp_gt_i64_e64 s[40:41], v[6:7], v[20:21]
outs 40,41
v_cmp_ne_i64_e64 s[40:41], v[6:7], v[20:21]
outs 40,41
v_cmp_ge_i64_e64 s[40:41], v[6:7], v[20:21]
outs 40,41
v_cmp_t_i64_e64 s[40:41], v[6:7], v[20:21]
outs 40,41
v_cmp_f_u64_e64 s[40:41], v[6:7], v[20:21]
outs 40,41
v_cmp_lt_u64_e64 s[40:41], v[6:7], v[20:21]
outs 40,41
v_cmp_eq_u64_e64 s[40:41], v[6:7], v[20:21]
outs 40,41
v_cmp_le_u64_e64 s[40:41], v[6:7], v[20:21]
outs 40,41
v_cmp_gt_u64_e64 s[40:41], v[6:7], v[20:21]
outs 40,41
v_cmp_ne_u64_e64 s[40:41], v[6:7], v[20:21]
outs 40,41
v_cmp_ge_u64_e64 s[40:41], v[6:7], v[20:21]
outs 40,41
v_cmp_t_u64_e64 s[40:41], v[6:7], v[20:21]
outs 40,41
v_cmp_gt_u32_e32 vcc, s16, v6
s_mov_b64 s[44:45], vcc
outs 44,45
s_mov_b64 exec, s[18:19]
v_cmpx_lt_f32_e64 s[40:41], v1, v2
s_mov_b64 s[42:43], exec
s_mov_b64 exec, -1
outs 40,41,42,43
s_mov_b64 exec, s[18:19]
v_cmpx_class_f32_e64 s[40:41], v1, v22
s_mov_b64 s[42:43], exec
s_mov_b64 exec, -1
outs 40,41,42,43
s_mov_b64 exec, s[18:19]
v_cmpx_ge_i32_e64 s[40:41], v6, v7
s_mov_b64 s[42:43], exec
s_mov_b64 exec, -1
outs 40,41,42,43
// Lanes that do not run compare as 0.
s_mov_b64 exec, s[20:21]
v_cmp_ne_u32_e64 s[40:41], v6, v7
s_mov_b64 exec, -1
outs 40,41
