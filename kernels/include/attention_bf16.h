// What the attention kernels with matrix instructions share: how tiles come
// from memory to LDS, and how a wave reads its operands there.
//
// Products are computed so that their first result is the operand of the next
// as it is. A lane has one column of a 32 x 32 block of sums and of each eight
// rows four neighbours, which is what it gives of the right operand of a
// product over those rows. So scores lie as keys x queries where keys are
// summed over next, and as queries x keys where queries are.
//
// A tile lies in LDS in one or two images: rows as in memory, for products
// over the size of a head, and columns, for products over positions. Both are
// swizzled so that no lanes that are served together meet in a bank. What an
// architecture has of its own is in its `Machine`.
#pragma once
#include "attention.h"

constexpr u32 BLOCK = 32;
constexpr u32 WAVES = 4;
constexpr f32 LOG2_E = 1.44269504088896341f, LN_2 = 0.693147180559945309f;

typedef SHARED_SPACE u32x4* Place;
typedef __amdgpu_buffer_rsrc_t Buffer;

// Workgroups of four waves, where `waves` waves shall fit on a SIMD.
#define ATTENTION_KERNEL(waves) \
    extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256), amdgpu_waves_per_eu(waves, waves))) void

// 2 to the power of x by the hardware's instruction.
DEVICE f32 power_of_two(f32 x) { return __builtin_amdgcn_exp2f(x); }

// The value of the lane that is 32 away.
DEVICE f32 from_other_half(f32 value) {
    u32 from = (lane_of_wave() ^ BLOCK) * 4;
    return __builtin_bit_cast(f32, __builtin_amdgcn_ds_bpermute(from, __builtin_bit_cast(i32, value)));
}

// What comes later is not begun before this value is there, reads of LDS
// included: there are not registers enough for the operands of two products.
template <typename T>
DEVICE void next_phase(T& value) {
    __asm__ volatile("" : "+v"(value) : : "memory");
    __builtin_amdgcn_sched_barrier(0);
}

// Row of a block that a lane has in element `index` of its sums.
DEVICE u32 row_of(u32 index) { return index / 4 * 8 + lane_of_wave() / BLOCK * 4 + index % 4; }

// So many bytes of memory; what lies behind them reads as zeros.
DEVICE Buffer buffer_of(const void* data, u32 bytes) {
    return __builtin_amdgcn_make_buffer_rsrc((void*)data, 0, bytes, 0x27000);
}

DEVICE u32x4 load(Buffer buffer, u32 offset) { return __builtin_amdgcn_raw_buffer_load_b128(buffer, offset, 0, 0); }

// A head at all positions of a sequence, in bytes.
struct Head {
    const bf16* data;
    u32 stride;
    u32 bytes;

    MEMBER Head(const bf16* tensor, u32 positions, u32 heads, u32 size, u32 batch, u32 head)
        : data(tensor + ((u64)batch * positions * heads + head) * size),
          stride(2 * heads * size),
          bytes(positions == 0 ? 0 : positions * stride - 2 * head * size) {}

    MEMBER Buffer buffer() const { return buffer_of(data, bytes); }
};

// The operand that a wave keeps in registers: a position a lane, of which
// lanes of the lower half have the first 8 of each 16 elements.
template <u32 D>
struct Fixed {
    u32x4 parts[D / 16];

    MEMBER Fixed(const Head& head, u32 position) {
        Buffer buffer = head.buffer();
        u32 offset = position * head.stride + lane_of_wave() / BLOCK * 16;
        for (u32 step = 0; step < D / 16; ++step) {
            parts[step] = load(buffer, offset + step * 32);
        }
    }
};

// 16 bytes in LDS from the start of one row of the rows image to the next.
constexpr u32 row_units(u32 d) { return (d / 8 + 7) / 8 * 8; }

// How tiles of T positions are cut into chunks for a wave each: a lane has 8
// columns of four positions.
template <u32 T>
struct Chunk {
    static constexpr u32 OCTETS = 256 / T;

    static MEMBER u32 octet() { return lane_of_wave() % OCTETS; }

    static MEMBER u32 index() { return lane_of_wave() / OCTETS; }
};

