// What matrix multiplications share: the product, which part of it a workgroup
// computes when, and what happens to sums before they are stored.
#pragma once
#include "device.h"
#include "gelu.h"

typedef VECTOR(f32, 8) f32x8;

// How an operand lies in memory: its elements along K, or along the rows of
// the result, are neighbours.
enum class Along { K, Rows };

enum class Activation : u32 { None, Relu, Silu, Gelu };

// C = activation(A B + bias) + added. `bias` is a row that is added to all
// rows, `added` a matrix that lies like C; both may be null, and both are of
// C's type, which is f32 or that of A and B.
struct Product {
    const void* a;
    const void* b;
    const void* bias;
    const void* added;
    void* c;
    u32 m, n, k;
    u32 lda, ldb, ldc;
    Activation activation;
    bool wide;
};

// The last argument of an entry point: whether C is f32, and the activation.
DEVICE bool is_wide(u32 mode) { return mode % 2 != 0; }

DEVICE Activation activation_of(u32 mode) { return (Activation)(mode / 2); }

// The arguments of an entry point that takes everything, as they lie in memory.
struct Arguments {
    const void *a, *b, *bias, *added;
    void* c;
    u32 m, n, k, lda, ldb, ldc, depth, groups, mode;

    MEMBER Product product() const {
        return {a, b, bias, added, c, m, n, k, lda, ldb, ldc, activation_of(mode), is_wide(mode)};
    }
};

// The same as an entry point declares them: it reads them where they lie.
#define GIVEN __attribute__((unused))
#define ARGUMENTS(operand)                                                                                      \
    GIVEN operand a, GIVEN operand b, GIVEN const void *bias, GIVEN const void *added, GIVEN void *c, GIVEN u32 m, \
        GIVEN u32 n, GIVEN u32 k, GIVEN u32 lda, GIVEN u32 ldb, GIVEN u32 ldc, GIVEN u32 depth, GIVEN u32 groups,  \
        GIVEN u32 mode

// The arguments, read anew: what is needed at the end of a unit of work does
// not occupy registers before.
DEVICE Arguments fresh_arguments() {
    auto pointer = (const __attribute__((address_space(4))) u8*)__builtin_amdgcn_kernarg_segment_ptr();
    __asm__ volatile("" : "+s"(pointer));
    return *(const __attribute__((address_space(4))) Arguments*)pointer;
}

// A lane of a workgroup.
struct Lane {
    u32 number;
    u32 in_wave;
    // The same for all lanes of a wave, and known to be.
    u32 wave;
};

// This lane, found out anew: what is made of it is made for each unit of work,
// instead of staying in registers from one to the next. A scalar register has
// the wave all the time, and the lane is counted in it.
DEVICE Lane fresh_lane(u32 wave) {
    u32 lanes = ~0u;
    __asm__ volatile("" : "+s"(lanes));
    u32 in_wave = __builtin_amdgcn_mbcnt_hi(lanes, __builtin_amdgcn_mbcnt_lo(lanes, 0));
    return {wave * WAVE + in_wave, in_wave, wave};
}

struct Tile {
    u32 row;
    u32 column;
};

// Workgroups are dealt to the XCDs in turns. Number `taken` of `count` gets
// this place in the order of all work, so that what one XCD computes lies
// together: XCD 0 has the first places, XCD 1 those that follow.
DEVICE u32 place_of(u32 taken, u32 count) {
    constexpr u32 XCDS = 8;
    u32 xcd = taken % XCDS;
    return xcd * (count / XCDS) + smaller(xcd, count % XCDS) + taken / XCDS;
}

// Tiles in an order in which neighbours share operands: along bands of 8 rows
// of tiles.
DEVICE Tile tile_at(u32 place, u32 tile_rows, u32 tile_columns) {
    constexpr u32 BAND = 8;
    u32 per_band = BAND * tile_columns;
    u32 first = place / per_band * BAND;
    u32 inside = place % per_band;
    u32 rows = smaller(tile_rows - first, BAND);
    return {first + inside % rows, inside / rows};
}

// A part of the sums of a tile. All parts but the last have `depth` of K.
struct Unit {
    Tile tile;
    u32 part;
    u32 first_k;
    u32 length;
};

// What is to be computed, in units: all tiles with the first part of K, then
// all with the second. Parts are stored one after the other.
struct Work {
    u32 rows, columns, depth, units;

    MEMBER Work(const Product& product, u32 side, u32 part_depth)
        : rows(ceil_div(product.m, side)),
          columns(ceil_div(product.n, side)),
          depth(part_depth),
          units(rows * columns * (product.k > 0 ? ceil_div(product.k, part_depth) : 1)) {}

    MEMBER Unit unit(const Product& product, u32 taken) const {
        u32 place = place_of(taken, units), part = place / (rows * columns);
        u32 first_k = part * depth;
        return {tile_at(place % (rows * columns), rows, columns), part, first_k, smaller(product.k - first_k, depth)};
    }
};

