// 8-bit floats by CDNA4's instructions: OCP formats, largest values 448 and 57344.
//
// kernels:  fp8_amax_f32, fp8_amax_bf16
// computes: the largest magnitude of 4096 elements; ceil(count / 4096) workgroups
// tiles:    256 lanes x 16 elements
// lds:      [0, 16) maxima of the four waves
// limit:    workgroup 256, vgprs 32, sgprs 48, lds 16
//
// kernels:  fp8_scale_e4m3, fp8_scale_e5m2
// computes: the scale of a tensor and its inverse from all parts; one workgroup
// tiles:    256 parts at a time
// lds:      [0, 16) maxima of the four waves
// limit:    workgroup 256, vgprs 32, sgprs 48, lds 16
//
// kernels:  fp8_quantize_e4m3_f32, fp8_quantize_e4m3_bf16, fp8_quantize_e5m2_f32, fp8_quantize_e5m2_bf16
// computes: 1024 elements, four a lane, whose arrays begin at multiples of 16 bytes
// tiles:    1024 elements
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 32, lds 0
//
// kernels:  fp8_dequantize_e4m3_f32, fp8_dequantize_e4m3_bf16, fp8_dequantize_e5m2_f32, fp8_dequantize_e5m2_bf16
// computes: 1024 elements, four a lane, whose arrays begin at multiples of 16 bytes
// tiles:    1024 elements
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 32, lds 0
#include "fp8_hardware.h"

FP8_AMAX_KERNELS
FP8_KERNELS(e4m3, Fp8E4m3)
FP8_KERNELS(e5m2, Fp8E5m2)