// Brings tiles of two tensors, A and B, to LDS. The waves divide the chunks of
// both among them; a wave has a chunk a slot.
template <typename Machine, u32 T, typename A, typename B>
struct Stage {
    static constexpr u32 OCTETS = Chunk<T>::OCTETS;
    static constexpr u32 OF_A = A::SIZE / 8 / OCTETS, OF_B = B::SIZE / 8 / OCTETS, ALL = OF_A + OF_B;
    static constexpr u32 SLOTS = (ALL + WAVES - 1) / WAVES;
    static_assert(A::SIZE % (8 * OCTETS) == 0 && B::SIZE % (8 * OCTETS) == 0, "chunks are whole");

    struct Slot {
        Buffer buffer;
        u32 step;
        u32 offsets[4];
        Place rows[4];
        SHARED_SPACE u32x2* columns[8];
        u32x4 values[4];
    };

    Slot slots[SLOTS];

    // Which chunk a wave has in a slot, where it has one, and whose it is.
    // Where all waves have the same answer it is a constant.
    static MEMBER u32 chunk(u32 slot) { return slot * WAVES + wave_of_workgroup(); }

    static MEMBER bool is_any(u32 slot) { return (slot + 1) * WAVES <= ALL || chunk(slot) < ALL; }

    static MEMBER bool is_a(u32 slot) {
        return (slot + 1) * WAVES <= OF_A || (slot * WAVES < OF_A && chunk(slot) < OF_A);
    }

    static MEMBER u32 octet(u32 slot) {
        return (is_a(slot) ? chunk(slot) : chunk(slot) - OF_A) * OCTETS + Chunk<T>::octet();
    }

    MEMBER explicit Stage(Place lds) {
        for (u32 slot = 0; slot < SLOTS; ++slot) {
            bool a = is_a(slot);
            u32 units = a ? row_units(A::SIZE) : row_units(B::SIZE);
            for (u32 i = 0; i < 4; ++i) {
                u32 row = Machine::template position<T>(i, units);
                slots[slot].rows[i] =
                    lds + (a ? A::ROWS : B::ROWS) + row * units + (octet(slot) ^ Machine::swizzle(row, units));
            }
            Machine::template column_places<T>(lds + (a ? A::COLUMNS : B::COLUMNS), octet(slot), slots[slot].columns);
        }
    }

    // Goes to these heads, from a position on.
    MEMBER void go_to(const Head& a, const Head& b, u32 first) {
        for (u32 slot = 0; slot < SLOTS; ++slot) {
            u32 units = is_a(slot) ? row_units(A::SIZE) : row_units(B::SIZE);
            slots[slot].buffer = buffer_of(is_a(slot) ? a.data : b.data, is_a(slot) ? a.bytes : b.bytes);
            u32 stride = is_a(slot) ? a.stride : b.stride;
            slots[slot].step = T * stride;
            for (u32 i = 0; i < 4; ++i) {
                u32 row = first + Machine::template position<T>(i, units);
                slots[slot].offsets[i] = row * stride + octet(slot) * 16;
            }
        }
    }

    // From memory to registers, and on to the next tile.
    MEMBER void load_next() {
        for (u32 slot = 0; slot < SLOTS; ++slot) {
            if (is_any(slot)) {
                for (u32 i = 0; i < 4; ++i) {
                    slots[slot].values[i] = load(slots[slot].buffer, slots[slot].offsets[i]);
                    slots[slot].offsets[i] += slots[slot].step;
                }
            }
        }
    }

    template <typename Of>
    MEMBER void store(const Slot& slot) const {
        if (Of::HAS_ROWS || (Of::HAS_COLUMNS && !Machine::COLUMNS)) {
            for (u32 i = 0; i < 4; ++i) {
                *slot.rows[i] = slot.values[i];
            }
        }
        if (Of::HAS_COLUMNS && Machine::COLUMNS) {
            constexpr u32 LOW = 0x05040100, HIGH = 0x07060302;
            for (u32 i = 0; i < 8; ++i) {
                u32 take = i % 2 == 0 ? LOW : HIGH, word = i / 2;
                u32x2 column = {__builtin_amdgcn_perm(slot.values[1][word], slot.values[0][word], take),
                                __builtin_amdgcn_perm(slot.values[3][word], slot.values[2][word], take)};
                *slot.columns[i] = column;
            }
        }
    }

