// Softmax over rows, and its gradient. Rows lie one behind the other, and
// arrays begin at multiples of 16 bytes.
//
// A row is read once and kept in registers up to 16384 columns where it is a
// multiple of 16 bytes (8192 for gradients in f32); longer and odd ones are
// read once for each of the passes. A team handles a row: a workgroup, or a
// wave where there are at most 512 columns and they are a multiple of 16 bytes:
// then eight teams are a workgroup.
//
// kernels:  softmax_forward_f32, softmax_forward_bf16
// computes: one row of y = exp(x - max) / sum(exp(x - max)) a team
// tiles:    1 row, 8 waves x 512 columns at a time
// lds:      [0, 32) maxima, then sums, of the waves
// limit:    workgroup 512, vgprs 96, sgprs 80, lds 32
//
// kernels:  softmax_log_forward_f32, softmax_log_forward_bf16
// computes: one row of y = x - max - log(sum(exp(x - max))) a team
// tiles:    1 row, 8 waves x 512 columns at a time
// lds:      [0, 32) maxima, then sums, of the waves
// limit:    workgroup 512, vgprs 96, sgprs 80, lds 32
//
// kernels:  softmax_log_backward_f32, softmax_log_backward_bf16
// computes: one row of dx = dy - exp(y) * sum(dy) a team
// tiles:    1 row, 8 waves x 512 columns at a time
// lds:      [0, 32) sums of the waves
// limit:    workgroup 512, vgprs 128, sgprs 80, lds 32
//
// kernels:  softmax_backward_f32, softmax_backward_bf16
// computes: one row of dx = y * (dy - sum(y * dy)) a team
// tiles:    1 row, 8 waves x 512 columns at a time
// lds:      [0, 32) sums of the waves
// limit:    workgroup 512, vgprs 128, sgprs 80, lds 32
#include "device.h"
#include "exp.h"
#include "rows.h"
#include "vector.h"

constexpr f32 NOTHING = -__builtin_inff();

// The sum of exp(x - largest) over a lane's values; of what is not there, 0.
template <typename V>
DEVICE f32 powers(V x, f32 largest) {
    return over_lane<Sum>(each(x - largest, exponential));
}

// A row of the softmax, or of its logarithm.
template <bool LOG, typename T>
DEVICE void forward(const T* x, T* y, u32 rows, u32 columns) {
    constexpr Order ORDER = order_of<T>();
    auto result = [](auto value, f32 largest, f32 rest) {
        if constexpr (LOG) {
            return value - largest - rest;
        } else {
            return each(value - largest, exponential) / rest;
        }
    };
    auto held = [=](auto cut) {
        typedef decltype(cut) C;
        typedef typename C::Move Move;
        typedef typename C::Team Team;
        u64 row = Team::number();
        if (row >= rows) {
            return;
        }
        typename Eight<T>::type kept[C::STEPS];
        f32 largest = NOTHING;
        C::blocks(columns, [&](u32 step, u32 first, u32 here) {
            kept[step] = Move::load(x + row * columns + first, here, NOTHING);
        });
        C::blocks(columns, [&](u32 step, u32, u32) {
            largest = Max::of(largest, over_lane<Max>(widen(kept[step])));
        });
        largest = Team::template over<Max>(largest);
        f32 sum = 0.0f;
        C::blocks(columns, [&](u32 step, u32, u32) { sum += powers(widen(kept[step]), largest); });
        sum = Team::template over<Sum>(sum);
        f32 rest = LOG ? __builtin_logf(sum) : sum;
        C::blocks(columns, [&](u32 step, u32 first, u32 here) {
            Move::store(y + row * columns + first, result(widen(kept[step]), largest, rest), here);
        });
    };
    auto stream_row = [=](auto move) {
        typedef decltype(move) Move;
        const T* in = x + (u64)workgroup() * columns;
        T* out = y + (u64)workgroup() * columns;
        f32 largest = NOTHING;
        stream<Move>(columns, [&](u32 first, u32 here) {
            largest = Max::of(largest, over_lane<Max>(widen(Move::load(in + first, here, NOTHING))));
        });
        largest = Together::over<Max>(largest);
        f32 sum = 0.0f;
        stream<Move>(columns, [&](u32 first, u32 here) {
            sum += powers(widen(Move::load(in + first, here, NOTHING)), largest);
        });
        sum = Together::over<Sum>(sum);
        f32 rest = LOG ? __builtin_logf(sum) : sum;
        stream<Move>(columns, [&](u32 first, u32 here) {
            Move::store(out + first, result(widen(Move::load(in + first, here)), largest, rest), here);
        });
    };
    auto streamed = [=](bool whole) { whole ? stream_row(Wide<ORDER>()) : stream_row(Single()); };
    cut_rows<ORDER, aligned_count<T>(), 4>(columns, held, streamed);
}

