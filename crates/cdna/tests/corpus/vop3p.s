// VOP3P: packed halves, packed f32, mixed precision, dot products.
v_pk_mul_lo_u16 v40, v20, v6
out 40
v_pk_mul_lo_u16 v40, v21, v7 op_sel:[1,0] op_sel_hi:[0,1]
out 40
v_pk_add_i16 v40, v20, v6
out 40
v_pk_add_i16 v40, v21, v7 op_sel:[1,0] op_sel_hi:[0,1]
out 40
v_pk_sub_i16 v40, v20, v6
out 40
v_pk_sub_i16 v40, v21, v7 op_sel:[1,0] op_sel_hi:[0,1]
out 40
v_pk_lshlrev_b16 v40, v20, v6
out 40
v_pk_lshlrev_b16 v40, v21, v7 op_sel:[1,0] op_sel_hi:[0,1]
out 40
v_pk_lshrrev_b16 v40, v20, v6
out 40
v_pk_lshrrev_b16 v40, v21, v7 op_sel:[1,0] op_sel_hi:[0,1]
out 40
v_pk_ashrrev_i16 v40, v20, v6
out 40
v_pk_ashrrev_i16 v40, v21, v7 op_sel:[1,0] op_sel_hi:[0,1]
out 40
v_pk_max_i16 v40, v20, v6
out 40
v_pk_max_i16 v40, v21, v7 op_sel:[1,0] op_sel_hi:[0,1]
out 40
v_pk_min_i16 v40, v20, v6
out 40
v_pk_min_i16 v40, v21, v7 op_sel:[1,0] op_sel_hi:[0,1]
out 40
v_pk_add_u16 v40, v20, v6
out 40
v_pk_add_u16 v40, v21, v7 op_sel:[1,0] op_sel_hi:[0,1]
out 40
v_pk_sub_u16 v40, v20, v6
out 40
v_pk_sub_u16 v40, v21, v7 op_sel:[1,0] op_sel_hi:[0,1]
out 40
v_pk_max_u16 v40, v20, v6
out 40
v_pk_max_u16 v40, v21, v7 op_sel:[1,0] op_sel_hi:[0,1]
out 40
v_pk_min_u16 v40, v20, v6
out 40
v_pk_min_u16 v40, v21, v7 op_sel:[1,0] op_sel_hi:[0,1]
out 40
v_pk_mad_i16 v40, v20, v6, v21
out 40
v_pk_mad_i16 v40, v20, v6, v21 op_sel:[0,1,1] op_sel_hi:[1,0,0]
out 40
v_pk_mad_u16 v40, v20, v6, v21
out 40
v_pk_mad_u16 v40, v20, v6, v21 op_sel:[0,1,1] op_sel_hi:[1,0,0]
out 40
v_pk_add_f16 v40, v18, v19
out 40
v_pk_add_f16 v40, v16, v18 op_sel:[1,0] op_sel_hi:[0,0] neg_lo:[1,0] neg_hi:[0,1]
out 40
v_pk_add_f16 v40, v18, v19 clamp
out 40
v_pk_mul_f16 v40, v18, v19
out 40
v_pk_mul_f16 v40, v16, v18 op_sel:[1,0] op_sel_hi:[0,0] neg_lo:[1,0] neg_hi:[0,1]
out 40
v_pk_mul_f16 v40, v18, v19 clamp
out 40
v_pk_min_f16 v40, v18, v19
out 40
v_pk_min_f16 v40, v16, v18 op_sel:[1,0] op_sel_hi:[0,0] neg_lo:[1,0] neg_hi:[0,1]
out 40
v_pk_min_f16 v40, v18, v19 clamp
out 40
v_pk_max_f16 v40, v18, v19
out 40
v_pk_max_f16 v40, v16, v18 op_sel:[1,0] op_sel_hi:[0,0] neg_lo:[1,0] neg_hi:[0,1]
out 40
v_pk_max_f16 v40, v18, v19 clamp
out 40
v_pk_fma_f16 v40, v18, v19, v18
out 40
v_pk_fma_f16 v40, v18, v19, v18 op_sel:[1,1,0] op_sel_hi:[0,1,0] neg_lo:[0,1,0] neg_hi:[1,0,1]
out 40
v_pk_mul_f32 v[40:41], v[2:3], v[4:5]
out 40,41
v_pk_mul_f32 v[40:41], v[4:5], v[2:3] op_sel:[1,0] op_sel_hi:[0,0] neg_lo:[1,0] neg_hi:[0,1]
out 40,41
v_pk_add_f32 v[40:41], v[2:3], v[4:5]
out 40,41
v_pk_add_f32 v[40:41], v[4:5], v[2:3] op_sel:[1,0] op_sel_hi:[0,0] neg_lo:[1,0] neg_hi:[0,1]
out 40,41
v_pk_fma_f32 v[40:41], v[4:5], v[2:3], v[4:5]
out 40,41
v_pk_fma_f32 v[40:41], v[4:5], v[2:3], v[4:5] op_sel:[1,1,0] op_sel_hi:[0,0,1] neg_lo:[0,1,0] neg_hi:[1,0,1]
out 40,41
v_pk_mov_b32 v[40:41], v[6:7], v[20:21]
out 40,41
v_pk_mov_b32 v[40:41], v[6:7], v[20:21] op_sel:[1,0]
out 40,41
v_pk_mov_b32 v[40:41], v[6:7], v[20:21] op_sel:[0,1]
out 40,41
v_pk_mov_b32 v[40:41], v[6:7], v[20:21] op_sel:[1,1]
out 40,41
v_mov_b32_e32 v40, v6
v_fma_mix_f32 v40, v3, v18, v4 op_sel_hi:[0,0,0]
out 40
v_mov_b32_e32 v40, v6
v_fma_mixlo_f16 v40, v3, v18, v4 op_sel_hi:[0,0,0]
out 40
v_mov_b32_e32 v40, v6
v_fma_mixhi_f16 v40, v3, v18, v4 op_sel_hi:[0,0,0]
out 40
v_mov_b32_e32 v40, v6
v_fma_mix_f32 v40, v18, v3, -|v19| op_sel:[1,0,1] op_sel_hi:[1,0,1]
out 40
v_mov_b32_e32 v40, v6
v_fma_mixlo_f16 v40, v18, v3, -|v19| op_sel:[1,0,1] op_sel_hi:[1,0,1]
out 40
v_mov_b32_e32 v40, v6
v_fma_mixhi_f16 v40, v18, v3, -|v19| op_sel:[1,0,1] op_sel_hi:[1,0,1]
out 40
v_mov_b32_e32 v40, v6
v_fma_mix_f32 v40, v3, v18, v4 op_sel:[0,1,0] op_sel_hi:[0,1,0]
out 40
v_mov_b32_e32 v40, v6
v_fma_mixlo_f16 v40, v3, v18, v4 op_sel:[0,1,0] op_sel_hi:[0,1,0]
out 40
v_mov_b32_e32 v40, v6
v_fma_mixhi_f16 v40, v3, v18, v4 op_sel:[0,1,0] op_sel_hi:[0,1,0]
out 40
v_dot2_i32_i16 v40, v20, v21, v6
out 40
v_dot2_i32_i16 v40, v20, v21, v6 clamp
out 40
v_dot2_u32_u16 v40, v20, v21, v6
out 40
v_dot2_u32_u16 v40, v20, v21, v6 clamp
out 40
v_dot4_i32_i8 v40, v20, v21, v6
out 40
v_dot4_i32_i8 v40, v20, v21, v6 clamp
out 40
v_dot4_u32_u8 v40, v20, v21, v6
out 40
v_dot4_u32_u8 v40, v20, v21, v6 clamp
out 40
v_dot8_i32_i4 v40, v20, v21, v6
out 40
v_dot8_i32_i4 v40, v20, v21, v6 clamp
out 40
v_dot8_u32_u4 v40, v20, v21, v6
out 40
v_dot8_u32_u4 v40, v20, v21, v6 clamp
out 40
