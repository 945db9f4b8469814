// One result per element: sums, products, SwiGLU and its gradient, casts.
//
// Arrays begin at multiples of 16 bytes. A lane handles 16 bytes of the widest
// array at once, and the last lanes handle what is left one by one.
// The grid has ceil(count / (256 * elements per lane)) workgroups.
//
// kernels:  add_f32, add_bf16, mul_f32, mul_bf16
// computes: 256 lanes x 16 bytes of out = a op b; bf16 is computed in f32 and rounded to nearest even
// tiles:    1024 elements f32, 2048 elements bf16
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 32, lds 0
//
// kernels:  swiglu_f32, swiglu_bf16
// computes: 256 lanes x 16 bytes of out = silu(gate) * up
// tiles:    1024 elements f32, 2048 elements bf16
// lds:      none
// limit:    workgroup 256, vgprs 64, sgprs 32, lds 0
//
// kernels:  swiglu_backward_f32, swiglu_backward_bf16
// computes: 256 lanes x 16 bytes of the gradients of gate and up from that of out
// tiles:    1024 elements f32, 2048 elements bf16
// lds:      none
// limit:    workgroup 256, vgprs 72, sgprs 48, lds 0
//
// kernels:  cast_f32_bf16, cast_bf16_f32
// computes: 256 lanes x 4 elements of out = in, rounded to nearest even
// tiles:    1024 elements
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 32, lds 0
#include "device.h"
#include "exp.h"

// The first of the `count` elements that this lane handles.
DEVICE u64 first_element(u32 count) { return element() * count; }

struct Add {
    static MEMBER f32 of(f32 a, f32 b) { return a + b; }
};

struct Mul {
    static MEMBER f32 of(f32 a, f32 b) { return a * b; }
};

DEVICE f32 sigmoid(f32 x) { return 1.0f / (1.0f + exponential(-x)); }

struct SwiGlu {
    static MEMBER f32 of(f32 gate, f32 up) { return gate * sigmoid(gate) * up; }
};

template <typename Op, typename T>
DEVICE void binary(const T* a, const T* b, T* out, u64 count) {
    typedef typename Pack<T>::type Packed;
    constexpr u32 N = Pack<T>::count;
    u64 at = first_element(N);
    if (at + N <= count) {
        Packed x = *(const Packed*)(a + at), y = *(const Packed*)(b + at), z;
#pragma unroll
        for (u32 i = 0; i < N; ++i) {
            z[i] = (T)Op::of((f32)x[i], (f32)y[i]);
        }
        *(Packed*)(out + at) = z;
        return;
    }
    for (; at < count; ++at) {
        out[at] = (T)Op::of((f32)a[at], (f32)b[at]);
    }
}

// With s = sigmoid(g): d(g s u) = u s (1 + g (1 - s)) dg + g s du.
template <typename T>
DEVICE void swiglu_gradient(f32 gradient, f32 gate, f32 up, T& of_gate, T& of_up) {
    f32 s = sigmoid(gate);
    of_gate = (T)(gradient * up * s * (1.0f + gate * (1.0f - s)));
    of_up = (T)(gradient * gate * s);
}

template <typename T>
DEVICE void swiglu_backward(const T* gradient, const T* gate, const T* up, T* of_gate, T* of_up, u64 count) {
    typedef typename Pack<T>::type Packed;
    constexpr u32 N = Pack<T>::count;
    u64 at = first_element(N);
    if (at + N <= count) {
        Packed d = *(const Packed*)(gradient + at), g = *(const Packed*)(gate + at), u = *(const Packed*)(up + at);
        Packed dg, du;
#pragma unroll
        for (u32 i = 0; i < N; ++i) {
            T one, other;
            swiglu_gradient<T>((f32)d[i], (f32)g[i], (f32)u[i], one, other);
            dg[i] = one;
            du[i] = other;
        }
        *(Packed*)(of_gate + at) = dg;
        *(Packed*)(of_up + at) = du;
        return;
    }
    for (; at < count; ++at) {
        swiglu_gradient<T>((f32)gradient[at], (f32)gate[at], (f32)up[at], of_gate[at], of_up[at]);
    }
}

template <typename From, typename To, typename FromPack, typename ToPack>
DEVICE void cast(const From* in, To* out, u64 count) {
    u64 at = first_element(4);
    if (at + 4 <= count) {
        FromPack x = *(const FromPack*)(in + at);
        ToPack y;
        for (u32 i = 0; i < 4; ++i) {
            y[i] = (To)x[i];
        }
        *(ToPack*)(out + at) = y;
        return;
    }
    for (; at < count; ++at) {
        out[at] = (To)in[at];
    }
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

KERNEL(256) cast_f32_bf16(const f32* in, bf16* out, u64 count) { cast<f32, bf16, f32x4, bf16x4>(in, out, count); }

KERNEL(256) cast_bf16_f32(const bf16* in, f32* out, u64 count) { cast<bf16, f32, bf16x4, f32x4>(in, out, count); }
