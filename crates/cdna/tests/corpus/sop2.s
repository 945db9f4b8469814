// SOP2: results and SCC.
s_add_u32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_add_u32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_add_u32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_add_u32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_sub_u32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_sub_u32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_sub_u32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_sub_u32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_add_i32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_add_i32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_add_i32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_add_i32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_sub_i32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_sub_i32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_sub_i32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_sub_i32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_addc_u32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_addc_u32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_addc_u32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_addc_u32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_subb_u32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_subb_u32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_subb_u32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_subb_u32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_min_i32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_min_i32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_min_i32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_min_i32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_min_u32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_min_u32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_min_u32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_min_u32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_max_i32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_max_i32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_max_i32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_max_i32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_max_u32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_max_u32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_max_u32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_max_u32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_and_b32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_and_b32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_and_b32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_and_b32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_or_b32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_or_b32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_or_b32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_or_b32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_xor_b32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_xor_b32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_xor_b32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_xor_b32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_andn2_b32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_andn2_b32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_andn2_b32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_andn2_b32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_orn2_b32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_orn2_b32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_orn2_b32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_orn2_b32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_nand_b32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_nand_b32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_nand_b32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_nand_b32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_nor_b32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_nor_b32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_nor_b32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_nor_b32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_xnor_b32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_xnor_b32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_xnor_b32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_xnor_b32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl_b32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl_b32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl_b32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl_b32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshr_b32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshr_b32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshr_b32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshr_b32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_ashr_i32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_ashr_i32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_ashr_i32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_ashr_i32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bfe_u32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bfe_u32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bfe_u32 s40, s18, 0x80005
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bfe_u32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bfe_i32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bfe_i32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bfe_i32 s40, s18, 0x80005
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bfe_i32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_absdiff_i32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_absdiff_i32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_absdiff_i32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_absdiff_i32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl1_add_u32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl1_add_u32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl1_add_u32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl1_add_u32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl2_add_u32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl2_add_u32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl2_add_u32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl2_add_u32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl3_add_u32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl3_add_u32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl3_add_u32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl3_add_u32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl4_add_u32 s40, s16, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl4_add_u32 s40, s20, s21
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl4_add_u32 s40, s18, 0x12345678
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_lshl4_add_u32 s40, -7, s19
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_mul_i32 s40, s16, s17
outs 40
s_mul_i32 s40, s22, s23
outs 40
s_mul_i32 s40, s24, -3
outs 40
s_mul_hi_u32 s40, s16, s17
outs 40
s_mul_hi_u32 s40, s22, s23
outs 40
s_mul_hi_u32 s40, s24, -3
outs 40
s_mul_hi_i32 s40, s16, s17
outs 40
s_mul_hi_i32 s40, s22, s23
outs 40
s_mul_hi_i32 s40, s24, -3
outs 40
s_cselect_b32 s40, s16, s17
outs 40
s_cselect_b32 s40, s22, s23
outs 40
s_cselect_b32 s40, s24, -3
outs 40
s_bfm_b32 s40, s16, s17
outs 40
s_bfm_b32 s40, s22, s23
outs 40
s_bfm_b32 s40, s24, -3
outs 40
s_pack_ll_b32_b16 s40, s16, s17
outs 40
s_pack_ll_b32_b16 s40, s22, s23
outs 40
s_pack_ll_b32_b16 s40, s24, -3
outs 40
s_pack_lh_b32_b16 s40, s16, s17
outs 40
s_pack_lh_b32_b16 s40, s22, s23
outs 40
s_pack_lh_b32_b16 s40, s24, -3
outs 40
s_pack_hh_b32_b16 s40, s16, s17
outs 40
s_pack_hh_b32_b16 s40, s22, s23
outs 40
s_pack_hh_b32_b16 s40, s24, -3
outs 40
s_and_b64 s[40:41], s[16:17], s[18:19]
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_or_b64 s[40:41], s[16:17], s[18:19]
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_xor_b64 s[40:41], s[16:17], s[18:19]
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_andn2_b64 s[40:41], s[16:17], s[18:19]
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_orn2_b64 s[40:41], s[16:17], s[18:19]
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_nand_b64 s[40:41], s[16:17], s[18:19]
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_nor_b64 s[40:41], s[16:17], s[18:19]
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_xnor_b64 s[40:41], s[16:17], s[18:19]
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_lshl_b64 s[40:41], s[16:17], s20
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_lshl_b64 s[40:41], s[16:17], 37
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_lshl_b64 s[40:41], s[16:17], s21
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_lshr_b64 s[40:41], s[16:17], s20
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_lshr_b64 s[40:41], s[16:17], 37
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_lshr_b64 s[40:41], s[16:17], s21
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_ashr_i64 s[40:41], s[16:17], s20
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_ashr_i64 s[40:41], s[16:17], 37
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_ashr_i64 s[40:41], s[16:17], s21
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_bfe_u64 s[40:41], s[22:23], 0x00110009
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_bfe_u64 s[40:41], s[22:23], 0x00400000
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_bfe_u64 s[40:41], s[22:23], s20
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_bfe_u64 s[40:41], s[22:23], 0
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_bfe_i64 s[40:41], s[22:23], 0x00110009
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_bfe_i64 s[40:41], s[22:23], 0x00400000
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_bfe_i64 s[40:41], s[22:23], s20
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_bfe_i64 s[40:41], s[22:23], 0
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_bfm_b64 s[40:41], 37, 11
outs 40,41
s_cselect_b64 s[40:41], s[16:17], s[20:21]
outs 40,41