DEVICE f32 activated(Activation activation, f32 x) {
    switch (activation) {
        case Activation::None: return x;
        // NaN stays NaN.
        case Activation::Relu: return x < 0.0f ? 0.0f : x;
        case Activation::Silu: return x / (1.0f + exponential(-x));
        case Activation::Gelu: return gelu(x);
    }
    return x;
}

// Eight neighbours of a row, or the `count` that there are. Where rows begin at
// multiples of 16 bytes and are full, `vectors`, they are read at once.
DEVICE f32x8 load_eight(const void* data, u64 at, bool wide, bool vectors, u32 count) {
    f32x8 values = {};
    if (wide) {
        const f32* from = (const f32*)data + at;
        if (vectors) {
            f32x4 low = *(const f32x4*)from, high = *(const f32x4*)(from + 4);
            return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
        }
        for (u32 i = 0; i < 8; ++i) {
            if (i < count) values[i] = from[i];
        }
        return values;
    }
    const bf16* from = (const bf16*)data + at;
    if (vectors) {
        return __builtin_convertvector(*(const bf16x8*)from, f32x8);
    }
    for (u32 i = 0; i < 8; ++i) {
        if (i < count) values[i] = (f32)from[i];
    }
    return values;
}

DEVICE void store_eight(void* data, u64 at, bool wide, bool vectors, u32 count, f32x8 values) {
    if (wide) {
        f32* to = (f32*)data + at;
        if (vectors) {
            *(f32x4*)to = __builtin_shufflevector(values, values, 0, 1, 2, 3);
            *(f32x4*)(to + 4) = __builtin_shufflevector(values, values, 4, 5, 6, 7);
            return;
        }
        for (u32 i = 0; i < 8; ++i) {
            if (i < count) to[i] = values[i];
        }
        return;
    }
    bf16* to = (bf16*)data + at;
    if (vectors) {
        *(bf16x8*)to = __builtin_convertvector(values, bf16x8);
        return;
    }
    for (u32 i = 0; i < 8; ++i) {
        if (i < count) to[i] = (bf16)values[i];
    }
}

// True when rows of C, and of what is added to them, can be handled in eights.
DEVICE bool stores_vectors(const Product& product) {
    u64 addresses = (u64)product.c | (u64)product.added | (u64)product.bias;
    return (product.n | product.ldc) % 8 == 0 && addresses % 16 == 0;
}

// Finishes eight neighbours of a row of C, of which the first is inside.
// `part` is the number of matrices like C before this one.
DEVICE void finish_eight(const Product& product, u32 part, u32 row, u32 column, bool vectors, f32x8 values) {
    u64 at = (u64)row * product.ldc + column;
    u32 count = product.n - column;
    if (product.bias) {
        values += load_eight(product.bias, column, product.wide, vectors, count);
    }
    if (product.activation != Activation::None) {
        for (u32 i = 0; i < 8; ++i) {
            values[i] = activated(product.activation, values[i]);
        }
    }
    if (product.added) {
        values += load_eight(product.added, at, product.wide, vectors, count);
    }
    store_eight(product.c, (u64)part * product.m * product.ldc + at, product.wide, vectors, count, values);
}

// Where unit `unit` of four columns of row `row` lies in LDS, in rows of SIDE
// columns: neither neighbours of a row nor of a column meet in a bank, whether
// a unit is the first or the second of its eight columns.
template <u32 SIDE>
DEVICE u32 place_of_sums(u32 row, u32 unit) {
    u32 turned = row % 8 + (row / 8 + row) % 2 * 8;
    return row * (SIDE / 4) + ((unit % 2 * (SIDE / 8) + unit / 2) ^ turned);
}

// Finishes ROWS rows of a tile that lie in LDS; `row_of` says which of the
// tile's rows each is.
template <u32 SIDE, u32 LANES, u32 ROWS, typename RowOf>
DEVICE void finish_rows(SHARED_SPACE const f32x4* lds, const Product& product, const Unit& unit, Lane lane,
                        RowOf row_of) {
    bool vectors = stores_vectors(product);
#pragma nounroll
    for (u32 index = lane.number; index < ROWS * SIDE / 8; index += LANES) {
        u32 inside = index / (SIDE / 8), eight = index % (SIDE / 8);
        u32 row = unit.tile.row * SIDE + row_of(inside), column = unit.tile.column * SIDE + eight * 8;
        if (row < product.m && column < product.n) {
            f32x4 low = lds[place_of_sums<SIDE>(inside, 2 * eight)];
            f32x4 high = lds[place_of_sums<SIDE>(inside, 2 * eight + 1)];
            f32x8 values = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
            finish_eight(product, unit.part, row, column, vectors, values);
        }
    }
}
