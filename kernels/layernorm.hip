// LayerNorm: y = (x - mean) * rstd * weight + bias with rstd = 1 / sqrt(variance
// + epsilon) of each row, and its gradients. Rows lie one behind the other, and
// arrays begin at multiples of 16 bytes. `wide` is a weight and a bias in f32
// beside rows in bf16.
//
// Rows are kept in registers, and the weight for all rows of a team, as in
// rmsnorm.hip.
//
// The gradients of weight and bias are sums over rows, taken in two stages in
// a fixed order: bands of 40 rows, then the bands, which
// rmsnorm_backward_weight_* adds.
//
// kernels:  layernorm_forward_f32, layernorm_forward_bf16, layernorm_forward_bf16_wide
// computes: `many` rows of y, their means and their rstd a team; ceil(rows / many) teams
// tiles:    1 row, 8 waves x 512 columns at a time
// lds:      [0, 32) sums of the waves
// limit:    workgroup 512, vgprs 168, sgprs 80, lds 32
//
// kernels:  layernorm_backward_f32, layernorm_backward_bf16, layernorm_backward_bf16_wide
// computes: the gradient of x for a band of 40 rows, and the band's parts of the gradients of weight and
//           bias; ceil(rows / 40) teams
// tiles:    1 row, 8 waves x 512 columns at a time
// lds:      sums of the waves; mean, rstd and both means of each row where rows are read twice
// limit:    workgroup 512, vgprs 256, sgprs 106, lds 672
#include "device.h"
#include "reduce.h"
#include "rows.h"
#include "vector.h"

constexpr u32 BAND = 40;

// 16384 columns in 16 bits, half as many in 32.
template <typename T>
DEVICE constexpr u32 steps_of() {
    return sizeof(T) == 2 ? 4 : 2;
}

// The values of a block that are there, 0 for the others.
template <typename Move, typename V>
DEVICE V only(V value, u32 here) {
    if constexpr (sizeof(V) == sizeof(f32)) {
        return Move::index(0) < here ? value : 0.0f;
    } else {
#pragma unroll
        for (u32 i = 0; i < 8; ++i) {
            value[i] = Move::index(i) < here ? value[i] : 0.0f;
        }
        return value;
    }
}

