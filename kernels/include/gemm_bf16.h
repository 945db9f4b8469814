// The bf16 matrix multiplication: everything but the layout of LDS and the
// matrix instruction, which each architecture has its own of.
//
// A workgroup computes a square tile of C. Its waves divide rows and columns
// of the tile, in blocks of 32 x 32. K is taken in stages. LDS holds two of
// them: while one is multiplied, the next goes from registers to LDS and the
// one after that from memory to registers, so no load is waited for in the
// iteration that issues it. One barrier a stage is enough.
//
// The blocks are computed as their transposes: a lane then has four neighbours
// of a row of C, which go back through LDS, so that whole rows are finished.
#pragma once
#include "device.h"
#include "gemm.h"

constexpr u32 BLOCK = 32;

// How a workgroup divides its tile.
template <u32 WAVE_ROWS_, u32 WAVE_COLUMNS_, u32 BLOCK_ROWS_, u32 BLOCK_COLUMNS_>
struct Shape {
    static constexpr u32 WAVE_ROWS = WAVE_ROWS_, WAVE_COLUMNS = WAVE_COLUMNS_;
    static constexpr u32 BLOCK_ROWS = BLOCK_ROWS_, BLOCK_COLUMNS = BLOCK_COLUMNS_;
    static constexpr u32 SIDE = WAVE_ROWS * BLOCK_ROWS * BLOCK;
    static constexpr u32 LANES = WAVE_ROWS * WAVE_COLUMNS * WAVE;
    static_assert(SIDE == WAVE_COLUMNS * BLOCK_COLUMNS * BLOCK, "tiles are square");
    static_assert(LANES == 2 * SIDE, "the layouts of LDS count on it");

    static MEMBER u32 row_of_wave(Lane lane) { return lane.wave / WAVE_COLUMNS * (BLOCK_ROWS * BLOCK); }

    static MEMBER u32 column_of_wave(Lane lane) { return lane.wave % WAVE_COLUMNS * (BLOCK_COLUMNS * BLOCK); }
};

typedef Shape<2, 4, 4, 2> Shape256;
typedef Shape<2, 2, 2, 2> Shape128;
typedef Shape<1, 2, 2, 1> Shape64;

// An operand in memory: `rows` rows of C, of which the tile begins at
// `first`, by `depth` along K.
struct Matrix {
    const bf16* data;
    u32 stride;
    u32 first;
    u32 rows;
    u32 depth;
};

// The part of an operand that a unit of work reads.
template <Along ALONG>
DEVICE Matrix part_of(const void* data, u32 stride, u32 first, u32 rows, const Unit& unit) {
    u64 skipped = ALONG == Along::K ? (u64)unit.first_k : (u64)unit.first_k * stride;
    return {(const bf16*)data + skipped, stride, first, rows, unit.length};
}

// What a lane has of C.
template <typename Shape>
struct Sums {
    f32x16 blocks[Shape::BLOCK_ROWS][Shape::BLOCK_COLUMNS];
};

// Brings stages of an operand from memory to registers and on to LDS. `Pieces`
// tells which pieces of a stage a lane has: COUNT of them, WIDTH elements
// each, which are neighbours in memory. All addresses are made once.
template <typename Pieces, bool VECTORS>
struct Loader {
    typedef typename Pieces::Packed Packed;
    static constexpr bool ALONG_K = Pieces::ALONG == Along::K;

    Pieces pieces;
    Matrix matrix;
    const GLOBAL_SPACE bf16* next;
    u32 left;
    u32 offsets[Pieces::COUNT];
    Packed values[Pieces::COUNT];

    MEMBER Loader(u32x4* lds, const Matrix& operand, Lane lane)
        : pieces((SHARED_SPACE u32x4*)lds, lane),
          matrix(operand),
          next((const GLOBAL_SPACE bf16*)operand.data +
               (ALONG_K ? (u64)operand.first * operand.stride : operand.first)),
          left(operand.depth) {
        // Rows behind the last one are read as the last ones: what they give
        // is not stored.
        u32 last = matrix.rows - (ALONG_K ? 1 : Pieces::WIDTH) - matrix.first;
        for (u32 piece = 0; piece < Pieces::COUNT; ++piece) {
            u32 row = smaller(pieces.row(piece), last), k = pieces.k(piece);
            offsets[piece] = 2 * (ALONG_K ? row * matrix.stride + k : k * matrix.stride + row);
        }
    }

