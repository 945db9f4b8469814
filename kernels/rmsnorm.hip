// RMSNorm: y = x * rstd * weight with rstd = 1 / sqrt(mean(x^2) + epsilon) of
// each row, and its gradients. Rows lie one behind the other.
//
// The gradient of the weight is a sum over rows. It is taken in two stages in
// a fixed order: bands of 32 rows, then the bands from first to last. The
// number of bands depends on the rows alone, so the bits depend on no schedule.
//
// `wide` is a weight in f32 beside rows in bf16; `add` adds a residual to the
// gradient of x.
//
// kernels:  rmsnorm_forward_f32, rmsnorm_forward_bf16, rmsnorm_forward_bf16_wide
// computes: one row of y and its rstd; one workgroup per row
// tiles:    1 row, 256 columns at a time
// lds:      [0, 16) sums of the four waves
// limit:    workgroup 256, vgprs 32, sgprs 48, lds 16
//
// kernels:  rmsnorm_backward_rows_f32, rmsnorm_backward_rows_bf16, rmsnorm_backward_rows_bf16_wide,
//           rmsnorm_backward_rows_add_f32, rmsnorm_backward_rows_add_bf16, rmsnorm_backward_rows_add_bf16_wide
// computes: the gradient of x for a band of 32 rows, and the band's part of the gradient of the weight;
//           ceil(rows / 32) workgroups
// tiles:    32 rows; first a row per wave, then 256 columns at a time
// lds:      [0, 128) rstd of each row, [128, 256) the row's factor of x
// limit:    workgroup 256, vgprs 48, sgprs 96, lds 256
//
// kernels:  rmsnorm_backward_weight_f32, rmsnorm_backward_weight_bf16
// computes: 256 columns of the gradient of the weight from all bands; ceil(columns / 256) workgroups
// tiles:    all bands x 256 columns
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 32, lds 0
#include "device.h"
#include "reduce.h"

constexpr u32 BAND = 32;

template <typename T, typename W>
DEVICE void forward(const T* x, const W* weight, T* y, f32* rstd, u32 columns, f32 epsilon) {
    SHARED f32 scratch[4];
    u64 row = workgroup();
    const T* in = x + row * columns;
    T* out = y + row * columns;
    f32 squares = 0.0f;
    for (u32 column = lane_of_workgroup(); column < columns; column += 256) {
        f32 value = (f32)in[column];
        squares = __builtin_fmaf(value, value, squares);
    }
    squares = over_workgroup<Sum, 4>(squares, scratch);
    f32 scale = 1.0f / __builtin_sqrtf(squares / (f32)columns + epsilon);
    if (lane_of_workgroup() == 0) {
        rstd[row] = scale;
    }
    for (u32 column = lane_of_workgroup(); column < columns; column += 256) {
        out[column] = (T)((f32)in[column] * scale * (f32)weight[column]);
    }
}

// With d = gradient * weight: dx = rstd * d - x * rstd^3 * mean(d * x), plus
// the residual where one is added.
template <bool ADD, typename T, typename W>
DEVICE void backward_rows(const T* gradient, const T* x, const W* weight, const f32* rstd, const T* residual, T* of_x,
                          f32* of_weight, u32 rows, u32 columns) {
    SHARED f32 scales[BAND];
    SHARED f32 factors[BAND];
    u64 first = (u64)workgroup() * BAND;
    u32 here = (u32)smaller<u64>(BAND, rows - first);
    for (u32 row = wave_of_workgroup(); row < here; row += 4) {
        u64 at = (first + row) * columns;
        f32 sum = 0.0f;
        for (u32 column = lane_of_wave(); column < columns; column += WAVE) {
            f32 d = (f32)gradient[at + column] * (f32)weight[column];
            sum = __builtin_fmaf(d, (f32)x[at + column], sum);
        }
        sum = over_wave<Sum>(sum);
        if (lane_of_wave() == 0) {
            f32 scale = rstd[first + row];
            scales[row] = scale;
            factors[row] = scale * scale * scale * (sum / (f32)columns);
        }
    }
    barrier();
    for (u32 column = lane_of_workgroup(); column < columns; column += 256) {
        f32 w = (f32)weight[column];
        f32 part = 0.0f;
        u64 at = first * columns + column;
        // Two at once: more addresses than that do not fit the scalar registers.
#pragma unroll 2
        for (u32 row = 0; row < here; ++row, at += columns) {
            f32 g = (f32)gradient[at], value = (f32)x[at], scale = scales[row];
            f32 of_value = scale * w * g - value * factors[row];
            of_x[at] = (T)(ADD ? of_value + (f32)residual[at] : of_value);
            part = __builtin_fmaf(g * scale, value, part);
        }
        of_weight[(u64)workgroup() * columns + column] = part;
    }
}