template <typename T, typename W>
DEVICE void forward(const T* x, const W* weight, const W* bias, T* y, f32* means, f32* rstds, u32 rows, u32 columns,
                    u32 many, f32 epsilon) {
    auto rstd_of = [=](f32 squares) { return 1.0f / __builtin_sqrtf(squares / (f32)columns + epsilon); };
    auto held = [=](auto cut) {
        typedef decltype(cut) C;
        typedef typename C::Move Move;
        typedef typename C::Team Team;
        typename Eight<W>::type w[C::STEPS], b[C::STEPS];
        C::blocks(columns, [&](u32 step, u32 first, u32 here) {
            w[step] = Move::load(weight + first, here);
            b[step] = Move::load(bias + first, here);
        });
        u64 row = Team::number() * many, end = smaller<u64>(rows, row + many);
        for (; row < end; ++row) {
            typename Eight<T>::type kept[C::STEPS];
            C::blocks(columns, [&](u32 step, u32 first, u32 here) {
                kept[step] = Move::load(x + row * columns + first, here);
            });
            f32x8 sum = 0.0f, squares = 0.0f;
            C::blocks(columns, [&](u32 step, u32, u32) { sum += widen(kept[step]); });
            f32 mean = Team::template over<Sum>(sum) / (f32)columns;
            C::blocks(columns, [&](u32 step, u32, u32 here) {
                f32x8 off = only<Move>(widen(kept[step]) - mean, here);
                squares = fused(off, off, squares);
            });
            f32 rstd = rstd_of(Team::template over<Sum>(squares));
            if (Team::is_first()) {
                means[row] = mean;
                rstds[row] = rstd;
            }
            C::blocks(columns, [&](u32 step, u32 first, u32 here) {
                f32x8 unit = (widen(kept[step]) - mean) * rstd;
                Move::store(y + row * columns + first, unit * widen(w[step]) + widen(b[step]), here);
            });
        }
    };
    auto stream_rows = [=](auto move) {
        typedef decltype(move) Move;
        u64 row = (u64)workgroup() * many, end = smaller<u64>(rows, row + many);
        for (; row < end; ++row) {
            const T* in = x + row * columns;
            T* out = y + row * columns;
            f32 sum = 0.0f, squares = 0.0f;
            stream<Move>(columns, [&](u32 first, u32 here) {
                sum += over_lane<Sum>(widen(Move::load(in + first, here)));
            });
            f32 mean = Together::over<Sum>(sum) / (f32)columns;
            stream<Move>(columns, [&](u32 first, u32 here) {
                auto off = only<Move>(widen(Move::load(in + first, here)) - mean, here);
                squares += over_lane<Sum>(off * off);
            });
            f32 rstd = rstd_of(Together::over<Sum>(squares));
            if (Together::is_first()) {
                means[row] = mean;
                rstds[row] = rstd;
            }
            stream<Move>(columns, [&](u32 first, u32 here) {
                auto unit = (widen(Move::load(in + first, here)) - mean) * rstd;
                auto scaled = unit * widen(Move::load(weight + first, here));
                Move::store(out + first, scaled + widen(Move::load(bias + first, here)), here);
            });
        }
    };
    auto streamed = [=](bool whole) { whole ? stream_rows(Wide<order_of<T>()>()) : stream_rows(Single()); };
    cut_rows<order_of<T>(), aligned_count<T>(), steps_of<T>()>(columns, held, streamed);
}

// With d = gradient * weight and u = (x - mean) * rstd:
// dx = rstd * (d - mean(d) - u * mean(d * u)).
template <typename C, typename T, typename W>
DEVICE void backward_held(const T* gradient, const T* x, const W* weight, const f32* means, const f32* rstds, T* of_x,
                          f32* of_weight, f32* of_bias, u32 rows, u32 columns) {
    typedef typename C::Move Move;
    typedef typename C::Team Team;
    u64 band = Team::number(), row = band * BAND, end = smaller<u64>(rows, row + BAND);
    if (row >= rows) {
        return;
    }
    typename Eight<W>::type w[C::STEPS];
    f32x8 weight_part[C::STEPS], bias_part[C::STEPS];
    C::blocks(columns, [&](u32 step, u32 first, u32 here) {
        w[step] = Move::load(weight + first, here);
        weight_part[step] = 0.0f;
        bias_part[step] = 0.0f;
    });
    for (; row < end; ++row) {
        typename Eight<T>::type g[C::STEPS], kept[C::STEPS];
        u64 at = row * columns;
        C::blocks(columns, [&](u32 step, u32 first, u32 here) {
            g[step] = Move::load(gradient + at + first, here);
            kept[step] = Move::load(x + at + first, here);
        });
        f32 mean = together(means + row), rstd = together(rstds + row);
        f32x8 sum = 0.0f, product = 0.0f;
        C::blocks(columns, [&](u32 step, u32, u32) {
            f32x8 d = widen(g[step]) * widen(w[step]);
            sum += d;
            product = fused(d, (widen(kept[step]) - mean) * rstd, product);
        });
        f32 plain = Team::template over<Sum>(sum) / (f32)columns;
        f32 scaled = Team::template over<Sum>(product) / (f32)columns;
        C::blocks(columns, [&](u32 step, u32 first, u32 here) {
            f32x8 d = widen(g[step]), unit = (widen(kept[step]) - mean) * rstd;
            Move::store(of_x + at + first, rstd * (d * widen(w[step]) - plain - unit * scaled), here);
            weight_part[step] = fused(d, unit, weight_part[step]);
            bias_part[step] += d;
        });
    }
    C::blocks(columns, [&](u32 step, u32 first, u32 here) {
        Move::store(of_weight + band * columns + first, weight_part[step], here);
        Move::store(of_bias + band * columns + first, bias_part[step], here);
    });
}

