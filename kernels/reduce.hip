// Sums, means and maxima over dims, and sums of squares, in an order that
// depends on the shape alone.
//
// kernels:  reduce_f32, reduce_bf16
// computes: one element of the result, in f32; one workgroup per element
// tiles:    4 waves x 512 elements at a time where they lie behind each other from a multiple of 16 bytes
//           on, else 256 elements
// lds:      [0, 16) parts of the four waves
// limit:    workgroup 256, vgprs 48, sgprs 104, lds 16
//
// kernels:  reduce_columns_f32, reduce_columns_bf16
// computes: for 256 lanes x 16 bytes of elements of the result that lie behind each other as their inputs do,
//           the part of a band of 64 inputs, or the result where there is one band; runs x bands workgroups
// tiles:    256 lanes x 16 bytes where rows of `inner` are a multiple, else an element
// lds:      none
// limit:    workgroup 256, vgprs 64, sgprs 104, lds 0
//
// kernels:  reduce_bands_f32, reduce_bands_bf16
// computes: 1024 elements of the result from the parts of all bands, in order; ceil(count / 1024) workgroups
// tiles:    256 lanes x 16 bytes where `count` is a multiple, else 256 elements at a time
// lds:      none
// limit:    workgroup 256, vgprs 48, sgprs 64, lds 0
//
// kernels:  sum_squares_f32, sum_squares_bf16
// computes: the sum of the squares of 16384 elements; ceil(count / 16384) workgroups; arrays begin at
//           multiples of 16 bytes
// tiles:    4 waves x 512 elements at a time
// lds:      [0, 16) parts of the four waves
// limit:    workgroup 256, vgprs 64, sgprs 48, lds 16
//
// kernels:  sum_parts
// computes: the sum of all parts; one workgroup
// tiles:    1024 lanes x 4 parts at a time
// lds:      [0, 64) parts of the waves
// limit:    workgroup 1024, vgprs 32, sgprs 32, lds 64
#include "device.h"
#include "geometry.h"
#include "reduce.h"
#include "vector.h"

enum class Reduction : u32 { Sum, Mean, Max };

// Two values in one, each of its own place in vectors.
template <typename V>
DEVICE V both(bool largest, V a, V b) {
    if (largest) {
        return __builtin_elementwise_max(a, b);
    }
    return a + b;
}

DEVICE f32 neutral(bool largest) { return largest ? -__builtin_inff() : 0.0f; }

template <typename T>
DEVICE void reduce(const T* in, T* out, const Geometry<1>& kept, const Geometry<1>& reduced, u32 kind) {
    SHARED f32 scratch[4];
    bool largest = (Reduction)kind == Reduction::Max;
    f32 rest = neutral(largest), value = rest;
    u64 base[1];
    kept.at(workgroup(), base);
    const T* row = in + base[0];
    bool line = reduced.dims[4] == 1 && (reduced.dims[5] == 1 || reduced.strides[0][5] == 1);
    if (line && is_aligned(row)) {
        constexpr u32 ALIGNED = 16 / sizeof(T);
        u32 whole = reduced.count / ALIGNED * ALIGNED;
        typedef Wide<order_of<T>()> Move;
        f32x8 values = rest;
        for (u32 first = wave_of_workgroup() * Move::COUNT; first < whole; first += 4 * Move::COUNT) {
            u32 here = smaller(Move::COUNT, whole - first);
            values = both(largest, values, widen(Move::load(row + first, here, rest)));
        }
        value = largest ? over_lane<Max>(values) : over_lane<Sum>(values);
        if (u32 at = whole + lane_of_workgroup(); at < reduced.count) {
            value = both(largest, value, (f32)row[at]);
        }
    } else {
        for (u32 index = lane_of_workgroup(); index < reduced.count; index += 256) {
            u64 offset[1];
            reduced.at(index, offset);
            value = both(largest, value, (f32)row[offset[0]]);
        }
    }
    value = largest ? over_workgroup<Max, 4>(value, scratch) : over_workgroup<Sum, 4>(value, scratch);
    if ((Reduction)kind == Reduction::Mean) {
        value /= (f32)reduced.count;
    }
    if (lane_of_workgroup() == 0) {
        out[workgroup()] = (T)value;
    }
}

constexpr u32 BAND = 64;

