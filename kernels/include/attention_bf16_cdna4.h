// What attention has of its own on CDNA4: a matrix instruction with 16 of the
// summed index, reads from LDS that transpose, so that the rows image is all
// there is, an instruction that rounds two values to bf16, and 64 banks.
#pragma once
#include "attention_bf16.h"

typedef VECTOR(bf16, 2) bf16x2;

struct Cdna4 {
    static constexpr bool COLUMNS = false;

    // Rows of a multiple of 256 bytes begin in one bank, others in two.
    static constexpr u32 swizzled(u32 units) { return units % 16 == 0 ? 16 : 8; }

    // Of four rows that follow each other, which are transposed together, the
    // same 64 bytes are in different banks; and so are the same 16 bytes of
    // sixteen rows.
    static MEMBER u32 swizzle(u32 row, u32 units) {
        return (units % 16 == 0 ? row % 4 : row / 2 % 2) * 4 + row / 4 % 4;
    }

    // Position of a lane's value `i`. Lanes that write together have rows that
    // are swizzled into different banks.
    template <u32 T>
    static MEMBER u32 position(u32 i, u32 units) {
        u32 row = Chunk<T>::index();
        if (T == 64) {
            return i * 16 + row;
        }
        return i * 8 + (units % 16 == 0 ? row / 4 * 4 + row % 2 * 2 + row / 2 % 2 : row);
    }

    template <u32 T>
    static MEMBER void column_places(Place, u32, SHARED_SPACE u32x2* (&)[8]) {}

    // Reads of the rows image: 32 columns by 16 positions. A read gives each
    // of 16 lanes 4 positions of its column, when lane i of them names 4
    // columns of position i / 4.
    template <u32 T, u32 D>
    struct Columns {
        static constexpr u32 UNITS = row_units(D), KINDS = swizzled(UNITS) / 4;

        SHARED_SPACE bf16x4* places[KINDS][2];

        MEMBER explicit Columns(Place lds) {
            u32 lane = lane_of_wave();
            for (u32 kind = 0; kind < KINDS; ++kind) {
                for (u32 half = 0; half < 2; ++half) {
                    u32 row = half * 8 + lane / BLOCK * 4 + lane % 16 / 4;
                    u32 unit = (kind * 4 + lane / 16 % 2 * 2 + lane % 4 / 2) ^ swizzle(row, UNITS);
                    places[kind][half] = (SHARED_SPACE bf16x4*)(lds + row * UNITS + unit) + lane % 2;
                    keep(places[kind][half]);
                }
            }
        }

        template <u32 START>
        MEMBER u32x4 read(u32 block, u32 step) const {
            u32 offset = 2 * (START + step * 16 * UNITS + block / KINDS * KINDS * 4);
            bf16x4 low = __builtin_amdgcn_ds_read_tr16_b64_v4bf16(places[block % KINDS][0] + offset);
            bf16x4 high = __builtin_amdgcn_ds_read_tr16_b64_v4bf16(places[block % KINDS][1] + offset);
            return __builtin_bit_cast(u32x4, __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7));
        }
    };

    static MEMBER f32x16 multiply(u32x4 a, u32x4 b, f32x16 sums) {
        return __builtin_amdgcn_mfma_f32_32x32x16_bf16(__builtin_bit_cast(bf16x8, a), __builtin_bit_cast(bf16x8, b),
                                                       sums, 0, 0, 0);
    }

    // Two values in bf16, to nearest, ties to even.
    static MEMBER u32 pack(f32 low, f32 high) {
        f32x2 both = {low, high};
        return __builtin_bit_cast(u32, __builtin_convertvector(both, bf16x2));
    }
};
