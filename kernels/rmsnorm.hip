// RMSNorm: y = x * rstd * weight with rstd = 1 / sqrt(mean(x^2) + epsilon) of
// each row, and its gradients. Rows lie one behind the other, and arrays begin
// at multiples of 16 bytes.
//
// A row is read once and kept in registers up to 16384 columns in bf16 and 8192
// in f32 where it is a multiple of 16 bytes; longer and odd ones are read twice,
// an element a lane in the gradient. The weight is kept for all rows of a team: `many` of them forwards, a band of 32 backwards. A
// team is a workgroup, or a wave where there are at most 512 columns and they
// are a multiple of 16 bytes: then eight teams are a workgroup.
//
// The gradient of the weight is a sum over rows. It is taken in two stages in
// a fixed order: bands of 32 rows, then the bands. The number of bands depends
// on the rows alone, so the bits depend on no schedule.
//
// `wide` is a weight in f32 beside rows in bf16; `add` adds a residual to the
// gradient of x.
//
// kernels:  rmsnorm_forward_f32, rmsnorm_forward_bf16, rmsnorm_forward_bf16_wide
// computes: `many` rows of y and their rstd a team; ceil(rows / many) teams
// tiles:    1 row, 8 waves x 512 columns at a time
// lds:      [0, 32) sums of the waves
// limit:    workgroup 512, vgprs 128, sgprs 80, lds 32
//
// kernels:  rmsnorm_backward_rows_f32, rmsnorm_backward_rows_bf16, rmsnorm_backward_rows_bf16_wide,
//           rmsnorm_backward_rows_add_f32, rmsnorm_backward_rows_add_bf16, rmsnorm_backward_rows_add_bf16_wide
// computes: the gradient of x for a band of 32 rows, and the band's part of the gradient of the weight;
//           ceil(rows / 32) teams
// tiles:    1 row, 8 waves x 512 columns at a time
// lds:      sums of the waves; rstd and the factor of x of each row where rows are read twice
// limit:    workgroup 512, vgprs 208, sgprs 104, lds 288
//
// kernels:  rmsnorm_backward_weight_f32, rmsnorm_backward_weight_bf16
// computes: 256 columns of the gradient of the weight from all bands; ceil(columns / 256) workgroups
// tiles:    8 waves x 1 band x 256 columns
// lds:      [0, 8192) sums of the waves
// limit:    workgroup 512, vgprs 48, sgprs 48, lds 8192
#include "device.h"
#include "reduce.h"
#include "rows.h"
#include "vector.h"

constexpr u32 BAND = 32;

// 16384 columns in 16 bits, half as many in 32.
template <typename T>
DEVICE constexpr u32 steps_of() {
    return sizeof(T) == 2 ? 4 : 2;
}

template <typename T, typename W>
DEVICE void forward(const T* x, const W* weight, T* y, f32* rstd, u32 rows, u32 columns, u32 many, f32 epsilon) {
    auto scale_of = [=](f32 squares) { return 1.0f / __builtin_sqrtf(squares / (f32)columns + epsilon); };
    auto held = [=](auto cut) {
        typedef decltype(cut) C;
        typedef typename C::Move Move;
        typename Eight<W>::type w[C::STEPS];
        C::blocks(columns, [&](u32 step, u32 first, u32 here) { w[step] = Move::load(weight + first, here); });
        u64 row = C::Team::number() * many, end = smaller<u64>(rows, row + many);
        for (; row < end; ++row) {
            typename Eight<T>::type kept[C::STEPS];
            const T* in = x + row * columns;
            T* out = y + row * columns;
            C::blocks(columns, [&](u32 step, u32 first, u32 here) { kept[step] = Move::load(in + first, here); });
            f32x8 squares = 0.0f;
            C::blocks(columns, [&](u32 step, u32, u32) {
                f32x8 value = widen(kept[step]);
                squares = fused(value, value, squares);
            });
            f32 scale = scale_of(C::Team::template over<Sum>(squares));
            if (C::Team::is_first()) {
                rstd[row] = scale;
            }
            C::blocks(columns, [&](u32 step, u32 first, u32 here) {
                Move::store(out + first, widen(kept[step]) * scale * widen(w[step]), here);
            });
        }
    };
    auto stream_rows = [=](auto move) {
        typedef decltype(move) Move;
        u64 row = (u64)workgroup() * many, end = smaller<u64>(rows, row + many);
        for (; row < end; ++row) {
            const T* in = x + row * columns;
            T* out = y + row * columns;
            f32 squares = 0.0f;
            stream<Move>(columns, [&](u32 first, u32 here) {
                auto value = widen(Move::load(in + first, here));
                squares += over_lane<Sum>(value * value);
            });
            f32 scale = scale_of(Together::over<Sum>(squares));
            if (Together::is_first()) {
                rstd[row] = scale;
            }
            stream<Move>(columns, [&](u32 first, u32 here) {
                auto value = widen(Move::load(in + first, here)) * scale;
                Move::store(out + first, value * widen(Move::load(weight + first, here)), here);
            });
        }
    };
    auto streamed = [=](bool whole) { whole ? stream_rows(Wide<order_of<T>()>()) : stream_rows(Single()); };
    cut_rows<order_of<T>(), aligned_count<T>(), steps_of<T>()>(columns, held, streamed);
}

