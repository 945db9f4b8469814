// One function of each element, or of two elements of arrays that are
// stretched over each other. Which function is an argument: all lanes agree.
//
// kernels:  unary_f32, unary_bf16
// computes: 2048 elements of out = f(x) in f32, rounded once; kinds are numbered as in `Unary` below;
//           arrays begin at multiples of 16 bytes, ceil(count / 2048) workgroups
// tiles:    4 waves x 512 elements
// lds:      none
// limit:    workgroup 256, vgprs 96, sgprs 80, lds 0
//
// kernels:  binary_f32, binary_bf16, binary_f64
// computes: 4096 elements of out = f(a, b), a and b each at its place; kinds are numbered as in `Binary`
//           below; ceil(count / 4096) workgroups. With a `band` the two dims are rows, of which one array
//           has one for all, and columns: a band of rows of 256 lanes x 16 bytes of columns
// tiles:    256 lanes x 16 bytes at a time where `at_once` says so, else an element
// lds:      none
// limit:    workgroup 256, vgprs 64, sgprs 96, lds 0
#include "device.h"
#include "exp.h"
#include "gelu.h"
#include "geometry.h"
#include "trigonometry.h"
#include "vector.h"

enum class Unary : u32 {
    Neg, Abs, Exp, Sqrt, Rsqrt, Reciprocal, Square, Sigmoid, Silu, Relu, Log, Tanh, Gelu, Sin, Cos
};

enum class Binary : u32 { Add, Sub, Mul, Div, Max, Min, Greater, GreaterEqual, Equal };

// Near 0, where the quotient cancels, by the first terms of the series.
DEVICE f32 tangent(f32 x) {
    if (__builtin_fabsf(x) < 0.1f) {
        f32 y = x * x;
        return x * (1.0f - y * (1.0f / 3.0f - y * (2.0f / 15.0f - y * (17.0f / 315.0f))));
    }
    return 1.0f - 2.0f / (exponential(2.0f * x) + 1.0f);
}

DEVICE f32 apply(Unary kind, f32 x) {
    switch (kind) {
        case Unary::Neg: return -x;
        case Unary::Abs: return __builtin_fabsf(x);
        case Unary::Exp: return exponential(x);
        case Unary::Sqrt: return __builtin_sqrtf(x);
        case Unary::Rsqrt: return 1.0f / __builtin_sqrtf(x);
        case Unary::Reciprocal: return 1.0f / x;
        case Unary::Square: return x * x;
        case Unary::Sigmoid: return 1.0f / (1.0f + exponential(-x));
        case Unary::Silu: return x / (1.0f + exponential(-x));
        // NaN stays NaN.
        case Unary::Relu: return x < 0.0f ? 0.0f : x;
        case Unary::Log: return __builtin_logf(x);
        case Unary::Tanh: return tangent(x);
        case Unary::Gelu: return gelu(x);
        case Unary::Sin:
        case Unary::Cos: {
            f64 cosine, sine;
            cosine_and_sine((f64)x, cosine, sine);
            return (f32)(kind == Unary::Cos ? cosine : sine);
        }
    }
    return 0.0f;
}

// The first operand wins where both are equal or it is NaN.
template <typename F>
DEVICE F apply(Binary kind, F a, F b) {
    switch (kind) {
        case Binary::Add: return a + b;
        case Binary::Sub: return a - b;
        case Binary::Mul: return a * b;
        case Binary::Div: return a / b;
        case Binary::Max: return a >= b || a != a ? a : b;
        case Binary::Min: return a <= b || a != a ? a : b;
        case Binary::Greater: return a > b ? (F)1 : (F)0;
        case Binary::GreaterEqual: return a >= b ? (F)1 : (F)0;
        case Binary::Equal: return a == b ? (F)1 : (F)0;
    }
    return (F)0;
}

template <Unary KIND, typename T>
DEVICE void unary(const T* x, T* out, u64 count) {
    over_blocks<order_of<T>()>(count, [=](auto move, u64 at, u32 here) {
        auto value = widen(move.load(x + at, here));
        move.store(out + at, each(value, [](f32 x) { return apply(KIND, x); }), here);
    });
}

