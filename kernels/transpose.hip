// Copies where rows of the input are columns of the output.
//
// kernels:  transpose_8, transpose_16, transpose_32, transpose_64
// computes: a tile of out[row][column] = in[column][row] of a matrix of a batch;
//           matrices x ceil(rows / side) x ceil(columns / side) workgroups
// tiles:    64 x 64 elements of 8 or 16 bits, 32 x 32 of more, through LDS; 16 bytes a lane where `aligned`
//           and the tile is whole
// lds:      the tile, each of its rows longer by a word
// limit:    workgroup 256, vgprs 72, sgprs 96, lds 8448
#include "device.h"
#include "geometry.h"
#include "vector.h"

// Part of the arguments.
struct Matrix {
    u32 rows, columns;
    // From one column to the next in the input, and from one row to the next in the output.
    u64 in_column, out_row;
    // Whether both strides, and those of the batch, are multiples of 16 bytes.
    u32 aligned, unused;
};

template <typename T>
DEVICE void transpose(const T* in, T* out, const Geometry<2>& batch, const Matrix& matrix) {
    constexpr u32 SIDE = sizeof(T) < 4 ? 64 : 32, N = 16 / sizeof(T), PITCH = SIDE + (sizeof(T) < 4 ? 4 / sizeof(T) : 1);
    SHARED T tile[SIDE][PITCH];
    u32 across = ceil_div(matrix.columns, SIDE), down = ceil_div(matrix.rows, SIDE);
    u32 column = workgroup() % across * SIDE, row = workgroup() / across % down * SIDE;
    u32 columns = smaller(SIDE, matrix.columns - column), rows = smaller(SIDE, matrix.rows - row);
    u64 offsets[2];
    batch.at(workgroup() / across / down, offsets);
    in += offsets[0] + column * matrix.in_column + row;
    out += offsets[1] + row * matrix.out_row + column;
    u32 lane = lane_of_workgroup();
    bool whole = columns == SIDE && rows == SIDE && matrix.aligned != 0 && is_aligned(in) && is_aligned(out);
    if (whole) {
#pragma unroll 2
        for (u32 at = lane; at < SIDE * SIDE / N; at += 256) {
            u32 line = at / (SIDE / N), first = at % (SIDE / N) * N;
            auto values = Run<N>::load(in + line * matrix.in_column + first);
#pragma unroll
            for (u32 i = 0; i < N; ++i) {
                tile[line][first + i] = values[i];
            }
        }
        barrier();
#pragma unroll 2
        for (u32 at = lane; at < SIDE * SIDE / N; at += 256) {
            u32 line = at / (SIDE / N), first = at % (SIDE / N) * N;
            VECTOR(T, N) values;
#pragma unroll
            for (u32 i = 0; i < N; ++i) {
                values[i] = tile[first + i][line];
            }
            Run<N>::store(out + line * matrix.out_row + first, values);
        }
        return;
    }
    u32 own = lane % SIDE;
#pragma unroll 4
    for (u32 line = lane / SIDE; line < columns; line += 256 / SIDE) {
        if (own < rows) {
            tile[line][own] = in[line * matrix.in_column + own];
        }
    }
    barrier();
#pragma unroll 4
    for (u32 line = lane / SIDE; line < rows; line += 256 / SIDE) {
        if (own < columns) {
            out[line * matrix.out_row + own] = tile[own][line];
        }
    }
}

KERNEL(256) transpose_8(const u8* in, u8* out, Geometry<2> batch, Matrix matrix) { transpose(in, out, batch, matrix); }

KERNEL(256) transpose_16(const u16* in, u16* out, Geometry<2> batch, Matrix matrix) {
    transpose(in, out, batch, matrix);
}

KERNEL(256) transpose_32(const u32* in, u32* out, Geometry<2> batch, Matrix matrix) {
    transpose(in, out, batch, matrix);
}

KERNEL(256) transpose_64(const u64* in, u64* out, Geometry<2> batch, Matrix matrix) {
    transpose(in, out, batch, matrix);
}