// With d = gradient * weight: dx = rstd * d - x * rstd^3 * mean(d * x), plus
// the residual where one is added.
template <bool ADD, typename C, typename T, typename W>
DEVICE void backward_held(const T* gradient, const T* x, const W* weight, const f32* rstd, const T* residual, T* of_x,
                          f32* of_weight, u32 rows, u32 columns) {
    typedef typename C::Move Move;
    u64 band = C::Team::number(), row = band * BAND, end = smaller<u64>(rows, row + BAND);
    if (row >= rows) {
        return;
    }
    typename Eight<W>::type w[C::STEPS];
    f32x8 part[C::STEPS];
    C::blocks(columns, [&](u32 step, u32 first, u32 here) {
        w[step] = Move::load(weight + first, here);
        part[step] = 0.0f;
    });
    for (; row < end; ++row) {
        typename Eight<T>::type g[C::STEPS], kept[C::STEPS];
        u64 at = row * columns;
        C::blocks(columns, [&](u32 step, u32 first, u32 here) {
            g[step] = Move::load(gradient + at + first, here);
            kept[step] = Move::load(x + at + first, here);
        });
        f32x8 sum = 0.0f;
        C::blocks(columns, [&](u32 step, u32, u32) {
            sum = fused(widen(g[step]) * widen(w[step]), widen(kept[step]), sum);
        });
        f32 scale = together(rstd + row);
        f32 factor = scale * scale * scale * (C::Team::template over<Sum>(sum) / (f32)columns);
        C::blocks(columns, [&](u32 step, u32 first, u32 here) {
            f32x8 d = widen(g[step]), value = widen(kept[step]);
            f32x8 of_value = scale * widen(w[step]) * d - value * factor;
            if constexpr (ADD) {
                of_value += widen(Move::load(residual + at + first, here));
            }
            Move::store(of_x + at + first, of_value, here);
            part[step] = fused(d * scale, value, part[step]);
        });
    }
    C::blocks(columns, [&](u32 step, u32 first, u32 here) {
        Move::store(of_weight + band * columns + first, part[step], here);
    });
}

