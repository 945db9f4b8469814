// GELU in its tanh approximation (Hendrycks and Gimpel, 2016):
// x (1 + tanh(u)) / 2 = x sigmoid(2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3).
#pragma once
#include "device.h"
#include "exp.h"

constexpr f32 GELU_TWICE_C = 1.59576916694641113281f;
constexpr f32 GELU_CUBE = 0.044714998453855514526f;

DEVICE f32 gelu(f32 x) {
    f32 twice = GELU_TWICE_C * (x + GELU_CUBE * x * x * x);
    return x / (1.0f + exponential(-twice));
}

// Its derivative: s + x s (1 - s) (2 u)' with s = sigmoid(2 u).
DEVICE f32 gelu_slope(f32 x) {
    f32 twice = GELU_TWICE_C * (x + GELU_CUBE * x * x * x);
    f32 s = 1.0f / (1.0f + exponential(-twice));
    return s + x * s * (1.0f - s) * GELU_TWICE_C * (1.0f + 3.0f * GELU_CUBE * x * x);
}