    MEMBER Packed at(u32 offset) const { return *(const GLOBAL_SPACE Packed*)((const GLOBAL_SPACE u8*)next + offset); }

    MEMBER void advance() {
        next += ALONG_K ? Pieces::DEPTH : (u64)Pieces::DEPTH * matrix.stride;
        left -= smaller(left, Pieces::DEPTH);
    }

    // A stage that is wholly inside the matrix. The base stays a scalar, to
    // which each lane adds 32 bits: left alone, the compiler keeps a full
    // address of each piece in each lane.
    MEMBER void load_whole() {
        __asm__("" : "+s"(next));
        for (u32 piece = 0; piece < Pieces::COUNT; ++piece) {
            u32 offset = offsets[piece];
            keep(offset);
            values[piece] = at(offset);
        }
        advance();
    }

    // A stage that may end early: zeros follow.
    MEMBER void load() {
        for (u32 piece = 0; piece < Pieces::COUNT; ++piece) {
            if (VECTORS) {
                bool inside = pieces.k(piece) < left;
                Packed value = at(inside ? offsets[piece] : 0);
                values[piece] = inside ? value : Packed{};
            } else {
                values[piece] = elements(piece);
            }
        }
        advance();
    }

    // A piece of a matrix whose rows do not begin at multiples of a piece.
    MEMBER Packed elements(u32 piece) const {
        union {
            bf16 elements[Pieces::WIDTH];
            Packed packed;
        } result;
        u32 row = pieces.row(piece), k = pieces.k(piece);
        // Addresses are made anew each time: there are no registers for all.
        __asm__ volatile("" : "+v"(row), "+v"(k));
        for (u32 i = 0; i < Pieces::WIDTH; ++i) {
            u32 at_row = row + (ALONG_K ? 0 : i), at_k = k + (ALONG_K ? i : 0);
            bool inside = at_k < left && matrix.first + at_row < matrix.rows;
            u64 at = ALONG_K ? (u64)at_row * matrix.stride + at_k : (u64)at_k * matrix.stride + at_row;
            result.elements[i] = inside ? next[inside ? at : 0] : (bf16)0.0f;
        }
        return result.packed;
    }

    MEMBER void store(u32 buffer) const { pieces.store(buffer * Pieces::UNITS, values); }
};

// True when an operand can be read a piece at a time.
template <typename Pieces>
DEVICE bool fits_vectors(const Matrix& matrix) {
    u32 length = Pieces::ALONG == Along::K ? matrix.depth : matrix.rows;
    return (length | matrix.stride) % Pieces::WIDTH == 0 && (u64)matrix.data % (2 * Pieces::WIDTH) == 0;
}

// Adds a stage that is in LDS to the sums, in turns of a step for half of the
// rows. What a turn needs is read while the turn before it is multiplied, and
// no earlier: there are registers for two turns.
template <typename Machine, typename Rows, typename Columns>
DEVICE void add_stage(const Rows& rows, const Columns& columns, u32 buffer, Sums<typename Machine::Shape>& sums) {
    constexpr u32 HALF = Machine::Shape::BLOCK_ROWS / 2, BLOCK_COLUMNS = Machine::Shape::BLOCK_COLUMNS;
    constexpr u32 TURNS = 2 * Machine::STEPS;
    u32 start = buffer * Machine::UNITS;
    typename Machine::Fragment a[2][HALF], b[2][BLOCK_COLUMNS];
#pragma unroll
    for (u32 turn = 0; turn <= TURNS; ++turn) {
        u32 step = turn / 2;
        if (turn < TURNS) {
            for (u32 j = 0; turn % 2 == 0 && j < BLOCK_COLUMNS; ++j) {
                b[step % 2][j] = columns.read(start, j, step);
            }
            for (u32 i = 0; i < HALF; ++i) {
                a[turn % 2][i] = rows.read(start, turn % 2 * HALF + i, step);
            }
            __builtin_amdgcn_sched_barrier(0);
        }
        if (turn > 0) {
            u32 last = turn - 1;
            Machine::multiply(a[last % 2], b[last / 2 % 2], sums.blocks + last % 2 * HALF);
        }
    }
}