// The same where rows are read twice: first a row per wave, then a column per lane.
template <bool ADD, typename T, typename W>
DEVICE void backward_streamed(const T* gradient, const T* x, const W* weight, const f32* rstd, const T* residual,
                              T* of_x, f32* of_weight, u32 rows, u32 columns) {
    SHARED f32 scales[BAND];
    SHARED f32 factors[BAND];
    u64 first = (u64)workgroup() * BAND;
    u32 here = (u32)smaller<u64>(BAND, rows - first);
    for (u32 row = wave_of_workgroup(); row < here; row += ROW_WAVES) {
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
    for (u32 column = lane_of_workgroup(); column < columns; column += ROW_WAVES * WAVE) {
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

template <bool ADD, typename T, typename W>
DEVICE void backward_rows(const T* gradient, const T* x, const W* weight, const f32* rstd, const T* residual, T* of_x,
                          f32* of_weight, u32 rows, u32 columns) {
    auto held = [=](auto cut) {
        typedef decltype(cut) C;
        backward_held<ADD, C>(gradient, x, weight, rstd, residual, of_x, of_weight, rows, columns);
    };
    auto streamed = [=](bool) {
        backward_streamed<ADD>(gradient, x, weight, rstd, residual, of_x, of_weight, rows, columns);
    };
    cut_rows<order_of<T>(), aligned_count<T>(), steps_of<T>()>(columns, held, streamed);
}

// Each wave adds every eighth band, and the waves' sums are added in order.
template <typename T>
DEVICE void backward_weight(const f32* parts, T* of_weight, u32 bands, u32 columns) {
    SHARED f32 sums[ROW_WAVES][256];
    u32 lane = lane_of_wave(), first = workgroup() * 256;
    bool whole = columns % 4 == 0;
    // Four columns of a lane: behind each other, or 64 apart.
    u32 column = first + (whole ? lane * 4 : lane);
    f32x4 sum = 0.0f;
#pragma unroll 4
    for (u32 band = wave_of_workgroup(); band < bands; band += ROW_WAVES) {
        const f32* part = parts + (u64)band * columns;
        if (whole) {
            if (column < columns) {
                sum += *(const f32x4*)(part + column);
            }
        } else {
            for (u32 i = 0; i < 4; ++i) {
                sum[i] += column + i * WAVE < columns ? part[column + i * WAVE] : 0.0f;
            }
        }
    }
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
        sums[wave_of_workgroup()][whole ? lane * 4 + i : lane + i * WAVE] = sum[i];
    }
    barrier();
    u32 own = lane_of_workgroup();
    if (own < 256 && first + own < columns) {
        f32 total = sums[0][own];
        for (u32 wave = 1; wave < ROW_WAVES; ++wave) {
            total += sums[wave][own];
        }
        of_weight[first + own] = (T)total;
    }
}

KERNEL(512)
rmsnorm_forward_f32(const f32* x, const f32* weight, f32* y, f32* rstd, u32 rows, u32 columns, u32 many,
                    f32 epsilon) {
    forward(x, weight, y, rstd, rows, columns, many, epsilon);
}

KERNEL(512)
rmsnorm_forward_bf16(const bf16* x, const bf16* weight, bf16* y, f32* rstd, u32 rows, u32 columns, u32 many,
                    f32 epsilon) {
    forward(x, weight, y, rstd, rows, columns, many, epsilon);
}

KERNEL(512)
rmsnorm_forward_bf16_wide(const bf16* x, const f32* weight, bf16* y, f32* rstd, u32 rows, u32 columns, u32 many,
                    f32 epsilon) {
    forward(x, weight, y, rstd, rows, columns, many, epsilon);
}

KERNEL(512)
rmsnorm_backward_rows_f32(const f32* gradient, const f32* x, const f32* weight, const f32* rstd, f32* of_x,
                          f32* of_weight, u32 rows, u32 columns) {
    backward_rows<false>(gradient, x, weight, rstd, (const f32*)nullptr, of_x, of_weight, rows, columns);
}

KERNEL(512)
rmsnorm_backward_rows_bf16(const bf16* gradient, const bf16* x, const bf16* weight, const f32* rstd, bf16* of_x,
                           f32* of_weight, u32 rows, u32 columns) {
    backward_rows<false>(gradient, x, weight, rstd, (const bf16*)nullptr, of_x, of_weight, rows, columns);
}

KERNEL(512)
rmsnorm_backward_rows_bf16_wide(const bf16* gradient, const bf16* x, const f32* weight, const f32* rstd, bf16* of_x,
                                f32* of_weight, u32 rows, u32 columns) {
    backward_rows<false>(gradient, x, weight, rstd, (const bf16*)nullptr, of_x, of_weight, rows, columns);
}

KERNEL(512)
rmsnorm_backward_rows_add_f32(const f32* gradient, const f32* x, const f32* weight, const f32* rstd,
                              const f32* residual, f32* of_x, f32* of_weight, u32 rows, u32 columns) {
    backward_rows<true>(gradient, x, weight, rstd, residual, of_x, of_weight, rows, columns);
}

KERNEL(512)
rmsnorm_backward_rows_add_bf16(const bf16* gradient, const bf16* x, const bf16* weight, const f32* rstd,
                               const bf16* residual, bf16* of_x, f32* of_weight, u32 rows, u32 columns) {
    backward_rows<true>(gradient, x, weight, rstd, residual, of_x, of_weight, rows, columns);
}

KERNEL(512)
rmsnorm_backward_rows_add_bf16_wide(const bf16* gradient, const bf16* x, const f32* weight, const f32* rstd,
                                    const bf16* residual, bf16* of_x, f32* of_weight, u32 rows, u32 columns) {
    backward_rows<true>(gradient, x, weight, rstd, residual, of_x, of_weight, rows, columns);
}

KERNEL(512) rmsnorm_backward_weight_f32(const f32* parts, f32* of_weight, u32 bands, u32 columns) {
    backward_weight(parts, of_weight, bands, columns);
}

KERNEL(512) rmsnorm_backward_weight_bf16(const f32* parts, bf16* of_weight, u32 bands, u32 columns) {
    backward_weight(parts, of_weight, bands, columns);
}
