// What attention has of its own on CDNA2 and CDNA3: matrix instructions with
// 8 of the summed index, a columns image that is transposed on the way to LDS,
// and 32 banks.
#pragma once
#include "attention_bf16.h"

struct Cdna3 {
    static constexpr bool COLUMNS = true;

    static constexpr u32 swizzled(u32) { return 8; }

    static MEMBER u32 swizzle(u32 row, u32) { return row % 8; }

    // Position of a lane's value `i`: four neighbours, so that they can be
    // transposed. Lanes that write together have both halves of a unit.
    template <u32 T>
    static MEMBER u32 position(u32 i, u32) {
        u32 quad = Chunk<T>::index();
        return (T == 64 ? quad : quad / 4 * 4 + quad % 2 * 2 + quad / 2 % 2) * 4 + i;
    }

    // Where 16 bytes of a column are: a unit has what a lane gives to two
    // matrix instructions, which are 4 neighbours of 8 positions each.
    template <u32 T>
    static MEMBER u32 column_place(u32 column, u32 unit) {
        if (T == 64) {
            return column * 8 + (unit ^ (column % 8) ^ (column / 8 % 4 * 2));
        }
        return (column ^ (column / 8 % 2)) * 4 + (unit ^ (column / 2 % 4) ^ (column / 16 % 4));
    }

    template <u32 T>
    static MEMBER void column_places(Place image, u32 octet, SHARED_SPACE u32x2* (&places)[8]) {
        u32 quad = position<T>(0, 0) / 4;
        for (u32 i = 0; i < 8; ++i) {
            u32 unit = quad / 4 * 2 + quad % 2;
            places[i] = (SHARED_SPACE u32x2*)(image + column_place<T>(octet * 8 + i, unit)) + quad / 2 % 2;
        }
    }

    // Reads of the columns image: 32 columns by 16 positions. Even and odd
    // blocks lie differently where T is 32.
    template <u32 T, u32 D>
    struct Columns {
        static constexpr u32 KINDS = T == 64 ? 1 : 2;

        Place places[KINDS][T / 16];

        MEMBER explicit Columns(Place lds) {
            for (u32 kind = 0; kind < KINDS; ++kind) {
                for (u32 step = 0; step < T / 16; ++step) {
                    u32 unit = 2 * step + lane_of_wave() / BLOCK;
                    places[kind][step] = lds + column_place<T>(kind * BLOCK + lane_of_wave() % BLOCK, unit);
                    keep(places[kind][step]);
                }
            }
        }

        template <u32 START>
        MEMBER u32x4 read(u32 block, u32 step) const {
            return places[block % KINDS][step][START + block / KINDS * KINDS * BLOCK * T / 8];
        }
    };

    static MEMBER f32x16 multiply(u32x4 a, u32x4 b, f32x16 sums) {
        for (u32 half = 0; half < 2; ++half) {
            u32x2 left = {a[2 * half], a[2 * half + 1]}, right = {b[2 * half], b[2 * half + 1]};
            sums = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(__builtin_bit_cast(i16x4, left),
                                                            __builtin_bit_cast(i16x4, right), sums, 0, 0, 0);
        }
        return sums;
    }

    // Two values in bf16, to nearest, ties away from zero.
    static MEMBER u32 pack(f32 low, f32 high) {
        constexpr u32 HALF = 0x8000;
        return __builtin_amdgcn_perm(__builtin_bit_cast(u32, high) + HALF, __builtin_bit_cast(u32, low) + HALF,
                                     0x07060302);
    }
};