// Adds all stages to the sums. `Machine` has the LDS layout of both operands
// and the matrix instruction.
template <typename Machine, Along LEFT, Along RIGHT, bool VECTORS>
DEVICE void add_stages(u32x4* lds, const Matrix& a, const Matrix& b, Sums<typename Machine::Shape>& sums, Lane lane) {
    typedef typename Machine::Shape Shape;
    u32x4* right_lds = lds + 2 * Machine::UNITS;
    Loader<typename Machine::template Pieces<LEFT>, VECTORS> left(lds, a, lane);
    Loader<typename Machine::template Pieces<RIGHT>, VECTORS> right(right_lds, b, lane);
    typename Machine::template Fragments<LEFT, Shape::BLOCK_ROWS> rows((SHARED_SPACE u32x4*)lds,
                                                                       Shape::row_of_wave(lane), lane);
    typename Machine::template Fragments<RIGHT, Shape::BLOCK_COLUMNS> columns((SHARED_SPACE u32x4*)right_lds,
                                                                              Shape::column_of_wave(lane), lane);
    u32 stages = ceil_div(a.depth, Machine::DEPTH), whole = a.depth / Machine::DEPTH;
    left.load();
    right.load();
    left.store(0);
    right.store(0);
    if (stages > 1) {
        left.load();
        right.load();
    }
    barrier();
    u32 stage = 0;
    // Two stages an iteration, so that addresses in LDS are constants.
    while (VECTORS && stage + 3 < whole) {
#pragma unroll
        for (u32 buffer = 0; buffer < 2; ++buffer) {
            left.store(1 - buffer);
            right.store(1 - buffer);
            // The registers that were stored are loaded again. Loads are under
            // way before anything is multiplied, and what they bring is not
            // looked at before the next stage.
            __builtin_amdgcn_sched_barrier(0);
            left.load_whole();
            right.load_whole();
            __builtin_amdgcn_sched_barrier(0);
            add_stage<Machine>(rows, columns, buffer, sums);
            barrier();
            __builtin_amdgcn_sched_barrier(0);
        }
        stage += 2;
    }
#pragma nounroll
    for (; stage < stages; ++stage) {
        u32 buffer = stage % 2;
        if (stage + 1 < stages) {
            left.store(1 - buffer);
            right.store(1 - buffer);
        }
        if (stage + 2 < stages) {
            left.load();
            right.load();
        }
        add_stage<Machine>(rows, columns, buffer, sums);
        barrier();
    }
}

// Puts a lane's sums of a row of blocks to LDS.
template <typename Shape>
DEVICE void put_sums(SHARED_SPACE f32x4* lds, const f32x16 (&blocks)[Shape::BLOCK_COLUMNS], Lane lane) {
    u32 row = lane.wave / Shape::WAVE_COLUMNS * BLOCK + lane.in_wave % BLOCK;
#pragma unroll
    for (u32 block = 0; block < Shape::BLOCK_COLUMNS; ++block) {
#pragma unroll
        for (u32 quad = 0; quad < 4; ++quad) {
            u32 unit = (Shape::column_of_wave(lane) + block * BLOCK) / 4 + quad * 2 + lane.in_wave / BLOCK;
            f32x4 values;
            for (u32 i = 0; i < 4; ++i) {
                values[i] = blocks[block][quad * 4 + i];
            }
            lds[place_of_sums<Shape::SIDE>(row, unit)] = values;
        }
    }
}

// Finishes a tile, a row of blocks of each wave at a time.
template <typename Shape>
DEVICE void store_sums(SHARED_SPACE f32x4* lds, const Sums<Shape>& sums, const Product& product, const Unit& unit,
                       Lane lane) {
#pragma nounroll
    for (u32 pass = 0; pass < Shape::BLOCK_ROWS; ++pass) {
        // Which registers are meant must be known to the compiler.
#pragma unroll
        for (u32 block_row = 0; block_row < Shape::BLOCK_ROWS; ++block_row) {
            if (block_row == pass) {
                put_sums<Shape>(lds, sums.blocks[block_row], lane);
            }
        }
        barrier();
        finish_rows<Shape::SIDE, Shape::LANES, Shape::WAVE_ROWS * BLOCK>(lds, product, unit, lane, [=](u32 row) {
            return (row / BLOCK * Shape::BLOCK_ROWS + pass) * BLOCK + row % BLOCK;
        });
        barrier();
    }
}

