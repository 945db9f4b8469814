// SOP1: results, SCC and EXEC.
s_not_b32 s40, s16
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_not_b32 s40, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_not_b32 s40, 0
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_not_b32 s40, -1
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_wqm_b32 s40, s16
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_wqm_b32 s40, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_wqm_b32 s40, 0
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_wqm_b32 s40, -1
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_quadmask_b32 s40, s16
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_quadmask_b32 s40, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_quadmask_b32 s40, 0
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_quadmask_b32 s40, -1
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bcnt0_i32_b32 s40, s16
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bcnt0_i32_b32 s40, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bcnt0_i32_b32 s40, 0
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bcnt0_i32_b32 s40, -1
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bcnt1_i32_b32 s40, s16
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bcnt1_i32_b32 s40, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bcnt1_i32_b32 s40, 0
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bcnt1_i32_b32 s40, -1
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_abs_i32 s40, s16
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_abs_i32 s40, s17
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_abs_i32 s40, 0
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_abs_i32 s40, -1
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_mov_b32 s40, s18
outs 40
s_mov_b32 s40, s19
outs 40
s_mov_b32 s40, 0
outs 40
s_mov_b32 s40, -1
outs 40
s_brev_b32 s40, s18
outs 40
s_brev_b32 s40, s19
outs 40
s_brev_b32 s40, 0
outs 40
s_brev_b32 s40, -1
outs 40
s_ff0_i32_b32 s40, s18
outs 40
s_ff0_i32_b32 s40, s19
outs 40
s_ff0_i32_b32 s40, 0
outs 40
s_ff0_i32_b32 s40, -1
outs 40
s_ff1_i32_b32 s40, s18
outs 40
s_ff1_i32_b32 s40, s19
outs 40
s_ff1_i32_b32 s40, 0
outs 40
s_ff1_i32_b32 s40, -1
outs 40
s_flbit_i32_b32 s40, s18
outs 40
s_flbit_i32_b32 s40, s19
outs 40
s_flbit_i32_b32 s40, 0
outs 40
s_flbit_i32_b32 s40, -1
outs 40
s_flbit_i32 s40, s18
outs 40
s_flbit_i32 s40, s19
outs 40
s_flbit_i32 s40, 0
outs 40
s_flbit_i32 s40, -1
outs 40
s_sext_i32_i8 s40, s18
outs 40
s_sext_i32_i8 s40, s19
outs 40
s_sext_i32_i8 s40, 0
outs 40
s_sext_i32_i8 s40, -1
outs 40
s_sext_i32_i16 s40, s18
outs 40
s_sext_i32_i16 s40, s19
outs 40
s_sext_i32_i16 s40, 0
outs 40
s_sext_i32_i16 s40, -1
outs 40
s_not_b64 s[40:41], s[16:17]
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_not_b64 s[40:41], s[22:23]
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_not_b64 s[40:41], 0
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_wqm_b64 s[40:41], s[16:17]
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_wqm_b64 s[40:41], s[22:23]
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_wqm_b64 s[40:41], 0
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_quadmask_b64 s[40:41], s[16:17]
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_quadmask_b64 s[40:41], s[22:23]
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_quadmask_b64 s[40:41], 0
outs 40,41
s_cselect_b32 s48, 1, 0
outs 48
s_bcnt0_i32_b64 s40, s[16:17]
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bcnt0_i32_b64 s40, s[22:23]
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bcnt0_i32_b64 s40, 0
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bcnt1_i32_b64 s40, s[16:17]
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bcnt1_i32_b64 s40, s[22:23]
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_bcnt1_i32_b64 s40, 0
outs 40
s_cselect_b32 s48, 1, 0
outs 48
s_ff0_i32_b64 s40, s[18:19]
outs 40
s_ff0_i32_b64 s40, s[24:25]
outs 40
s_ff0_i32_b64 s40, 0
outs 40
s_ff0_i32_b64 s40, -1
outs 40
s_ff0_i32_b64 s40, 1
outs 40
s_ff1_i32_b64 s40, s[18:19]
outs 40
s_ff1_i32_b64 s40, s[24:25]
outs 40
s_ff1_i32_b64 s40, 0
outs 40
s_ff1_i32_b64 s40, -1
outs 40
s_ff1_i32_b64 s40, 1
outs 40
s_flbit_i32_b64 s40, s[18:19]
outs 40
s_flbit_i32_b64 s40, s[24:25]
outs 40
s_flbit_i32_b64 s40, 0
outs 40
s_flbit_i32_b64 s40, -1
outs 40
s_flbit_i32_b64 s40, 1
outs 40
s_flbit_i32_i64 s40, s[18:19]
outs 40
s_flbit_i32_i64 s40, s[24:25]
outs 40
s_flbit_i32_i64 s40, 0
outs 40
s_flbit_i32_i64 s40, -1
outs 40
s_flbit_i32_i64 s40, 1
outs 40
s_mov_b64 s[40:41], s[20:21]
outs 40,41
s_brev_b64 s[40:41], s[20:21]
outs 40,41
s_bitreplicate_b64_b32 s[40:41], s26
outs 40,41
s_mov_b64 s[40:41], s[28:29]
s_bitset0_b32 s40, s16
outs 40
s_bitset0_b64 s[40:41], 35
outs 40,41
s_mov_b64 s[40:41], s[28:29]
s_bitset1_b32 s40, s16
outs 40
s_bitset1_b64 s[40:41], 35
outs 40,41
s_mov_b64 s[40:41], s[30:31]
s_cmp_eq_u32 s16, s16
s_cmov_b32 s40, s17
outs 40
s_cmov_b64 s[40:41], s[18:19]
outs 40,41
s_mov_b64 s[40:41], s[30:31]
s_cmp_lg_u32 s16, s16
s_cmov_b32 s40, s17
outs 40
s_cmov_b64 s[40:41], s[18:19]
outs 40,41
// Moves of EXEC keep the old one, or the new one.
s_mov_b64 exec, s[18:19]
s_and_saveexec_b64 s[40:41], s[16:17]
s_cselect_b32 s48, 1, 0
s_mov_b64 s[42:43], exec
s_mov_b64 exec, -1
outs 40,41,42,43,48
s_mov_b64 exec, s[18:19]
s_or_saveexec_b64 s[40:41], s[16:17]
s_cselect_b32 s48, 1, 0
s_mov_b64 s[42:43], exec
s_mov_b64 exec, -1
outs 40,41,42,43,48
s_mov_b64 exec, s[18:19]
s_xor_saveexec_b64 s[40:41], s[16:17]
s_cselect_b32 s48, 1, 0
s_mov_b64 s[42:43], exec
s_mov_b64 exec, -1
outs 40,41,42,43,48
s_mov_b64 exec, s[18:19]
s_andn2_saveexec_b64 s[40:41], s[16:17]
s_cselect_b32 s48, 1, 0
s_mov_b64 s[42:43], exec
s_mov_b64 exec, -1
outs 40,41,42,43,48
s_mov_b64 exec, s[18:19]
s_orn2_saveexec_b64 s[40:41], s[16:17]
s_cselect_b32 s48, 1, 0
s_mov_b64 s[42:43], exec
s_mov_b64 exec, -1
outs 40,41,42,43,48
s_mov_b64 exec, s[18:19]
s_nand_saveexec_b64 s[40:41], s[16:17]
s_cselect_b32 s48, 1, 0
s_mov_b64 s[42:43], exec
s_mov_b64 exec, -1
outs 40,41,42,43,48
s_mov_b64 exec, s[18:19]
s_nor_saveexec_b64 s[40:41], s[16:17]
s_cselect_b32 s48, 1, 0
s_mov_b64 s[42:43], exec
s_mov_b64 exec, -1
outs 40,41,42,43,48
s_mov_b64 exec, s[18:19]
s_xnor_saveexec_b64 s[40:41], s[16:17]
s_cselect_b32 s48, 1, 0
s_mov_b64 s[42:43], exec
s_mov_b64 exec, -1
outs 40,41,42,43,48
s_mov_b64 exec, s[18:19]
s_andn1_saveexec_b64 s[40:41], s[16:17]
s_cselect_b32 s48, 1, 0
s_mov_b64 s[42:43], exec
s_mov_b64 exec, -1
outs 40,41,42,43,48
s_mov_b64 exec, s[18:19]
s_orn1_saveexec_b64 s[40:41], s[16:17]
s_cselect_b32 s48, 1, 0
s_mov_b64 s[42:43], exec
s_mov_b64 exec, -1
outs 40,41,42,43,48
s_mov_b64 exec, s[18:19]
s_andn1_wrexec_b64 s[40:41], s[16:17]
s_cselect_b32 s48, 1, 0
s_mov_b64 s[42:43], exec
s_mov_b64 exec, -1
outs 40,41,42,43,48
s_mov_b64 exec, s[18:19]
s_andn2_wrexec_b64 s[40:41], s[16:17]
s_cselect_b32 s48, 1, 0
s_mov_b64 s[42:43], exec
s_mov_b64 exec, -1
outs 40,41,42,43,48
