// DPP: lanes, masks, bounds, modifiers and partial EXEC.
v_mov_b32_e32 v40, v7
v_mov_b32_dpp v40, v6 quad_perm:[3,0,2,1] row_mask:0xf bank_mask:0xf
out 40
v_mov_b32_e32 v40, v7
v_add_u32_dpp v40, v6, v8 quad_perm:[3,0,2,1] row_mask:0xf bank_mask:0xf bound_ctrl:0
out 40
v_mov_b32_e32 v40, v7
v_mov_b32_dpp v40, v6 row_shl:1 row_mask:0xf bank_mask:0xf
out 40
v_mov_b32_e32 v40, v7
v_add_u32_dpp v40, v6, v8 row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
out 40
v_mov_b32_e32 v40, v7
v_mov_b32_dpp v40, v6 row_shl:5 row_mask:0xf bank_mask:0xf
out 40
v_mov_b32_e32 v40, v7
v_add_u32_dpp v40, v6, v8 row_shl:5 row_mask:0xf bank_mask:0xf bound_ctrl:0
out 40
v_mov_b32_e32 v40, v7
v_mov_b32_dpp v40, v6 row_shr:1 row_mask:0xf bank_mask:0xf
out 40
v_mov_b32_e32 v40, v7
v_add_u32_dpp v40, v6, v8 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
out 40
v_mov_b32_e32 v40, v7
v_mov_b32_dpp v40, v6 row_shr:8 row_mask:0xf bank_mask:0xf
out 40
v_mov_b32_e32 v40, v7
v_add_u32_dpp v40, v6, v8 row_shr:8 row_mask:0xf bank_mask:0xf bound_ctrl:0
out 40
v_mov_b32_e32 v40, v7
v_mov_b32_dpp v40, v6 row_ror:3 row_mask:0xf bank_mask:0xf
out 40
v_mov_b32_e32 v40, v7
v_add_u32_dpp v40, v6, v8 row_ror:3 row_mask:0xf bank_mask:0xf bound_ctrl:0
out 40
v_mov_b32_e32 v40, v7
v_mov_b32_dpp v40, v6 wave_shl:1 row_mask:0xf bank_mask:0xf
out 40
v_mov_b32_e32 v40, v7
v_add_u32_dpp v40, v6, v8 wave_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
out 40
v_mov_b32_e32 v40, v7
v_mov_b32_dpp v40, v6 wave_shr:1 row_mask:0xf bank_mask:0xf
out 40
v_mov_b32_e32 v40, v7
v_add_u32_dpp v40, v6, v8 wave_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
out 40
v_mov_b32_e32 v40, v7
v_mov_b32_dpp v40, v6 wave_rol:1 row_mask:0xf bank_mask:0xf
out 40
v_mov_b32_e32 v40, v7
v_add_u32_dpp v40, v6, v8 wave_rol:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
out 40
v_mov_b32_e32 v40, v7
v_mov_b32_dpp v40, v6 wave_ror:1 row_mask:0xf bank_mask:0xf
out 40
v_mov_b32_e32 v40, v7
v_add_u32_dpp v40, v6, v8 wave_ror:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
out 40
v_mov_b32_e32 v40, v7
v_mov_b32_dpp v40, v6 row_mirror row_mask:0xf bank_mask:0xf
out 40
v_mov_b32_e32 v40, v7
v_add_u32_dpp v40, v6, v8 row_mirror row_mask:0xf bank_mask:0xf bound_ctrl:0
out 40
v_mov_b32_e32 v40, v7
v_mov_b32_dpp v40, v6 row_half_mirror row_mask:0xf bank_mask:0xf
out 40
v_mov_b32_e32 v40, v7
v_add_u32_dpp v40, v6, v8 row_half_mirror row_mask:0xf bank_mask:0xf bound_ctrl:0
out 40
v_mov_b32_e32 v40, v7
v_mov_b32_dpp v40, v6 row_newbcast:9 row_mask:0xf bank_mask:0xf
out 40
v_mov_b32_e32 v40, v7
v_add_u32_dpp v40, v6, v8 row_newbcast:9 row_mask:0xf bank_mask:0xf bound_ctrl:0
out 40
v_mov_b32_e32 v40, v7
v_add_u32_dpp v40, v6, v8 row_bcast:15 row_mask:0xa bank_mask:0xf
out 40
v_mov_b32_e32 v40, v7
v_add_u32_dpp v40, v6, v8 row_bcast:31 row_mask:0xc bank_mask:0xf
out 40
v_mov_b32_e32 v40, v7
v_mov_b32_dpp v40, v6 quad_perm:[1,1,3,3] row_mask:0x5 bank_mask:0xa
out 40
v_mov_b32_e32 v40, v7
v_mul_f32_dpp v40, -v3, |v4| row_ror:5 row_mask:0xf bank_mask:0xf
out 40
v_mov_b32_e32 v40, v5
v_fmac_f32_dpp v40, v3, v4 row_mirror row_mask:0xf bank_mask:0xf
out 40
v_mov_b32_e32 v40, v7
v_cvt_f32_i32_dpp v40, v6 row_shr:2 row_mask:0xf bank_mask:0xf bound_ctrl:0
out 40
// Lanes that do not run hand nothing on.
v_mov_b32_e32 v40, v7
s_mov_b64 exec, s[18:19]
s_nop 4
v_add_u32_dpp v40, v6, v8 row_shr:1 row_mask:0xf bank_mask:0xf
s_mov_b64 exec, -1
out 40
v_mov_b32_e32 v40, v7
s_mov_b64 exec, s[18:19]
s_nop 4
v_add_u32_dpp v40, v6, v8 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
s_mov_b64 exec, -1
out 40
v_mov_b32_e32 v40, v7
s_mov_b64 exec, s[18:19]
s_nop 4
v_add_u32_dpp v40, v6, v8 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
s_mov_b64 exec, -1
out 40
v_mov_b32_e32 v40, v7
s_mov_b64 exec, s[18:19]
s_nop 4
v_add_u32_dpp v40, v6, v8 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:0
s_mov_b64 exec, -1
out 40
v_mov_b32_e32 v40, v7
s_mov_b64 exec, s[18:19]
s_nop 4
v_add_u32_dpp v40, v6, v8 row_ror:7 row_mask:0xf bank_mask:0xf
s_mov_b64 exec, -1
out 40
v_mov_b32_e32 v40, v7
s_mov_b64 exec, s[18:19]
s_nop 4
v_add_u32_dpp v40, v6, v8 row_ror:7 row_mask:0xf bank_mask:0xf bound_ctrl:0
s_mov_b64 exec, -1
out 40