// Stores a tile of a product in bf16 that nothing follows, whose rows begin at multiples of 16
// bytes and are full: four neighbours at once, without a way through LDS.
template <typename Shape>
DEVICE void store_quads(const Sums<Shape>& sums, const Product& product, const Unit& unit, Lane lane) {
    u32 first = unit.tile.row * Shape::SIDE + Shape::row_of_wave(lane) + lane.in_wave % BLOCK;
#pragma unroll
    for (u32 block_row = 0; block_row < Shape::BLOCK_ROWS; ++block_row) {
        u32 row = first + block_row * BLOCK;
        bf16* out = (bf16*)product.c + (u64)row * product.ldc;
#pragma unroll
        for (u32 quad = 0; quad < 4 * Shape::BLOCK_COLUMNS; ++quad) {
            u32 column = unit.tile.column * Shape::SIDE + Shape::column_of_wave(lane) + quad * 8 +
                         lane.in_wave / BLOCK * 4;
            f32x4 values;
            for (u32 i = 0; i < 4; ++i) {
                values[i] = sums.blocks[block_row][quad / 4][quad % 4 * 4 + i];
            }
            if (row < product.m && column < product.n) {
                *(bf16x4*)(out + column) = __builtin_convertvector(values, bf16x4);
            }
        }
    }
}

// The sums of a unit of a product. `lds` has both buffers of A, then both of B.
template <typename Machine, Along LEFT, Along RIGHT>
DEVICE void sum_unit(u32x4* lds, const Product& product, const Unit& unit, Lane lane,
                     Sums<typename Machine::Shape>& sums) {
    constexpr u32 SIDE = Machine::Shape::SIDE;
    Matrix left = part_of<LEFT>(product.a, product.lda, unit.tile.row * SIDE, product.m, unit);
    Matrix right = part_of<RIGHT>(product.b, product.ldb, unit.tile.column * SIDE, product.n, unit);
    bool vectors = fits_vectors<typename Machine::template Pieces<LEFT>>(left) &&
                   fits_vectors<typename Machine::template Pieces<RIGHT>>(right);
    if (unit.length == 0) {
        // An empty sum: there is nothing to load.
    } else if (vectors) {
        add_stages<Machine, LEFT, RIGHT, true>(lds, left, right, sums, lane);
    } else {
        add_stages<Machine, LEFT, RIGHT, false>(lds, left, right, sums, lane);
    }
}

// What a workgroup does of a product: each `groups`-th unit.
template <typename Machine, Along LEFT, Along RIGHT>
DEVICE void multiply(u32x4* lds) {
    typedef typename Machine::Shape Shape;
    u32 taken = workgroup(), wave = wave_of_workgroup();
    while (true) {
        Sums<Shape> sums = {};
        {
            Arguments arguments = fresh_arguments();
            Product product = arguments.product();
            Work work(product, Shape::SIDE, arguments.depth);
            if (taken >= work.units) {
                return;
            }
            sum_unit<Machine, LEFT, RIGHT>(lds, product, work.unit(product, taken), fresh_lane(wave), sums);
        }
        Arguments arguments = fresh_arguments();
        Product product = arguments.product();
        Unit unit = Work(product, Shape::SIDE, arguments.depth).unit(product, taken);
        store_sums<Shape>((SHARED_SPACE f32x4*)lds, sums, product, unit, fresh_lane(wave));
        taken += arguments.groups;
    }
}

#define LDS_OF(machine) SHARED u32x4 lds[4 * machine::UNITS]

// An entry point that takes everything.
#define GEMM_BF16(name, machine, left, right)                                           \
    KERNEL(machine::Shape::LANES) name(ARGUMENTS(const bf16*)) {                        \
        LDS_OF(machine);                                                                \
        multiply<machine, Along::left, Along::right>(lds);                              \
    }

// An entry point for C = A B in bf16 and nothing else, one tile a workgroup.
#define GEMM_BF16_PLAIN(name, machine, left, right)                                                      \
    KERNEL(machine::Shape::LANES)                                                                        \
    name(const bf16* a, const bf16* b, bf16* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {        \
        LDS_OF(machine);                                                                                 \
        Product product = {a, b, nullptr, nullptr, c, m, n, k, lda, ldb, ldc, Activation::None, false};  \
        Unit unit = Work(product, machine::Shape::SIDE, k).unit(product, workgroup());                   \
        Sums<machine::Shape> sums = {};                                                                  \
        u32 wave = wave_of_workgroup();                                                                  \
        sum_unit<machine, Along::left, Along::right>(lds, product, unit, fresh_lane(wave), sums);        \
        if (stores_vectors(product)) {                                                                   \
            store_quads<machine::Shape>(sums, product, unit, fresh_lane(wave));                          \
            return;                                                                                      \
        }                                                                                                \
        store_sums<machine::Shape>((SHARED_SPACE f32x4*)lds, sums, product, unit, fresh_lane(wave));     \
    }
