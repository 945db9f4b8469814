// VOP1, VOP2 and VOP3 on integers of 32 and 64 bits.
v_mul_i32_i24_e32 v40, v6, v7
out 40
v_mul_i32_i24_e32 v40, s16, v8
out 40
v_mul_i32_i24_e64 v40, v10, -5
out 40
v_mul_hi_i32_i24_e32 v40, v6, v7
out 40
v_mul_hi_i32_i24_e32 v40, s16, v8
out 40
v_mul_hi_i32_i24_e64 v40, v10, -5
out 40
v_mul_u32_u24_e32 v40, v6, v7
out 40
v_mul_u32_u24_e32 v40, s16, v8
out 40
v_mul_u32_u24_e64 v40, v10, -5
out 40
v_mul_hi_u32_u24_e32 v40, v6, v7
out 40
v_mul_hi_u32_u24_e32 v40, s16, v8
out 40
v_mul_hi_u32_u24_e64 v40, v10, -5
out 40
v_min_i32_e32 v40, v6, v7
out 40
v_min_i32_e32 v40, s16, v8
out 40
v_min_i32_e64 v40, v10, -5
out 40
v_max_i32_e32 v40, v6, v7
out 40
v_max_i32_e32 v40, s16, v8
out 40
v_max_i32_e64 v40, v10, -5
out 40
v_min_u32_e32 v40, v6, v7
out 40
v_min_u32_e32 v40, s16, v8
out 40
v_min_u32_e64 v40, v10, -5
out 40
v_max_u32_e32 v40, v6, v7
out 40
v_max_u32_e32 v40, s16, v8
out 40
v_max_u32_e64 v40, v10, -5
out 40
v_lshrrev_b32_e32 v40, v6, v7
out 40
v_lshrrev_b32_e32 v40, s16, v8
out 40
v_lshrrev_b32_e64 v40, v10, -5
out 40
v_ashrrev_i32_e32 v40, v6, v7
out 40
v_ashrrev_i32_e32 v40, s16, v8
out 40
v_ashrrev_i32_e64 v40, v10, -5
out 40
v_lshlrev_b32_e32 v40, v6, v7
out 40
v_lshlrev_b32_e32 v40, s16, v8
out 40
v_lshlrev_b32_e64 v40, v10, -5
out 40
v_and_b32_e32 v40, v6, v7
out 40
v_and_b32_e32 v40, s16, v8
out 40
v_and_b32_e64 v40, v10, -5
out 40
v_or_b32_e32 v40, v6, v7
out 40
v_or_b32_e32 v40, s16, v8
out 40
v_or_b32_e64 v40, v10, -5
out 40
v_xor_b32_e32 v40, v6, v7
out 40
v_xor_b32_e32 v40, s16, v8
out 40
v_xor_b32_e64 v40, v10, -5
out 40
v_xnor_b32_e32 v40, v6, v7
out 40
v_xnor_b32_e32 v40, s16, v8
out 40
v_xnor_b32_e64 v40, v10, -5
out 40
v_add_u32_e32 v40, v6, v7
out 40
v_add_u32_e32 v40, s16, v8
out 40
v_add_u32_e64 v40, v10, -5
out 40
v_sub_u32_e32 v40, v6, v7
out 40
v_sub_u32_e32 v40, s16, v8
out 40
v_sub_u32_e64 v40, v10, -5
out 40
v_subrev_u32_e32 v40, v6, v7
out 40
v_subrev_u32_e32 v40, s16, v8
out 40
v_subrev_u32_e64 v40, v10, -5
out 40
v_add_co_u32_e32 v40, vcc, v6, v7
out 40
s_mov_b64 s[44:45], vcc
outs 44,45
v_add_co_u32_e64 v40, s[40:41], v8, s17
out 40
outs 40,41
v_sub_co_u32_e32 v40, vcc, v6, v7
out 40
s_mov_b64 s[44:45], vcc
outs 44,45
v_sub_co_u32_e64 v40, s[40:41], v8, s17
out 40
outs 40,41
v_subrev_co_u32_e32 v40, vcc, v6, v7
out 40
s_mov_b64 s[44:45], vcc
outs 44,45
v_subrev_co_u32_e64 v40, s[40:41], v8, s17
out 40
outs 40,41
s_mov_b64 vcc, s[18:19]
v_addc_co_u32_e32 v40, vcc, v6, v7, vcc
out 40
s_mov_b64 s[44:45], vcc
outs 44,45
v_addc_co_u32_e64 v40, s[40:41], v8, v6, s[20:21]
out 40
outs 40,41
s_mov_b64 vcc, s[18:19]
v_subb_co_u32_e32 v40, vcc, v6, v7, vcc
out 40
s_mov_b64 s[44:45], vcc
outs 44,45
v_subb_co_u32_e64 v40, s[40:41], v8, v6, s[20:21]
out 40
outs 40,41
s_mov_b64 vcc, s[18:19]
v_subbrev_co_u32_e32 v40, vcc, v6, v7, vcc
out 40
s_mov_b64 s[44:45], vcc
outs 44,45
v_subbrev_co_u32_e64 v40, s[40:41], v8, v6, s[20:21]
out 40
outs 40,41
s_mov_b64 vcc, s[22:23]
v_cndmask_b32_e32 v40, v6, v7, vcc
out 40
v_cndmask_b32_e64 v40, v8, 3, s[24:25]
out 40
v_mov_b32_e32 v40, v6
out 40
v_mov_b32_e32 v40, v22
out 40
v_not_b32_e32 v40, v6
out 40
v_not_b32_e32 v40, v22
out 40
v_bfrev_b32_e32 v40, v6
out 40
v_bfrev_b32_e32 v40, v22
out 40
v_ffbh_u32_e32 v40, v6
out 40
v_ffbh_u32_e32 v40, v22
out 40
v_ffbl_b32_e32 v40, v6
out 40
v_ffbl_b32_e32 v40, v22
out 40
v_ffbh_i32_e32 v40, v6
out 40
v_ffbh_i32_e32 v40, v22
out 40
v_sat_pk_u8_i16_e32 v40, v6
out 40
v_sat_pk_u8_i16_e32 v40, v22
out 40
v_mov_b32_e32 v40, 0
v_ffbh_u32_e32 v41, v40
v_ffbl_b32_e32 v42, v40
v_ffbh_i32_e32 v43, v40
out 41,42,43
v_mad_i32_i24 v40, v6, v7, v8
out 40
v_mad_i32_i24 v40, v20, s16, v22
out 40
v_mad_i32_i24 v40, v21, v23, v22
out 40
v_mad_u32_u24 v40, v6, v7, v8
out 40
v_mad_u32_u24 v40, v20, s16, v22
out 40
v_mad_u32_u24 v40, v21, v23, v22
out 40
v_bfe_u32 v40, v6, v7, v8
out 40
v_bfe_u32 v40, v20, s16, v22
out 40
v_bfe_u32 v40, v21, v23, v22
out 40
v_bfe_i32 v40, v6, v7, v8
out 40
v_bfe_i32 v40, v20, s16, v22
out 40
v_bfe_i32 v40, v21, v23, v22
out 40
v_bfi_b32 v40, v6, v7, v8
out 40
v_bfi_b32 v40, v20, s16, v22
out 40
v_bfi_b32 v40, v21, v23, v22
out 40
v_alignbit_b32 v40, v6, v7, v8
out 40
v_alignbit_b32 v40, v20, s16, v22
out 40
v_alignbit_b32 v40, v21, v23, v22
out 40
v_alignbyte_b32 v40, v6, v7, v8
out 40
v_alignbyte_b32 v40, v20, s16, v22
out 40
v_alignbyte_b32 v40, v21, v23, v22
out 40
v_min3_i32 v40, v6, v7, v8
out 40
v_min3_i32 v40, v20, s16, v22
out 40
v_min3_i32 v40, v21, v23, v22
out 40
v_max3_i32 v40, v6, v7, v8
out 40
v_max3_i32 v40, v20, s16, v22
out 40
v_max3_i32 v40, v21, v23, v22
out 40
v_med3_i32 v40, v6, v7, v8
out 40
v_med3_i32 v40, v20, s16, v22
out 40
v_med3_i32 v40, v21, v23, v22
out 40
v_min3_u32 v40, v6, v7, v8
out 40
v_min3_u32 v40, v20, s16, v22
out 40
v_min3_u32 v40, v21, v23, v22
out 40
v_max3_u32 v40, v6, v7, v8
out 40
v_max3_u32 v40, v20, s16, v22
out 40
v_max3_u32 v40, v21, v23, v22
out 40
v_med3_u32 v40, v6, v7, v8
out 40
v_med3_u32 v40, v20, s16, v22
out 40
v_med3_u32 v40, v21, v23, v22
out 40
v_sad_u8 v40, v6, v7, v8
out 40
v_sad_u8 v40, v20, s16, v22
out 40
v_sad_u8 v40, v21, v23, v22
out 40
v_sad_hi_u8 v40, v6, v7, v8
out 40
v_sad_hi_u8 v40, v20, s16, v22
out 40
v_sad_hi_u8 v40, v21, v23, v22
out 40
v_sad_u16 v40, v6, v7, v8
out 40
v_sad_u16 v40, v20, s16, v22
out 40
v_sad_u16 v40, v21, v23, v22
out 40
v_sad_u32 v40, v6, v7, v8
out 40
v_sad_u32 v40, v20, s16, v22
out 40
v_sad_u32 v40, v21, v23, v22
out 40
v_perm_b32 v40, v6, v7, v8
out 40
v_perm_b32 v40, v20, s16, v22
out 40
v_perm_b32 v40, v21, v23, v22
out 40
v_xad_u32 v40, v6, v7, v8
out 40
v_xad_u32 v40, v20, s16, v22
out 40
v_xad_u32 v40, v21, v23, v22
out 40
v_lshl_add_u32 v40, v6, v7, v8
out 40
v_lshl_add_u32 v40, v20, s16, v22
out 40
v_lshl_add_u32 v40, v21, v23, v22
out 40
v_add_lshl_u32 v40, v6, v7, v8
out 40
v_add_lshl_u32 v40, v20, s16, v22
out 40
v_add_lshl_u32 v40, v21, v23, v22
out 40
v_add3_u32 v40, v6, v7, v8
out 40
v_add3_u32 v40, v20, s16, v22
out 40
v_add3_u32 v40, v21, v23, v22
out 40
v_lshl_or_b32 v40, v6, v7, v8
out 40
v_lshl_or_b32 v40, v20, s16, v22
out 40
v_lshl_or_b32 v40, v21, v23, v22
out 40
v_and_or_b32 v40, v6, v7, v8
out 40
v_and_or_b32 v40, v20, s16, v22
out 40
v_and_or_b32 v40, v21, v23, v22
out 40
v_or3_b32 v40, v6, v7, v8
out 40
v_or3_b32 v40, v20, s16, v22
out 40
v_or3_b32 v40, v21, v23, v22
out 40
v_mad_u32_u16 v40, v6, v7, v8
out 40
v_mad_u32_u16 v40, v20, s16, v22
out 40
v_mad_u32_u16 v40, v21, v23, v22
out 40
v_mad_i32_i16 v40, v6, v7, v8
out 40
v_mad_i32_i16 v40, v20, s16, v22
out 40
v_mad_i32_i16 v40, v21, v23, v22
out 40
// A selector with every kind of code.
v_mov_b32_e32 v41, 0x0c0d0803
v_perm_b32 v40, v6, v7, v41
out 40
v_mov_b32_e32 v41, 0x0b0a0906
v_perm_b32 v40, v6, v7, v41
out 40
v_mul_lo_u32 v40, v6, v7
out 40
v_mul_lo_u32 v40, v22, v23
out 40
v_mul_hi_u32 v40, v6, v7
out 40
v_mul_hi_u32 v40, v22, v23
out 40
v_mul_hi_i32 v40, v6, v7
out 40
v_mul_hi_i32 v40, v22, v23
out 40
v_bcnt_u32_b32 v40, v6, v7
out 40
v_bcnt_u32_b32 v40, v22, v23
out 40
v_bfm_b32 v40, v6, v7
out 40
v_bfm_b32 v40, v22, v23
out 40
v_cvt_pk_u16_u32 v40, v6, v7
out 40
v_cvt_pk_u16_u32 v40, v22, v23
out 40
v_cvt_pk_i16_i32 v40, v6, v7
out 40
v_cvt_pk_i16_i32 v40, v22, v23
out 40
v_lshlrev_b64 v[40:41], v22, v[10:11]
out 40,41
v_lshlrev_b64 v[40:41], 33, v[6:7]
out 40,41
v_lshrrev_b64 v[40:41], v22, v[10:11]
out 40,41
v_lshrrev_b64 v[40:41], 33, v[6:7]
out 40,41
v_ashrrev_i64 v[40:41], v22, v[10:11]
out 40,41
v_ashrrev_i64 v[40:41], 33, v[6:7]
out 40,41
v_mad_u64_u32 v[40:41], vcc, v6, v7, v[10:11]
out 40,41
s_mov_b64 s[44:45], vcc
outs 44,45
v_lshl_add_u64 v[40:41], v[6:7], 3, v[10:11]
out 40,41
v_mov_b64_e32 v[40:41], v[12:13]
out 40,41
v_mbcnt_lo_u32_b32 v40, s16, 0
v_mbcnt_hi_u32_b32 v41, s17, v40
out 40,41
v_add_u32_e64 v40, v6, v7
out 40
v_add_u32_e64 v40, v6, v7 clamp
out 40
v_sub_u32_e64 v40, v6, v7
out 40
v_sub_u32_e64 v40, v6, v7 clamp
out 40
v_subrev_u32_e64 v40, v6, v7
out 40
v_subrev_u32_e64 v40, v6, v7 clamp
out 40
v_add_i32 v40, v6, v7
out 40
v_add_i32 v40, v6, v7 clamp
out 40
v_sub_i32 v40, v6, v7
out 40
v_sub_i32 v40, v6, v7 clamp
out 40
v_lerp_u8 v40, v6, v20, v8
out 40
v_lerp_u8 v40, v21, v22, v7
out 40
v_msad_u8 v40, v6, v20, v8
out 40
v_msad_u8 v40, v21, v22, v7
out 40
v_qsad_pk_u16_u8 v[40:41], v[20:21], v22, v[24:25]
out 40,41
v_qsad_pk_u16_u8 v[40:41], v[24:25], v20, v[26:27]
out 40,41
v_mqsad_pk_u16_u8 v[40:41], v[20:21], v22, v[24:25]
out 40,41
v_mqsad_pk_u16_u8 v[40:41], v[24:25], v20, v[26:27]
out 40,41
