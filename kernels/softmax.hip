// Softmax over rows, and its gradient. Rows lie one behind the other; one
// workgroup per row.
//
// kernels:  softmax_forward_f32, softmax_forward_bf16
// computes: one row of y = exp(x - max) / sum(exp(x - max))
// tiles:    1 row, 256 columns at a time
// lds:      [0, 16) maxima, then sums, of the four waves
// limit:    workgroup 256, vgprs 40, sgprs 48, lds 16
//
// kernels:  softmax_log_forward_f32, softmax_log_forward_bf16
// computes: one row of y = x - max - log(sum(exp(x - max)))
// tiles:    1 row, 256 columns at a time
// lds:      [0, 16) maxima, then sums, of the four waves
// limit:    workgroup 256, vgprs 40, sgprs 48, lds 16
//
// kernels:  softmax_log_backward_f32, softmax_log_backward_bf16
// computes: one row of dx = dy - exp(y) * sum(dy)
// tiles:    1 row, 256 columns at a time
// lds:      [0, 16) sums of the four waves
// limit:    workgroup 256, vgprs 40, sgprs 48, lds 16
//
// kernels:  softmax_backward_f32, softmax_backward_bf16
// computes: one row of dx = y * (dy - sum(y * dy))
// tiles:    1 row, 256 columns at a time
// lds:      [0, 16) sums of the four waves
// limit:    workgroup 256, vgprs 40, sgprs 48, lds 16
#include "device.h"
#include "exp.h"
#include "reduce.h"

template <typename T>
DEVICE void forward(const T* x, T* y, u32 columns) {
    SHARED f32 scratch[4];
    const T* in = x + (u64)workgroup() * columns;
    T* out = y + (u64)workgroup() * columns;
    f32 largest = -__builtin_inff();
    for (u32 column = lane_of_workgroup(); column < columns; column += 256) {
        largest = __builtin_fmaxf(largest, (f32)in[column]);
    }
    largest = over_workgroup<Max, 4>(largest, scratch);
    f32 sum = 0.0f;
    for (u32 column = lane_of_workgroup(); column < columns; column += 256) {
        sum += exponential((f32)in[column] - largest);
    }
    sum = over_workgroup<Sum, 4>(sum, scratch);
    for (u32 column = lane_of_workgroup(); column < columns; column += 256) {
        out[column] = (T)(exponential((f32)in[column] - largest) / sum);
    }
}

template <typename T>
DEVICE void backward(const T* gradient, const T* y, T* of_x, u32 columns) {
    SHARED f32 scratch[4];
    u64 row = (u64)workgroup() * columns;
    f32 sum = 0.0f;
    for (u32 column = lane_of_workgroup(); column < columns; column += 256) {
        sum = __builtin_fmaf((f32)gradient[row + column], (f32)y[row + column], sum);
    }
    sum = over_workgroup<Sum, 4>(sum, scratch);
    for (u32 column = lane_of_workgroup(); column < columns; column += 256) {
        of_x[row + column] = (T)((f32)y[row + column] * ((f32)gradient[row + column] - sum));
    }
}

KERNEL(256) softmax_forward_f32(const f32* x, f32* y, u32 columns) { forward(x, y, columns); }

KERNEL(256) softmax_forward_bf16(const bf16* x, bf16* y, u32 columns) { forward(x, y, columns); }

KERNEL(256) softmax_backward_f32(const f32* gradient, const f32* y, f32* of_x, u32 columns) {
    backward(gradient, y, of_x, columns);
}

KERNEL(256) softmax_backward_bf16(const bf16* gradient, const bf16* y, bf16* of_x, u32 columns) {
    backward(gradient, y, of_x, columns);
}

template <typename T>
DEVICE void log_forward(const T* x, T* y, u32 columns) {
    SHARED f32 scratch[4];
    const T* in = x + (u64)workgroup() * columns;
    T* out = y + (u64)workgroup() * columns;
    f32 largest = -__builtin_inff();
    for (u32 column = lane_of_workgroup(); column < columns; column += 256) {
        largest = __builtin_fmaxf(largest, (f32)in[column]);
    }
    largest = over_workgroup<Max, 4>(largest, scratch);
    f32 sum = 0.0f;
    for (u32 column = lane_of_workgroup(); column < columns; column += 256) {
        sum += exponential((f32)in[column] - largest);
    }
    f32 rest = __builtin_logf(over_workgroup<Sum, 4>(sum, scratch));
    for (u32 column = lane_of_workgroup(); column < columns; column += 256) {
        out[column] = (T)((f32)in[column] - largest - rest);
    }
}

template <typename T>
DEVICE void log_backward(const T* gradient, const T* y, T* of_x, u32 columns) {
    SHARED f32 scratch[4];
    u64 first = (u64)workgroup() * columns;
    f32 sum = 0.0f;
    for (u32 column = lane_of_workgroup(); column < columns; column += 256) {
        sum += (f32)gradient[first + column];
    }
    sum = over_workgroup<Sum, 4>(sum, scratch);
    for (u32 column = lane_of_workgroup(); column < columns; column += 256) {
        f32 of = (f32)gradient[first + column] - exponential((f32)y[first + column]) * sum;
        of_x[first + column] = (T)of;
    }
}

KERNEL(256) softmax_log_forward_f32(const f32* x, f32* y, u32 columns) { log_forward(x, y, columns); }

KERNEL(256) softmax_log_forward_bf16(const bf16* x, bf16* y, u32 columns) { log_forward(x, y, columns); }

KERNEL(256) softmax_log_backward_f32(const f32* gradient, const f32* y, f32* of_x, u32 columns) {
    log_backward(gradient, y, of_x, columns);
}

KERNEL(256) softmax_log_backward_bf16(const bf16* gradient, const bf16* y, bf16* of_x, u32 columns) {
    log_backward(gradient, y, of_x, columns);
}