// `groups` workgroups have the elements of the result, once for each band.
template <typename T>
DEVICE void reduce_columns(const T* in, T* out, f32* parts, const Geometry<1>& kept, const Geometry<1>& reduced,
                           u32 groups, u32 kind) {
    bool largest = (Reduction)kind == Reduction::Max, alone = reduced.count <= BAND;
    u32 band = workgroup() / groups, start = band * BAND, end = smaller(reduced.count, start + BAND);
    auto body = [&](auto run) {
        constexpr u32 N = decltype(run)::COUNT;
        typedef VECTOR(f32, N) Values;
        u32 index = (workgroup() % groups * 256 + lane_of_workgroup()) * N;
        if (index >= kept.count) {
            return;
        }
        u64 base[1];
        kept.at(index, base);
        Values values = (Values)neutral(largest);
        for (u32 at = start; at < end; ++at) {
            u64 offset[1];
            reduced.at(at, offset);
            auto given = __builtin_convertvector(run.load(in + base[0] + offset[0]), Values);
            values = both(largest, values, given);
        }
        if (!alone) {
            return Run<N>::store(parts + (u64)band * kept.count + index, values);
        }
        if ((Reduction)kind == Reduction::Mean) {
            values /= (f32)reduced.count;
        }
        run.store(out + index, __builtin_convertvector(values, VECTOR(T, N)));
    };
    constexpr u32 N = 16 / sizeof(T);
    kept.at_once == N ? body(Run<N>()) : body(Run<1>());
}

template <typename T>
DEVICE void reduce_bands(const f32* parts, T* out, u32 bands, u32 count, u32 reduced, u32 kind) {
    bool largest = (Reduction)kind == Reduction::Max;
    auto body = [=](auto run, u32 at) {
        constexpr u32 N = decltype(run)::COUNT;
        typedef VECTOR(f32, N) Values;
        Values values = (Values)neutral(largest);
#pragma unroll 4
        for (u32 band = 0; band < bands; ++band) {
            values = both(largest, values, run.load(parts + (u64)band * count + at));
        }
        if ((Reduction)kind == Reduction::Mean) {
            values /= (f32)reduced;
        }
        run.store(out + at, __builtin_convertvector(values, VECTOR(T, N)));
    };
    u32 first = workgroup() * 1024, lane = lane_of_workgroup();
    if (count % 4 == 0) {
        if (first + lane * 4 < count) {
            body(Run<4>(), first + lane * 4);
        }
        return;
    }
    for (u32 at = first + lane; at < smaller(count, first + 1024); at += 256) {
        body(Run<1>(), at);
    }
}

template <typename T>
DEVICE void sum_squares(const T* x, f32* parts, u64 count) {
    SHARED f32 scratch[4];
    typedef Wide<order_of<T>()> Move;
    u64 first = ((u64)workgroup() * 4 + wave_of_workgroup()) * 4096, end = smaller<u64>(count, first + 4096);
    f32x8 squares = 0.0f;
    f32 sum = 0.0f;
#pragma unroll 2
    for (; first + Move::COUNT <= end; first += Move::COUNT) {
        f32x8 value = widen(Move::load(x + first, Move::COUNT));
        squares = fused(value, value, squares);
    }
    for (u64 at = first + lane_of_wave(); at < end; at += WAVE) {
        f32 value = (f32)x[at];
        sum = fused(value, value, sum);
    }
    sum = over_workgroup<Sum, 4>(sum + over_lane<Sum>(squares), scratch);
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

KERNEL(256)
reduce_columns_f32(const f32* in, f32* out, f32* parts, Geometry<1> kept, Geometry<1> reduced, u32 groups, u32 kind) {
    reduce_columns(in, out, parts, kept, reduced, groups, kind);
}

KERNEL(256)
reduce_columns_bf16(const bf16* in, bf16* out, f32* parts, Geometry<1> kept, Geometry<1> reduced, u32 groups, u32 kind) {
    reduce_columns(in, out, parts, kept, reduced, groups, kind);
}

KERNEL(256) reduce_bands_f32(const f32* parts, f32* out, u32 bands, u32 count, u32 reduced, u32 kind) {
    reduce_bands(parts, out, bands, count, reduced, kind);
}

KERNEL(256) reduce_bands_bf16(const f32* parts, bf16* out, u32 bands, u32 count, u32 reduced, u32 kind) {
    reduce_bands(parts, out, bands, count, reduced, kind);
}

KERNEL(256) sum_squares_f32(const f32* x, f32* parts, u64 count) { sum_squares(x, parts, count); }

KERNEL(256) sum_squares_bf16(const bf16* x, f32* parts, u64 count) { sum_squares(x, parts, count); }

KERNEL(1024) sum_parts(const f32* parts, f32* out, u32 count) {
    SHARED f32 scratch[16];
    f32x4 sums = 0.0f;
    u32 whole = count / 4 * 4;
    for (u32 at = lane_of_workgroup() * 4; at < whole; at += 4096) {
        sums += *(const f32x4*)(parts + at);
    }
    f32 sum = sums[0] + sums[1] + (sums[2] + sums[3]);
    if (u32 at = whole + lane_of_workgroup(); at < count) {
        sum += parts[at];
    }
    sum = over_workgroup<Sum, 16>(sum, scratch);
    if (lane_of_workgroup() == 0) {
        out[0] = sum;
    }
}
