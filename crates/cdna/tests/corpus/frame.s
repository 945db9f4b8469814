// What stands around each class: loads s16 to s31 and v1 to v31, runs the
// instructions, and stores what they ask for. s[10:11] is a piece of memory.
.amdgcn_target "amdgcn-amd-amdhsa--@ARCH@"
.macro out registers:vararg
  .irp n, \registers
  global_store_dword v95, v\n, s[6:7]
  v_add_u32_e32 v95, 0x100, v95
  .endr
.endm
.macro outs registers:vararg
  .irp n, \registers
  v_mov_b32_e32 v94, s\n
  global_store_dword v95, v94, s[6:7]
  v_add_u32_e32 v95, 0x100, v95
  .endr
.endm
.text
.globl corpus
.p2align 8
.type corpus,@function
corpus:
@FIRST@
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[10:11], s[0:1], 0x10
  v_lshlrev_b32_e32 v0, 2, v0
  v_mov_b32_e32 v95, v0
  s_waitcnt lgkmcnt(0)
  s_load_dwordx16 s[16:31], s[4:5], 0x0
  .irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  global_load_dword v\n, v0, s[4:5] offset:\n*256
  .endr
  s_add_u32 s8, s4, 0x1000
  s_addc_u32 s9, s5, 0
  .irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  global_load_dword v\n, v0, s[8:9] offset:(\n-16)*256
  .endr
  s_waitcnt vmcnt(0) lgkmcnt(0)
@BODY@
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel corpus
  .amdhsa_next_free_vgpr 192
  .amdhsa_next_free_sgpr 100
  .amdhsa_accum_offset 96
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 24
  .amdhsa_group_segment_fixed_size @LDS@
  .amdhsa_private_segment_fixed_size @SCRATCH@
  .amdhsa_float_denorm_mode_32 3
@DESCRIPTOR@
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--@ARCH@
amdhsa.kernels:
  - .name: corpus
    .symbol: corpus.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: @LDS@
    .private_segment_fixed_size: @SCRATCH@
    .wavefront_size: 64
    .sgpr_count: 100
    .vgpr_count: 192
    .agpr_count: 96
    .max_flat_workgroup_size: 64
    .args:
      - {.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}
      - {.size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}
      - {.size: 8, .offset: 16, .value_kind: global_buffer, .address_space: global}
...
.end_amdgpu_metadata
