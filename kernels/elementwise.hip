// One result per element: sums, products, SwiGLU and its gradient, casts.
//
// Arrays begin at multiples of 16 bytes. A wave handles 512 elements, 16 bytes
// a lane at a time; what is left at the end goes one element a lane. The grid
// has ceil(count / 2048) workgroups.
//
// kernels:  add_f32, add_bf16, mul_f32, mul_bf16
// computes: 2048 elements of out = a op b; bf16 is computed in f32 and rounded to nearest even
// tiles:    4 waves x 512 elements
// lds:      none
// limit:    workgroup 256, vgprs 40, sgprs 32, lds 0
//
// kernels:  swiglu_f32, swiglu_bf16
// computes: 2048 elements of out = silu(gate) * up
// tiles:    4 waves x 512 elements
// lds:      none
// limit:    workgroup 256, vgprs 64, sgprs 48, lds 0
//
// kernels:  swiglu_backward_f32, swiglu_backward_bf16
// computes: 2048 elements of the gradients of gate and up from that of out
// tiles:    4 waves x 512 elements
// lds:      none
// limit:    workgroup 256, vgprs 80, sgprs 48, lds 0
//
// kernels:  cast_f32_bf16, cast_bf16_f32
// computes: 2048 elements of out = in, rounded to nearest even
// tiles:    4 waves x 512 elements
// lds:      none
// limit:    workgroup 256, vgprs 40, sgprs 32, lds 0
#include "device.h"
#include "exp.h"
#include "vector.h"

template <typename V>
DEVICE V sigmoid(V x) {
    return 1.0f / (1.0f + each(-x, exponential));
}

struct Add {
    template <typename V>
    static MEMBER V of(V a, V b) {
        return a + b;
    }
};

struct Mul {
    template <typename V>
    static MEMBER V of(V a, V b) {
        return a * b;
    }
};

struct SwiGlu {
    template <typename V>
    static MEMBER V of(V gate, V up) {
        return gate * sigmoid(gate) * up;
    }
};

template <typename Op, typename T>
DEVICE void binary(const T* a, const T* b, T* out, u64 count) {
    over_blocks<order_of<T>()>(count, [=](auto move, u64 at, u32 here) {
        auto x = move.load(a + at, here), y = move.load(b + at, here);
        move.store(out + at, Op::of(widen(x), widen(y)), here);
    });
}

// With s = sigmoid(g): d(g s u) = u s (1 + g (1 - s)) dg + g s du.
template <typename T>
DEVICE void swiglu_backward(const T* gradient, const T* gate, const T* up, T* of_gate, T* of_up, u64 count) {
    over_blocks<order_of<T>()>(count, [=](auto move, u64 at, u32 here) {
        auto d = widen(move.load(gradient + at, here)), g = widen(move.load(gate + at, here));
        auto u = widen(move.load(up + at, here)), s = sigmoid(g);
        move.store(of_gate + at, d * u * s * (1.0f + g * (1.0f - s)), here);
        move.store(of_up + at, d * g * s, here);
    });
}

template <typename From, typename To>
DEVICE void cast(const From* in, To* out, u64 count) {
    over_blocks<order_of<From, To>()>(count, [=](auto move, u64 at, u32 here) {
        move.store(out + at, widen(move.load(in + at, here)), here);
    });
}

KERNEL(256) add_f32(const f32* a, const f32* b, f32* out, u64 count) { binary<Add>(a, b, out, count); }

KERNEL(256) add_bf16(const bf16* a, const bf16* b, bf16* out, u64 count) { binary<Add>(a, b, out, count); }

KERNEL(256) mul_f32(const f32* a, const f32* b, f32* out, u64 count) { binary<Mul>(a, b, out, count); }

KERNEL(256) mul_bf16(const bf16* a, const bf16* b, bf16* out, u64 count) { binary<Mul>(a, b, out, count); }

KERNEL(256) swiglu_f32(const f32* gate, const f32* up, f32* out, u64 count) { binary<SwiGlu>(gate, up, out, count); }

KERNEL(256) swiglu_bf16(const bf16* gate, const bf16* up, bf16* out, u64 count) {
    binary<SwiGlu>(gate, up, out, count);
}

KERNEL(256)
swiglu_backward_f32(const f32* gradient, const f32* gate, const f32* up, f32* of_gate, f32* of_up, u64 count) {
    swiglu_backward(gradient, gate, up, of_gate, of_up, count);
}

KERNEL(256)
swiglu_backward_bf16(const bf16* gradient, const bf16* gate, const bf16* up, bf16* of_gate, bf16* of_up, u64 count) {
    swiglu_backward(gradient, gate, up, of_gate, of_up, count);
}

KERNEL(256) cast_f32_bf16(const f32* in, bf16* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_bf16_f32(const bf16* in, f32* out, u64 count) { cast(in, out, count); }
