// Registers whose number is computed: s_movrel and the GPR index mode.
s_mov_b32 m0, 5
s_movrels_b32 s40, s17
outs 40
s_movreld_b32 s41, s19
outs 46
s_mov_b32 m0, 4
s_movrels_b64 s[42:43], s[16:17]
outs 42,43
s_movreld_b64 s[50:51], s[22:23]
outs 54,55
s_mov_b32 s40, 3
s_mov_b32 m0, 0x120000
s_set_gpr_idx_on s40, gpr_idx(SRC0)
v_mov_b32_e32 v40, v5
s_set_gpr_idx_off
out 40
s_mov_b32 s42, m0
outs 42
s_set_gpr_idx_on s40, gpr_idx(SRC1,DST)
v_add_u32_e32 v40, v6, v7
s_set_gpr_idx_idx 6
v_add_u32_e32 v41, 5, v8
s_set_gpr_idx_mode gpr_idx(SRC0,SRC2)
v_mad_u32_u24 v42, v20, v21, v22
s_set_gpr_idx_off
v_mov_b32_e32 v45, v20
out 42,43,45,47
