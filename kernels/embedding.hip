// Rows of a table by index, and the gradient of the table.
//
// An index outside the table stops the kernel with a trap.
//
// kernels:  embedding_16, embedding_32
// computes: one row of the result; one workgroup per index
// tiles:    256 columns at a time
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 48, lds 0
//
// kernels:  embedding_backward_f32_f32, embedding_backward_bf16_f32, embedding_backward_bf16_bf16
// computes: one row of the table's gradient, summed in the order of the indices; one workgroup per row
// tiles:    64 indices at a time, 256 columns at a time
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 64, lds 0
#include "device.h"

template <typename T>
DEVICE void embedding(const T* table, const i32* indices, T* out, u32 rows, u32 columns) {
    i32 row = indices[workgroup()];
    if (row < 0 || (u32)row >= rows) {
        __builtin_trap();
    }
    const T* from = table + (u64)row * columns;
    T* to = out + (u64)workgroup() * columns;
    for (u32 column = lane_of_workgroup(); column < columns; column += 256) {
        to[column] = from[column];
    }
}

// Each wave finds the indices of its row 64 at a time; all waves find the same.
template <typename T, typename S>
DEVICE void backward(const T* gradient, const i32* indices, S* out, u32 count, u32 rows, u32 columns) {
    u32 row = workgroup();
    for (u32 base = 0; base < columns; base += 256) {
        u32 column = base + lane_of_workgroup();
        f32 sum = 0.0f;
        for (u32 start = 0; start < count; start += WAVE) {
            u32 at = start + lane_of_wave();
            i32 index = at < count ? indices[at] : (i32)row;
            if (index < 0 || (u32)index >= rows) {
                __builtin_trap();
            }
            u64 found = __builtin_amdgcn_ballot_w64(at < count && (u32)index == row);
            while (found != 0) {
                u32 position = start + (u32)__builtin_ctzl(found);
                found &= found - 1;
                if (column < columns) {
                    sum += (f32)gradient[(u64)position * columns + column];
                }
            }
        }
        if (column < columns) {
            out[(u64)row * columns + column] = (S)sum;
        }
    }
}

KERNEL(256) embedding_16(const u16* table, const i32* indices, u16* out, u32 rows, u32 columns) {
    embedding(table, indices, out, rows, columns);
}

KERNEL(256) embedding_32(const u32* table, const i32* indices, u32* out, u32 rows, u32 columns) {
    embedding(table, indices, out, rows, columns);
}

KERNEL(256)
embedding_backward_f32_f32(const f32* gradient, const i32* indices, f32* out, u32 count, u32 rows, u32 columns) {
    backward(gradient, indices, out, count, rows, columns);
}

KERNEL(256)
embedding_backward_bf16_f32(const bf16* gradient, const i32* indices, f32* out, u32 count, u32 rows, u32 columns) {
    backward(gradient, indices, out, count, rows, columns);
}

KERNEL(256)
embedding_backward_bf16_bf16(const bf16* gradient, const i32* indices, bf16* out, u32 count, u32 rows, u32 columns) {
    backward(gradient, indices, out, count, rows, columns);
}
