// The bf16 matrix multiplication: everything but the layout of LDS and the
// matrix instruction, which each architecture has its own of.
//
// A workgroup of eight waves computes a 256 x 256 tile of C. Two waves divide
// its rows and four its columns, so a wave has 128 x 64, which are 4 x 2
// blocks of 32 x 32. K is taken in stages. LDS holds two of them: while one is
// multiplied, the next goes from registers to LDS and the one after that from
// memory to registers, so no load is waited for in the iteration that issues
// it. One barrier a stage is enough.
//
// The blocks are computed as their transposes: a lane then has four neighbours
// of a row of C, which it stores at once.
#pragma once
#include "device.h"
#include "gemm.h"

constexpr u32 SIDE = 256;
constexpr u32 LANES = 512;
constexpr u32 BLOCK = 32;
constexpr u32 BLOCK_ROWS = 4, BLOCK_COLUMNS = 2;

// An operand in memory: `rows` rows of C, of which the tile begins at
// `first`, by `depth` along K.
struct Matrix {
    const bf16* data;
    u32 stride;
    u32 first;
    u32 rows;
    u32 depth;
};

// What a lane has of C.
struct Sums {
    f32x16 blocks[BLOCK_ROWS][BLOCK_COLUMNS];
};

DEVICE u32 row_of_wave() { return wave_of_workgroup() / 4 * (BLOCK_ROWS * BLOCK); }

DEVICE u32 column_of_wave() { return wave_of_workgroup() % 4 * (BLOCK_COLUMNS * BLOCK); }

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

    MEMBER Loader(u32x4* lds, const Matrix& operand)
        : pieces((SHARED_SPACE u32x4*)lds),
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
DEVICE void add_stage(const Rows& rows, const Columns& columns, u32 buffer, Sums& sums) {
    constexpr u32 TURNS = 2 * Machine::STEPS, HALF = BLOCK_ROWS / 2;
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
            Machine::multiply(a[last % 2], b[last / 2 % 2], sums.blocks[last % 2 * HALF], sums.blocks[last % 2 * HALF + 1]);
        }
    }
}

// Adds all stages to the sums. `Machine` has the LDS layout of both operands
// and the matrix instruction.
template <typename Machine, Along LEFT, Along RIGHT, bool VECTORS>
DEVICE void add_stages(u32x4* lds, const Matrix& a, const Matrix& b, Sums& sums) {
    u32x4* right_lds = lds + 2 * Machine::UNITS;
    Loader<typename Machine::template Pieces<LEFT>, VECTORS> left(lds, a);
    Loader<typename Machine::template Pieces<RIGHT>, VECTORS> right(right_lds, b);
    typename Machine::template Fragments<LEFT, BLOCK_ROWS> rows((SHARED_SPACE u32x4*)lds, row_of_wave());
    typename Machine::template Fragments<RIGHT, BLOCK_COLUMNS> columns((SHARED_SPACE u32x4*)right_lds,
                                                                       column_of_wave());
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

// Four neighbours of C.
template <typename T>
struct Quad {
    typedef bf16x4 type;
};

template <>
struct Quad<f32> {
    typedef f32x4 type;
};

// Writes a lane's sums, with what is added to them where that is not null:
// four neighbours at once where C allows it.
template <typename T>
DEVICE void store_sums(const Sums& sums, const T* added, T* c, Tile tile, u32 m, u32 n, u32 ldc) {
    typedef typename Quad<T>::type Packed;
    u32 lane = lane_of_wave();
    bool vectors = (n | ldc) % 4 == 0 && ((u64)c | (u64)added) % sizeof(Packed) == 0;
#pragma unroll
    for (u32 block_row = 0; block_row < BLOCK_ROWS; ++block_row) {
        u32 row = tile.row * SIDE + row_of_wave() + block_row * BLOCK + lane % BLOCK;
        T* out = c + (u64)row * ldc;
        const T* in = added + (u64)row * ldc;
#pragma unroll
        for (u32 block_column = 0; block_column < BLOCK_COLUMNS; ++block_column) {
#pragma unroll
            for (u32 quad = 0; quad < 4; ++quad) {
                u32 column = tile.column * SIDE + column_of_wave() + block_column * BLOCK + quad * 8 + lane / BLOCK * 4;
                f32x4 values;
                for (u32 i = 0; i < 4; ++i) {
                    values[i] = sums.blocks[block_row][block_column][quad * 4 + i];
                }
                if (row < m && column < n) {
                    if (vectors) {
                        if (added) {
                            values += __builtin_convertvector(*(const Packed*)(in + column), f32x4);
                        }
                        *(Packed*)(out + column) = __builtin_convertvector(values, Packed);
                    } else {
#pragma unroll
                        for (u32 i = 0; i < 4; ++i) {
                            if (column + i < n) {
                                out[column + i] = (T)(added ? values[i] + (f32)in[column + i] : values[i]);
                            }
                        }
                    }
                }
            }
        }
    }
}

// The whole multiplication of a workgroup. `lds` has both buffers of A, then
// both of B.
template <typename Machine, Along LEFT, Along RIGHT, typename T>
DEVICE void gemm(u32x4* lds, const bf16* a, const bf16* b, const T* added, T* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb,
                 u32 ldc) {
    Tile tile = tile_of_workgroup(ceil_div(m, SIDE), ceil_div(n, SIDE));
    Matrix left = {a, lda, tile.row * SIDE, m, k};
    Matrix right = {b, ldb, tile.column * SIDE, n, k};
    Sums sums = {};
    bool vectors = fits_vectors<typename Machine::template Pieces<LEFT>>(left) &&
                   fits_vectors<typename Machine::template Pieces<RIGHT>>(right);
    if (k == 0) {
        // An empty sum: there is nothing to load.
    } else if (vectors) {
        add_stages<Machine, LEFT, RIGHT, true>(lds, left, right, sums);
    } else {
        add_stages<Machine, LEFT, RIGHT, false>(lds, left, right, sums);
    }
    store_sums(sums, added, c, tile, m, n, ldc);
}