    // From registers to LDS.
    MEMBER void store() const {
        for (u32 slot = 0; slot < SLOTS; ++slot) {
            if (is_any(slot)) {
                if (is_a(slot)) {
                    store<A>(slots[slot]);
                } else {
                    store<B>(slots[slot]);
                }
            }
        }
    }
};

// A tensor's tiles of T positions in LDS: which images there are, and where
// they begin, in units of 16 bytes.
template <typename Machine, u32 T, u32 D, bool ROWS_WANTED, bool COLUMNS_WANTED, u32 START>
struct Images {
    static constexpr u32 SIZE = D;
    static constexpr bool HAS_ROWS = ROWS_WANTED, HAS_COLUMNS = COLUMNS_WANTED;
    static constexpr bool ROWS_STORED = HAS_ROWS || !Machine::COLUMNS;
    static constexpr u32 ROWS = START;
    static constexpr u32 COLUMNS = Machine::COLUMNS ? START + (ROWS_STORED ? T * row_units(D) : 0) : START;
    static constexpr u32 END = Machine::COLUMNS && HAS_COLUMNS ? COLUMNS + D * T / 8 : START + T * row_units(D);
};

// Reads of a rows image that begins START after `lds`: 32 positions by 16
// elements, as `Fixed` has them.
template <typename Machine, u32 D>
struct Rows {
    static constexpr u32 UNITS = row_units(D);
    static constexpr u32 PERIOD = Machine::swizzled(UNITS) / 2;
    static constexpr u32 BASES = PERIOD < D / 16 ? PERIOD : D / 16;

    Place places[BASES];

    MEMBER explicit Rows(Place lds) {
        u32 row = lane_of_wave() % BLOCK;
        for (u32 step = 0; step < BASES; ++step) {
            u32 unit = 2 * step + lane_of_wave() / BLOCK;
            places[step] = lds + row * UNITS + (unit ^ Machine::swizzle(row, UNITS));
            keep(places[step]);
        }
    }

    template <u32 START>
    MEMBER u32x4 read(u32 block, u32 step) const {
        return places[step % BASES][START + block * BLOCK * UNITS + step / BASES * BASES * 2];
    }
};

// Two readers, which are one where both have the same sizes.
template <typename A, typename B>
struct Both {
    A a;
    B b;

    MEMBER explicit Both(Place lds) : a(lds), b(lds) {}
    MEMBER const A& first() const { return a; }
    MEMBER const B& second() const { return b; }
};

template <typename A>
struct Both<A, A> {
    A a;

    MEMBER explicit Both(Place lds) : a(lds) {}
    MEMBER const A& first() const { return a; }
    MEMBER const A& second() const { return a; }
};

// The operand for the sums of a block: 8 of them in bf16 for each 16 rows.
struct Operand {
    u32x4 parts[2];
};

template <typename Machine>
DEVICE Operand operand_of(f32x16 sums) {
    Operand result;
    for (u32 part = 0; part < 2; ++part) {
        for (u32 i = 0; i < 4; ++i) {
            result.parts[part][i] = Machine::pack(sums[part * 8 + 2 * i], sums[part * 8 + 2 * i + 1]);
        }
    }
    return result;
}

// Writes a wave's sums, times a factor: columns are positions, rows elements
// of the head.
template <u32 D>
DEVICE void store_sums(const f32x16 (&sums)[D / BLOCK], f32 factor, bf16* out) {
    for (u32 block = 0; block < D / BLOCK; ++block) {
        for (u32 quad = 0; quad < 4; ++quad) {
            f32x4 values;
            for (u32 i = 0; i < 4; ++i) {
                values[i] = sums[block][quad * 4 + i] * factor;
            }
            *(bf16x4*)(out + block * BLOCK + row_of(quad * 4)) = __builtin_convertvector(values, bf16x4);
        }
    }
}