template <typename T>
DEVICE void unary(const T* x, T* out, u64 count, u32 kind) {
    switch ((Unary)kind) {
        case Unary::Neg: return unary<Unary::Neg>(x, out, count);
        case Unary::Abs: return unary<Unary::Abs>(x, out, count);
        case Unary::Exp: return unary<Unary::Exp>(x, out, count);
        case Unary::Sqrt: return unary<Unary::Sqrt>(x, out, count);
        case Unary::Rsqrt: return unary<Unary::Rsqrt>(x, out, count);
        case Unary::Reciprocal: return unary<Unary::Reciprocal>(x, out, count);
        case Unary::Square: return unary<Unary::Square>(x, out, count);
        case Unary::Sigmoid: return unary<Unary::Sigmoid>(x, out, count);
        case Unary::Silu: return unary<Unary::Silu>(x, out, count);
        case Unary::Relu: return unary<Unary::Relu>(x, out, count);
        case Unary::Log: return unary<Unary::Log>(x, out, count);
        case Unary::Tanh: return unary<Unary::Tanh>(x, out, count);
        case Unary::Gelu: return unary<Unary::Gelu>(x, out, count);
        case Unary::Sin: return unary<Unary::Sin>(x, out, count);
        case Unary::Cos: return unary<Unary::Cos>(x, out, count);
    }
}

// N elements from an offset on, or one element N times: of the wave where all lanes
// have the same one.
template <typename Values, typename T>
DEVICE Values stretched(const T* from, u64 offset, u64 stride, bool same) {
    if (stride != 0) {
        return *(const Values*)(from + offset);
    }
    if (same) {
        u32 low = __builtin_amdgcn_readfirstlane((u32)offset), high = __builtin_amdgcn_readfirstlane((u32)(offset >> 32));
        return (Values)by_one(from + ((u64)high << 32 | low));
    }
    return (Values)from[offset];
}

// Each place of two vectors, computed in F.
template <typename F, typename T, typename Values>
DEVICE Values apply_each(Binary kind, Values a, Values b) {
#pragma unroll
    for (u32 i = 0; i < sizeof(Values) / sizeof(T); ++i) {
        a[i] = (T)apply<F>(kind, (F)a[i], (F)b[i]);
    }
    return a;
}

// A row that is the same for all rows is read once for a band of them.
template <typename F, typename T>
DEVICE void binary_of_row(const T* a, const T* b, T* out, const Geometry<2>& geometry, u32 kind, u32 band) {
    typedef Run<16 / sizeof(T)> Move;
    u32 rows = geometry.dims[4], columns = geometry.dims[5], across = ceil_div(columns, 256 * Move::COUNT);
    u32 column = (workgroup() % across * 256 + lane_of_workgroup()) * Move::COUNT;
    if (column >= columns) {
        return;
    }
    bool second = geometry.strides[1][4] == 0;
    const T* other = second ? a : b;
    u64 stride = geometry.strides[second ? 0 : 1][4];
    auto same = Move::load((second ? b : a) + column);
    u32 first = workgroup() / across * band;
    for (u32 row = first; row < smaller(rows, first + band); ++row) {
        auto own = Move::load(other + row * stride + column);
        auto result = apply_each<F, T>((Binary)kind, second ? own : same, second ? same : own);
        Move::store(out + (u64)row * columns + column, result);
    }
}

template <typename F, typename T>
DEVICE void binary(const T* a, const T* b, T* out, const Geometry<2>& geometry, u32 kind, u32 band) {
    if (band != 0) {
        return binary_of_row<F>(a, b, out, geometry, kind, band);
    }
    auto body = [&](auto run, u64 index) {
        typedef typename decltype(run)::template Values<T> Values;
        u64 offsets[2];
        geometry.at((u32)index, offsets);
        bool same = run.COUNT > 1 && geometry.dims[5] % (WAVE * run.COUNT) == 0;
        Values x = stretched<Values>(a, offsets[0], geometry.strides[0][5], same);
        Values y = stretched<Values>(b, offsets[1], geometry.strides[1][5], same);
        run.store(out + index, apply_each<F, T>((Binary)kind, x, y));
    };
    constexpr u32 N = 16 / sizeof(T);
    if (geometry.at_once == N && is_aligned(a) && is_aligned(b)) {
        over_runs<N>(geometry.count, body);
    } else {
        over_runs<1>(geometry.count, body);
    }
}

KERNEL(256) unary_f32(const f32* x, f32* out, u64 count, u32 kind) { unary(x, out, count, kind); }

KERNEL(256) unary_bf16(const bf16* x, bf16* out, u64 count, u32 kind) { unary(x, out, count, kind); }

KERNEL(256) binary_f32(const f32* a, const f32* b, f32* out, Geometry<2> geometry, u32 kind, u32 band) {
    binary<f32>(a, b, out, geometry, kind, band);
}

KERNEL(256) binary_bf16(const bf16* a, const bf16* b, bf16* out, Geometry<2> geometry, u32 kind, u32 band) {
    binary<f32>(a, b, out, geometry, kind, band);
}

KERNEL(256) binary_f64(const f64* a, const f64* b, f64* out, Geometry<2> geometry, u32 kind, u32 band) {
    binary<f64>(a, b, out, geometry, kind, band);
}
