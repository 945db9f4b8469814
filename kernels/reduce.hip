// Sums, means and maxima over dims, and sums of squares, in an order that
// depends on the shape alone.
//
// kernels:  reduce_f32, reduce_bf16
// computes: one element of the result, in f32; one workgroup per element
// tiles:    256 elements at a time
// lds:      [0, 16) parts of the four waves
// limit:    workgroup 256, vgprs 48, sgprs 96, lds 16
//
// kernels:  sum_squares_f32, sum_squares_bf16
// computes: the sum of the squares of 4096 elements; ceil(count / 4096) workgroups
// tiles:    4096 elements
// lds:      [0, 16) parts of the four waves
// limit:    workgroup 256, vgprs 32, sgprs 48, lds 16
//
// kernels:  sum_parts
// computes: the sum of all parts; one workgroup
// tiles:    256 parts at a time
// lds:      [0, 16) parts of the four waves
// limit:    workgroup 256, vgprs 32, sgprs 32, lds 16
#include "device.h"
#include "geometry.h"
#include "reduce.h"

enum class Reduction : u32 { Sum, Mean, Max };

template <typename T>
DEVICE void reduce(const T* in, T* out, const Geometry<1>& kept, const Geometry<1>& reduced, u32 kind) {
    SHARED f32 scratch[4];
    bool largest = (Reduction)kind == Reduction::Max;
    u64 base[1];
    kept.at(workgroup(), base);
    f32 value = largest ? -__builtin_inff() : 0.0f;
    for (u32 index = lane_of_workgroup(); index < reduced.count; index += 256) {
        u64 offset[1];
        reduced.at(index, offset);
        f32 element = (f32)in[base[0] + offset[0]];
        value = largest ? __builtin_fmaxf(value, element) : value + element;
    }
    value = largest ? over_workgroup<Max, 4>(value, scratch) : over_workgroup<Sum, 4>(value, scratch);
    if ((Reduction)kind == Reduction::Mean) {
        value /= (f32)reduced.count;
    }
    if (lane_of_workgroup() == 0) {
        out[workgroup()] = (T)value;
    }
}

template <typename T>
DEVICE void sum_squares(const T* x, f32* parts, u64 count) {
    SHARED f32 scratch[4];
    u64 first = (u64)workgroup() * 4096 + lane_of_workgroup();
    f32 sum = 0.0f;
    for (u32 step = 0; step < 16; ++step) {
        u64 at = first + step * 256;
        f32 value = at < count ? (f32)x[at] : 0.0f;
        sum = __builtin_fmaf(value, value, sum);
    }
    sum = over_workgroup<Sum, 4>(sum, scratch);
    if (lane_of_workgroup() == 0) {
        parts[workgroup()] = sum;
    }
}

KERNEL(256) reduce_f32(const f32* in, f32* out, Geometry<1> kept, Geometry<1> reduced, u32 kind) {
    reduce(in, out, kept, reduced, kind);
}

KERNEL(256) reduce_bf16(const bf16* in, bf16* out, Geometry<1> kept, Geometry<1> reduced, u32 kind) {
    reduce(in, out, kept, reduced, kind);
}

KERNEL(256) sum_squares_f32(const f32* x, f32* parts, u64 count) { sum_squares(x, parts, count); }

KERNEL(256) sum_squares_bf16(const bf16* x, f32* parts, u64 count) { sum_squares(x, parts, count); }

KERNEL(256) sum_parts(const f32* parts, f32* out, u32 count) {
    SHARED f32 scratch[4];
    f32 sum = 0.0f;
    for (u32 index = lane_of_workgroup(); index < count; index += 256) {
        sum += parts[index];
    }
    sum = over_workgroup<Sum, 4>(sum, scratch);
    if (lane_of_workgroup() == 0) {
        out[0] = sum;
    }
}
