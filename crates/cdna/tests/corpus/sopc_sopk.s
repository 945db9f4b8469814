// SOPC and SOPK: SCC, and constants of 16 bits.
s_cmp_eq_i32 s16, s17
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_eq_i32 s18, s18
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_eq_i32 s19, -1
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_eq_i32 s20, 0x80000000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_eq_i32 s21, 0x7fff
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_eq_i32 s21, 0x8000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_eq_i32 s21, 0xffff
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_eq_u32 s16, s17
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_eq_u32 s18, s18
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_eq_u32 s19, -1
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_eq_u32 s20, 0x80000000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_eq_u32 s21, 0x7fff
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_eq_u32 s21, 0x8000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_eq_u32 s21, 0xffff
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_lg_i32 s16, s17
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_lg_i32 s18, s18
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_lg_i32 s19, -1
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_lg_i32 s20, 0x80000000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_lg_i32 s21, 0x7fff
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_lg_i32 s21, 0x8000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_lg_i32 s21, 0xffff
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_lg_u32 s16, s17
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_lg_u32 s18, s18
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_lg_u32 s19, -1
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_lg_u32 s20, 0x80000000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_lg_u32 s21, 0x7fff
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_lg_u32 s21, 0x8000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_lg_u32 s21, 0xffff
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_gt_i32 s16, s17
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_gt_i32 s18, s18
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_gt_i32 s19, -1
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_gt_i32 s20, 0x80000000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_gt_i32 s21, 0x7fff
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_gt_i32 s21, 0x8000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_gt_i32 s21, 0xffff
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_gt_u32 s16, s17
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_gt_u32 s18, s18
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_gt_u32 s19, -1
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_gt_u32 s20, 0x80000000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_gt_u32 s21, 0x7fff
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_gt_u32 s21, 0x8000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_gt_u32 s21, 0xffff
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_ge_i32 s16, s17
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_ge_i32 s18, s18
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_ge_i32 s19, -1
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_ge_i32 s20, 0x80000000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_ge_i32 s21, 0x7fff
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_ge_i32 s21, 0x8000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_ge_i32 s21, 0xffff
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_ge_u32 s16, s17
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_ge_u32 s18, s18
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_ge_u32 s19, -1
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_ge_u32 s20, 0x80000000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_ge_u32 s21, 0x7fff
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_ge_u32 s21, 0x8000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_ge_u32 s21, 0xffff
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_lt_i32 s16, s17
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_lt_i32 s18, s18
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_lt_i32 s19, -1
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_lt_i32 s20, 0x80000000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_lt_i32 s21, 0x7fff
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_lt_i32 s21, 0x8000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_lt_i32 s21, 0xffff
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_lt_u32 s16, s17
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_lt_u32 s18, s18
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_lt_u32 s19, -1
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_lt_u32 s20, 0x80000000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_lt_u32 s21, 0x7fff
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_lt_u32 s21, 0x8000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_lt_u32 s21, 0xffff
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_le_i32 s16, s17
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_le_i32 s18, s18
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_le_i32 s19, -1
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_le_i32 s20, 0x80000000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_le_i32 s21, 0x7fff
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_le_i32 s21, 0x8000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_le_i32 s21, 0xffff
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_le_u32 s16, s17
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_le_u32 s18, s18
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_le_u32 s19, -1
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_le_u32 s20, 0x80000000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_le_u32 s21, 0x7fff
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_le_u32 s21, 0x8000
s_cselect_b32 s48, 1, 0
outs 48
s_cmpk_le_u32 s21, 0xffff
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_eq_u64 s[16:17], s[16:17]
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_eq_u64 s[16:17], s[18:19]
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_lg_u64 s[16:17], s[16:17]
s_cselect_b32 s48, 1, 0
outs 48
s_cmp_lg_u64 s[16:17], s[18:19]
s_cselect_b32 s48, 1, 0
outs 48
s_bitcmp0_b32 s22, s23
s_cselect_b32 s48, 1, 0
outs 48
s_bitcmp0_b32 s22, 5
s_cselect_b32 s48, 1, 0
outs 48
s_bitcmp0_b32 s22, 40
s_cselect_b32 s48, 1, 0
outs 48
s_bitcmp1_b32 s22, s23
s_cselect_b32 s48, 1, 0
outs 48
s_bitcmp1_b32 s22, 5
s_cselect_b32 s48, 1, 0
outs 48
s_bitcmp1_b32 s22, 40
s_cselect_b32 s48, 1, 0
outs 48
s_bitcmp0_b64 s[24:25], s23
s_cselect_b32 s48, 1, 0
outs 48
s_bitcmp0_b64 s[24:25], 45
s_cselect_b32 s48, 1, 0
outs 48
s_bitcmp1_b64 s[24:25], s23
s_cselect_b32 s48, 1, 0
outs 48
s_bitcmp1_b64 s[24:25], 45
s_cselect_b32 s48, 1, 0
outs 48
s_movk_i32 s40, 0x7fff
outs 40
s_mov_b32 s40, s26
s_addk_i32 s40, 0x7fff
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_mov_b32 s40, s27
s_mulk_i32 s40, 0x7fff
outs 40
s_movk_i32 s40, 0x8000
outs 40
s_mov_b32 s40, s26
s_addk_i32 s40, 0x8000
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_mov_b32 s40, s27
s_mulk_i32 s40, 0x8000
outs 40
s_mov_b32 s40, 0x7ffffff0
s_addk_i32 s40, 0x7fff
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_mov_b32 s40, s28
s_cmp_eq_u32 s16, s16
s_cmovk_i32 s40, 0x9000
outs 40
s_mov_b32 s40, s28
s_cmp_lg_u32 s16, s16
s_cmovk_i32 s40, 0x9000
outs 40