// The gradient of a row of the softmax, or of its logarithm.
template <bool LOG, typename T>
DEVICE void backward(const T* gradient, const T* y, T* of_x, u32 rows, u32 columns) {
    constexpr Order ORDER = order_of<T>();
    auto part = [](auto d, auto value) {
        if constexpr (LOG) {
            return over_lane<Sum>(d);
        } else {
            return over_lane<Sum>(d * value);
        }
    };
    auto result = [](auto d, auto value, f32 sum) {
        if constexpr (LOG) {
            return d - each(value, exponential) * sum;
        } else {
            return value * (d - sum);
        }
    };
    auto held = [=](auto cut) {
        typedef decltype(cut) C;
        typedef typename C::Move Move;
        typedef typename C::Team Team;
        u64 row = Team::number();
        if (row >= rows) {
            return;
        }
        typename Eight<T>::type d[C::STEPS], kept[C::STEPS];
        C::blocks(columns, [&](u32 step, u32 first, u32 here) {
            d[step] = Move::load(gradient + row * columns + first, here);
            kept[step] = Move::load(y + row * columns + first, here);
        });
        f32 sum = 0.0f;
        C::blocks(columns, [&](u32 step, u32, u32) { sum += part(widen(d[step]), widen(kept[step])); });
        sum = Team::template over<Sum>(sum);
        C::blocks(columns, [&](u32 step, u32 first, u32 here) {
            Move::store(of_x + row * columns + first, result(widen(d[step]), widen(kept[step]), sum), here);
        });
    };
    auto stream_row = [=](auto move) {
        typedef decltype(move) Move;
        u64 row = (u64)workgroup() * columns;
        f32 sum = 0.0f;
        stream<Move>(columns, [&](u32 first, u32 here) {
            auto d = widen(Move::load(gradient + row + first, here));
            sum += part(d, widen(Move::load(y + row + first, here)));
        });
        sum = Together::over<Sum>(sum);
        stream<Move>(columns, [&](u32 first, u32 here) {
            auto d = widen(Move::load(gradient + row + first, here));
            Move::store(of_x + row + first, result(d, widen(Move::load(y + row + first, here)), sum), here);
        });
    };
    auto streamed = [=](bool whole) { whole ? stream_row(Wide<ORDER>()) : stream_row(Single()); };
    cut_rows<ORDER, aligned_count<T>(), sizeof(T) == 2 ? 4 : 2>(columns, held, streamed);
}

KERNEL(512) softmax_forward_f32(const f32* x, f32* y, u32 rows, u32 columns) { forward<false>(x, y, rows, columns); }

KERNEL(512) softmax_forward_bf16(const bf16* x, bf16* y, u32 rows, u32 columns) { forward<false>(x, y, rows, columns); }

KERNEL(512) softmax_backward_f32(const f32* gradient, const f32* y, f32* of_x, u32 rows, u32 columns) {
    backward<false>(gradient, y, of_x, rows, columns);
}

KERNEL(512) softmax_backward_bf16(const bf16* gradient, const bf16* y, bf16* of_x, u32 rows, u32 columns) {
    backward<false>(gradient, y, of_x, rows, columns);
}

KERNEL(512) softmax_log_forward_f32(const f32* x, f32* y, u32 rows, u32 columns) { forward<true>(x, y, rows, columns); }

KERNEL(512) softmax_log_forward_bf16(const bf16* x, bf16* y, u32 rows, u32 columns) {
    forward<true>(x, y, rows, columns);
}

KERNEL(512) softmax_log_backward_f32(const f32* gradient, const f32* y, f32* of_x, u32 rows, u32 columns) {
    backward<true>(gradient, y, of_x, rows, columns);
}

KERNEL(512) softmax_log_backward_bf16(const bf16* gradient, const bf16* y, bf16* of_x, u32 rows, u32 columns) {
    backward<true>(gradient, y, of_x, rows, columns);
}