template <typename T>
DEVICE void backward_weight(const f32* parts, T* of_weight, u32 bands, u32 columns) {
    u32 column = workgroup() * 256 + lane_of_workgroup();
    if (column >= columns) {
        return;
    }
    f32 sum = 0.0f;
    for (u32 band = 0; band < bands; ++band) {
        sum += parts[(u64)band * columns + column];
    }
    of_weight[column] = (T)sum;
}

KERNEL(256)
rmsnorm_forward_f32(const f32* x, const f32* weight, f32* y, f32* rstd, u32 columns, f32 epsilon) {
    forward(x, weight, y, rstd, columns, epsilon);
}

KERNEL(256)
rmsnorm_forward_bf16(const bf16* x, const bf16* weight, bf16* y, f32* rstd, u32 columns, f32 epsilon) {
    forward(x, weight, y, rstd, columns, epsilon);
}

KERNEL(256)
rmsnorm_forward_bf16_wide(const bf16* x, const f32* weight, bf16* y, f32* rstd, u32 columns, f32 epsilon) {
    forward(x, weight, y, rstd, columns, epsilon);
}

KERNEL(256)
rmsnorm_backward_rows_f32(const f32* gradient, const f32* x, const f32* weight, const f32* rstd, f32* of_x,
                          f32* of_weight, u32 rows, u32 columns) {
    backward_rows<false>(gradient, x, weight, rstd, (const f32*)nullptr, of_x, of_weight, rows, columns);
}

KERNEL(256)
rmsnorm_backward_rows_bf16(const bf16* gradient, const bf16* x, const bf16* weight, const f32* rstd, bf16* of_x,
                           f32* of_weight, u32 rows, u32 columns) {
    backward_rows<false>(gradient, x, weight, rstd, (const bf16*)nullptr, of_x, of_weight, rows, columns);
}

KERNEL(256)
rmsnorm_backward_rows_bf16_wide(const bf16* gradient, const bf16* x, const f32* weight, const f32* rstd, bf16* of_x,
                                f32* of_weight, u32 rows, u32 columns) {
    backward_rows<false>(gradient, x, weight, rstd, (const bf16*)nullptr, of_x, of_weight, rows, columns);
}

KERNEL(256)
rmsnorm_backward_rows_add_f32(const f32* gradient, const f32* x, const f32* weight, const f32* rstd,
                              const f32* residual, f32* of_x, f32* of_weight, u32 rows, u32 columns) {
    backward_rows<true>(gradient, x, weight, rstd, residual, of_x, of_weight, rows, columns);
}

KERNEL(256)
rmsnorm_backward_rows_add_bf16(const bf16* gradient, const bf16* x, const bf16* weight, const f32* rstd,
                               const bf16* residual, bf16* of_x, f32* of_weight, u32 rows, u32 columns) {
    backward_rows<true>(gradient, x, weight, rstd, residual, of_x, of_weight, rows, columns);
}

KERNEL(256)
rmsnorm_backward_rows_add_bf16_wide(const bf16* gradient, const bf16* x, const f32* weight, const f32* rstd,
                                    const bf16* residual, bf16* of_x, f32* of_weight, u32 rows, u32 columns) {
    backward_rows<true>(gradient, x, weight, rstd, residual, of_x, of_weight, rows, columns);
}

KERNEL(256) rmsnorm_backward_weight_f32(const f32* parts, f32* of_weight, u32 bands, u32 columns) {
    backward_weight(parts, of_weight, bands, columns);
}

KERNEL(256) rmsnorm_backward_weight_bf16(const f32* parts, bf16* of_weight, u32 bands, u32 columns) {
    backward_weight(parts, of_weight, bands, columns);
}
