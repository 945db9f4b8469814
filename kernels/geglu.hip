// GeGLU: gelu(gate) * up, and its gradients.
//
// kernels:  geglu_f32, geglu_bf16
// computes: 256 elements of out = gelu(gate) * up
// tiles:    256 elements
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 32, lds 0
//
// kernels:  geglu_backward_f32, geglu_backward_bf16
// computes: 256 elements of the gradients of gate and up from that of out
// tiles:    256 elements
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 48, lds 0
#include "device.h"
#include "gelu.h"

template <typename T>
DEVICE void forward(const T* gate, const T* up, T* out, u64 count) {
    u64 at = element();
    if (at < count) {
        out[at] = (T)(gelu((f32)gate[at]) * (f32)up[at]);
    }
}

template <typename T>
DEVICE void backward(const T* gradient, const T* gate, const T* up, T* of_gate, T* of_up, u64 count) {
    u64 at = element();
    if (at < count) {
        f32 d = (f32)gradient[at], g = (f32)gate[at], u = (f32)up[at];
        of_gate[at] = (T)(d * u * gelu_slope(g));
        of_up[at] = (T)(d * gelu(g));
    }
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
