// GeGLU: gelu(gate) * up, and its gradients.
//
// Arrays begin at multiples of 16 bytes; the grid has ceil(count / 2048)
// workgroups.
//
// kernels:  geglu_f32, geglu_bf16
// computes: 2048 elements of out = gelu(gate) * up
// tiles:    4 waves x 512 elements
// lds:      none
// limit:    workgroup 256, vgprs 64, sgprs 48, lds 0
//
// kernels:  geglu_backward_f32, geglu_backward_bf16
// computes: 2048 elements of the gradients of gate and up from that of out
// tiles:    4 waves x 512 elements
// lds:      none
// limit:    workgroup 256, vgprs 80, sgprs 48, lds 0
#include "device.h"
#include "gelu.h"
#include "vector.h"

template <typename T>
DEVICE void forward(const T* gate, const T* up, T* out, u64 count) {
    over_blocks<order_of<T>()>(count, [=](auto move, u64 at, u32 here) {
        auto g = widen(move.load(gate + at, here)), u = widen(move.load(up + at, here));
        move.store(out + at, each(g, gelu) * u, here);
    });
}

template <typename T>
DEVICE void backward(const T* gradient, const T* gate, const T* up, T* of_gate, T* of_up, u64 count) {
    over_blocks<order_of<T>()>(count, [=](auto move, u64 at, u32 here) {
        auto d = widen(move.load(gradient + at, here)), g = widen(move.load(gate + at, here));
        auto u = widen(move.load(up + at, here));
        move.store(of_gate + at, d * u * each(g, gelu_slope), here);
        move.store(of_up + at, d * each(g, gelu), here);
    });
}

KERNEL(256) geglu_f32(const f32* gate, const f32* up, f32* out, u64 count) { forward(gate, up, out, count); }

KERNEL(256) geglu_bf16(const bf16* gate, const bf16* up, bf16* out, u64 count) { forward(gate, up, out, count); }

KERNEL(256)
geglu_backward_f32(const f32* gradient, const f32* gate, const f32* up, f32* of_gate, f32* of_up, u64 count) {
    backward(gradient, gate, up, of_gate, of_up, count);
}

KERNEL(256)
geglu_backward_bf16(const bf16* gradient, const bf16* gate, const bf16* up, bf16* of_gate, bf16* of_up, u64 count) {
    backward(gradient, gate, up, of_gate, of_up, count);
}
