// LayerNorm: y = (x - mean) * rstd * weight + bias with rstd = 1 / sqrt(variance
// + epsilon) of each row, and its gradients. Rows lie one behind the other.
// `wide` is a weight and a bias in f32 beside rows in bf16.
//
// The gradients of weight and bias are sums over rows, taken in two stages in
// a fixed order: bands of 32 rows, then the bands from first to last, which
// rmsnorm_backward_weight_* adds.
//
// kernels:  layernorm_forward_f32, layernorm_forward_bf16, layernorm_forward_bf16_wide
// computes: one row of y, its mean and its rstd; one workgroup per row
// tiles:    1 row, 256 columns at a time
// lds:      [0, 16) sums of the four waves
// limit:    workgroup 256, vgprs 40, sgprs 64, lds 16
//
// kernels:  layernorm_backward_f32, layernorm_backward_bf16, layernorm_backward_bf16_wide
// computes: the gradient of x for a band of 32 rows, and the band's parts of the gradients of weight and
//           bias; ceil(rows / 32) workgroups
// tiles:    32 rows; first a row per wave, then 256 columns at a time
// lds:      [0, 256) mean and rstd of each row, [256, 512) the row's means of the gradient and of the
//           gradient times the normalised row
// limit:    workgroup 256, vgprs 64, sgprs 106, lds 512
#include "device.h"
#include "reduce.h"

constexpr u32 BAND = 32;

template <typename T, typename W>
DEVICE void forward(const T* x, const W* weight, const W* bias, T* y, f32* means, f32* rstds, u32 columns,
                    f32 epsilon) {
    SHARED f32 scratch[4];
    u64 row = workgroup();
    const T* in = x + row * columns;
    T* out = y + row * columns;
    f32 sum = 0.0f;
    for (u32 column = lane_of_workgroup(); column < columns; column += 256) {
        sum += (f32)in[column];
    }
    f32 mean = over_workgroup<Sum, 4>(sum, scratch) / (f32)columns;
    f32 squares = 0.0f;
    for (u32 column = lane_of_workgroup(); column < columns; column += 256) {
        f32 off = (f32)in[column] - mean;
        squares = __builtin_fmaf(off, off, squares);
    }
    squares = over_workgroup<Sum, 4>(squares, scratch);
    f32 rstd = 1.0f / __builtin_sqrtf(squares / (f32)columns + epsilon);
    if (lane_of_workgroup() == 0) {
        means[row] = mean;
        rstds[row] = rstd;
    }
    for (u32 column = lane_of_workgroup(); column < columns; column += 256) {
        out[column] = (T)(((f32)in[column] - mean) * rstd * (f32)weight[column] + (f32)bias[column]);
    }
}

// With d = gradient * weight and u = (x - mean) * rstd:
// dx = rstd * (d - mean(d) - u * mean(d * u)).
template <typename T, typename W>
DEVICE void backward(const T* gradient, const T* x, const W* weight, const f32* means, const f32* rstds, T* of_x,
                     f32* of_weight, f32* of_bias, u32 rows, u32 columns) {
    SHARED f32 centers[BAND];
    SHARED f32 scales[BAND];
    SHARED f32 plain[BAND];
    SHARED f32 scaled[BAND];
    u64 first = (u64)workgroup() * BAND;
    u32 here = (u32)smaller<u64>(BAND, rows - first);
    for (u32 row = wave_of_workgroup(); row < here; row += 4) {
        u64 at = (first + row) * columns;
        f32 mean = means[first + row], rstd = rstds[first + row];
        f32 sum = 0.0f, product = 0.0f;
        for (u32 column = lane_of_wave(); column < columns; column += WAVE) {
            f32 d = (f32)gradient[at + column] * (f32)weight[column];
            sum += d;
            product = __builtin_fmaf(d, ((f32)x[at + column] - mean) * rstd, product);
        }
        sum = over_wave<Sum>(sum);
        product = over_wave<Sum>(product);
        if (lane_of_wave() == 0) {
            centers[row] = mean;
            scales[row] = rstd;
            plain[row] = sum / (f32)columns;
            scaled[row] = product / (f32)columns;
        }
    }
    barrier();
    for (u32 column = lane_of_workgroup(); column < columns; column += 256) {
        f32 w = (f32)weight[column];
        f32 weight_part = 0.0f, bias_part = 0.0f;
        u64 at = first * columns + column;
        for (u32 row = 0; row < here; ++row, at += columns) {
            f32 g = (f32)gradient[at], unit = ((f32)x[at] - centers[row]) * scales[row];
            of_x[at] = (T)(scales[row] * (g * w - plain[row] - unit * scaled[row]));
            weight_part = __builtin_fmaf(g, unit, weight_part);
            bias_part += g;
        }
        of_weight[(u64)workgroup() * columns + column] = weight_part;
        of_bias[(u64)workgroup() * columns + column] = bias_part;
    }
}

KERNEL(256)
layernorm_forward_f32(const f32* x, const f32* weight, const f32* bias, f32* y, f32* means, f32* rstds, u32 columns,
                      f32 epsilon) {
    forward(x, weight, bias, y, means, rstds, columns, epsilon);
}

KERNEL(256)
layernorm_backward_f32(const f32* gradient, const f32* x, const f32* weight, const f32* means, const f32* rstds,
                       f32* of_x, f32* of_weight, f32* of_bias, u32 rows, u32 columns) {
    backward(gradient, x, weight, means, rstds, of_x, of_weight, of_bias, rows, columns);
}

KERNEL(256)
layernorm_forward_bf16(const bf16* x, const bf16* weight, const bf16* bias, bf16* y, f32* means, f32* rstds, u32 columns,
                      f32 epsilon) {
    forward(x, weight, bias, y, means, rstds, columns, epsilon);
}

KERNEL(256)
layernorm_backward_bf16(const bf16* gradient, const bf16* x, const bf16* weight, const f32* means, const f32* rstds,
                       bf16* of_x, f32* of_weight, f32* of_bias, u32 rows, u32 columns) {
    backward(gradient, x, weight, means, rstds, of_x, of_weight, of_bias, rows, columns);
}

KERNEL(256)
layernorm_forward_bf16_wide(const bf16* x, const f32* weight, const f32* bias, bf16* y, f32* means, f32* rstds, u32 columns,
                      f32 epsilon) {
    forward(x, weight, bias, y, means, rstds, columns, epsilon);
}

KERNEL(256)
layernorm_backward_bf16_wide(const bf16* gradient, const bf16* x, const f32* weight, const f32* means, const f32* rstds,
                       bf16* of_x, f32* of_weight, f32* of_bias, u32 rows, u32 columns) {
    backward(gradient, x, weight, means, rstds, of_x, of_weight, of_bias, rows, columns);
}
