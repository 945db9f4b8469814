// Loads v1 to v16 and s16 to s31, runs what is put in place of the s_nop, and
// stores v1 to v16, s16 to s31, VCC, EXEC and SCC. s[0:1] points to the
// arguments: input, output, memory that s[8:9] points to, what LDS holds.
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.globl fuzz
.p2align 8
.type fuzz,@function
fuzz:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32_e32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
  s_load_dwordx16 s[16:31], s[4:5], 0x1000
  .irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16
  global_load_dword v\n, v0, s[4:5] offset:(\n-9)*256
  .endr
  s_load_dwordx4 s[8:11], s[0:1], 0x10
  s_waitcnt vmcnt(0) lgkmcnt(0)
  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  global_load_dword v17, v0, s[10:11] offset:\n*256
  s_waitcnt vmcnt(0)
  ds_write_b32 v0, v17 offset:\n*256
  .endr
  s_waitcnt lgkmcnt(0)
  s_mov_b64 vcc, s[16:17]
  s_cmp_eq_u32 s16, s16
  .rept 256
  s_nop 9
  .endr
  s_cselect_b32 s15, 1, 0
  s_mov_b64 s[12:13], exec
  s_mov_b64 exec, -1
  .irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16
  global_store_dword v0, v\n, s[6:7] offset:(\n-9)*256
  .endr
  s_add_u32 s6, s6, 0x1000
  s_addc_u32 s7, s7, 0
  .irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  v_mov_b32_e32 v17, s\n
  global_store_dword v0, v17, s[6:7] offset:(\n-24)*256
  .endr
  v_mov_b32_e32 v17, vcc_lo
  v_mov_b32_e32 v18, vcc_hi
  v_mov_b32_e32 v19, s15
  s_add_u32 s6, s6, 0x1000
  s_addc_u32 s7, s7, 0
  global_store_dword v0, v17, s[6:7] offset:0
  global_store_dword v0, v18, s[6:7] offset:256
  global_store_dword v0, v19, s[6:7] offset:512
  v_mov_b32_e32 v20, s12
  v_mov_b32_e32 v21, s13
  global_store_dword v0, v20, s[6:7] offset:768
  global_store_dword v0, v21, s[6:7] offset:1024
  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  ds_read_b32 v17, v0 offset:\n*256
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v17, s[10:11] offset:\n*256
  .endr
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel fuzz
  .amdhsa_next_free_vgpr 32
  .amdhsa_next_free_sgpr 40
  .amdhsa_accum_offset 32
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 32
  .amdhsa_group_segment_fixed_size 4096
  .amdhsa_float_denorm_mode_32 3
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
  - .name: fuzz
    .symbol: fuzz.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 4096
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 40
    .vgpr_count: 32
    .agpr_count: 0
    .max_flat_workgroup_size: 64
    .args:
      - {.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}
      - {.size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}
      - {.size: 8, .offset: 16, .value_kind: global_buffer, .address_space: global}
      - {.size: 8, .offset: 24, .value_kind: global_buffer, .address_space: global}
...
.end_amdgpu_metadata
