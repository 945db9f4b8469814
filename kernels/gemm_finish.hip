// The second step of a product whose K was taken in parts: C =
// activation(the sum of the parts + bias) + added, with the parts added in
// their order. `mode` is as in gemm_bf16_tiles.hip.
//
// kernels:  gemm_finish
// computes: 8 neighbours of a row of C a lane; ceil(m * ceil(n / 8) / 256) workgroups
// tiles:    256 times 8 elements
// lds:      none
// limit:    workgroup 256, vgprs 64, sgprs 64, lds 0
#include "gemm.h"

KERNEL(256)
gemm_finish(const f32* parts, const void* bias, const void* added, void* c, u32 count, u32 m, u32 n, u32 ldc,
            u32 mode) {
    Product product = {nullptr, nullptr, bias, added, c, m, n, 0, 0, 0, ldc, activation_of(mode), is_wide(mode)};
    u32 across = ceil_div(n, 8);
    u64 row = element() / across;
    u32 column = element() % across * 8;
    if (row >= m) {
        return;
    }
    bool whole = n % 8 == 0 && (u64)parts % 16 == 0;
    f32x8 sums = {};
    for (u32 part = 0; part < count; ++part) {
        sums += load_eight(parts, ((u64)part * m + row) * n + column, true, whole, n - column);
    }
    finish_eight(product, 0, (u32)row, column, stores_vectors(product), sums);
}