// The same where rows are read twice: first a row per wave, then a column per lane.
template <typename T, typename W>
DEVICE void backward_streamed(const T* gradient, const T* x, const W* weight, const f32* means, const f32* rstds,
                              T* of_x, f32* of_weight, f32* of_bias, u32 rows, u32 columns) {
    SHARED f32 centers[BAND];
    SHARED f32 scales[BAND];
    SHARED f32 plain[BAND];
    SHARED f32 scaled[BAND];
    u64 first = (u64)workgroup() * BAND;
    u32 here = (u32)smaller<u64>(BAND, rows - first);
    for (u32 row = wave_of_workgroup(); row < here; row += ROW_WAVES) {
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
    for (u32 column = lane_of_workgroup(); column < columns; column += ROW_WAVES * WAVE) {
        f32 w = (f32)weight[column];
        f32 weight_part = 0.0f, bias_part = 0.0f;
        u64 at = first * columns + column;
        // Two at once: more addresses than that do not fit the scalar registers.
#pragma unroll 2
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

template <typename T, typename W>
DEVICE void backward(const T* gradient, const T* x, const W* weight, const f32* means, const f32* rstds, T* of_x,
                     f32* of_weight, f32* of_bias, u32 rows, u32 columns) {
    auto held = [=](auto cut) {
        typedef decltype(cut) C;
        backward_held<C>(gradient, x, weight, means, rstds, of_x, of_weight, of_bias, rows, columns);
    };
    auto streamed = [=](bool) {
        backward_streamed(gradient, x, weight, means, rstds, of_x, of_weight, of_bias, rows, columns);
    };
    cut_rows<order_of<T>(), aligned_count<T>(), steps_of<T>()>(columns, held, streamed);
}

KERNEL(512)
layernorm_forward_f32(const f32* x, const f32* weight, const f32* bias, f32* y, f32* means, f32* rstds, u32 rows,
                      u32 columns, u32 many, f32 epsilon) {
    forward(x, weight, bias, y, means, rstds, rows, columns, many, epsilon);
}

KERNEL(512)
layernorm_backward_f32(const f32* gradient, const f32* x, const f32* weight, const f32* means, const f32* rstds,
                       f32* of_x, f32* of_weight, f32* of_bias, u32 rows, u32 columns) {
    backward(gradient, x, weight, means, rstds, of_x, of_weight, of_bias, rows, columns);
}

KERNEL(512)
layernorm_forward_bf16(const bf16* x, const bf16* weight, const bf16* bias, bf16* y, f32* means, f32* rstds, u32 rows,
                      u32 columns, u32 many, f32 epsilon) {
    forward(x, weight, bias, y, means, rstds, rows, columns, many, epsilon);
}

KERNEL(512)
layernorm_backward_bf16(const bf16* gradient, const bf16* x, const bf16* weight, const f32* means, const f32* rstds,
                       bf16* of_x, f32* of_weight, f32* of_bias, u32 rows, u32 columns) {
    backward(gradient, x, weight, means, rstds, of_x, of_weight, of_bias, rows, columns);
}

KERNEL(512)
layernorm_forward_bf16_wide(const bf16* x, const f32* weight, const f32* bias, bf16* y, f32* means, f32* rstds, u32 rows,
                      u32 columns, u32 many, f32 epsilon) {
    forward(x, weight, bias, y, means, rstds, rows, columns, many, epsilon);
}

KERNEL(512)
layernorm_backward_bf16_wide(const bf16* gradient, const bf16* x, const f32* weight, const f32* means, const f32* rstds,
                       bf16* of_x, f32* of_weight, f32* of_bias, u32 rows, u32 columns) {
    backward(gradient, x, weight, means, rstds, of_x, of_weight, of_bias, rows, columns);
}
