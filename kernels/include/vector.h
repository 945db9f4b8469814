// Blocks of values that a wave moves 16 bytes a lane, lanes one behind the
// other, and the same values one a lane where sizes are odd.
#pragma once
#include "device.h"

typedef VECTOR(f32, 8) f32x8;

// Which of the 512 values of a block a lane holds.
enum class Order {
    // 8 lane .. 8 lane + 7: 16 bytes of a 16-bit type.
    Whole,
    // 4 lane .. 4 lane + 3 of the first 256 and of the second 256: twice 16 bytes of a 32-bit type.
    Halves,
};

// The order in which blocks of these types are moved: that of the widest.
template <typename... T>
DEVICE constexpr Order order_of() {
    return ((sizeof(T) == 2) && ...) ? Order::Whole : Order::Halves;
}

// Arrays of these types are aligned where they begin at multiples of so many values.
template <typename... T>
DEVICE constexpr u32 aligned_count() {
    return ((sizeof(T) == 4) && ...) ? 4 : 8;
}

template <typename T>
struct Eight;

template <>
struct Eight<f32> {
    typedef f32x8 type;
};

template <>
struct Eight<bf16> {
    typedef bf16x8 type;
};

DEVICE f32 widen(f32 x) { return x; }
DEVICE f32 widen(bf16 x) { return (f32)x; }
DEVICE f32x8 widen(f32x8 x) { return x; }
DEVICE f32x8 widen(bf16x8 x) { return __builtin_convertvector(x, f32x8); }

// The function of each value.
template <typename F>
DEVICE f32 each(f32 x, F f) {
    return f(x);
}

template <typename F>
DEVICE f32x8 each(f32x8 x, F f) {
#pragma unroll
    for (u32 i = 0; i < 8; ++i) {
        x[i] = f(x[i]);
    }
    return x;
}

DEVICE f32 fused(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }

DEVICE f32x8 fused(f32x8 a, f32x8 b, f32x8 c) { return __builtin_elementwise_fma(a, b, c); }

// The values of a lane in one.
template <typename Op>
DEVICE f32 over_lane(f32 x) {
    return x;
}

template <typename Op>
DEVICE f32 over_lane(f32x8 x) {
    f32 low = Op::of(Op::of(x[0], x[1]), Op::of(x[2], x[3]));
    f32 high = Op::of(Op::of(x[4], x[5]), Op::of(x[6], x[7]));
    return Op::of(low, high);
}

DEVICE u32 from(u32 lane, u32 word) { return (u32)__builtin_amdgcn_ds_bpermute((i32)(lane * 4), (i32)word); }

// From one order to the other, lane to lane: two groups of WORDS words each.
template <u32 WORDS>
struct Exchange {
    u32 words[2 * WORDS];

    MEMBER Exchange to_halves() const {
        u32 lane = lane_of_wave();
        bool odd = lane & 1;
        Exchange out;
#pragma unroll
        for (u32 half = 0; half < 2; ++half) {
#pragma unroll
            for (u32 word = 0; word < WORDS; ++word) {
                u32 source = 32 * half + lane / 2;
                u32 first = from(source, words[word]), second = from(source, words[WORDS + word]);
                out.words[half * WORDS + word] = odd ? second : first;
            }
        }
        return out;
    }

    MEMBER Exchange to_whole() const {
        u32 lane = lane_of_wave();
        bool upper = lane >= 32;
        Exchange out;
#pragma unroll
        for (u32 group = 0; group < 2; ++group) {
#pragma unroll
            for (u32 word = 0; word < WORDS; ++word) {
                u32 source = 2 * (lane % 32) + group;
                u32 first = from(source, words[word]), second = from(source, words[WORDS + word]);
                out.words[group * WORDS + word] = upper ? second : first;
            }
        }
        return out;
    }
};

// Eight values of a lane of one order in the other.
template <Order TO, typename V>
DEVICE V reorder(V value) {
    typedef Exchange<sizeof(V) / 8> Words;
    Words words = __builtin_bit_cast(Words, value);
    return __builtin_bit_cast(V, TO == Order::Whole ? words.to_whole() : words.to_halves());
}

// A block of 512 values from a multiple of 16 bytes on, of which the first
// `here` are there: a multiple of `aligned_count`. All lanes must be active.
template <Order ORDER>
struct Wide {
    static constexpr u32 COUNT = 512;

    // Place in the block of a lane's value `i`.
    static MEMBER u32 index(u32 i) {
        u32 lane = lane_of_wave();
        return ORDER == Order::Whole ? lane * 8 + i : i / 4 * 256 + lane * 4 + i % 4;
    }

    // Values that are not there are `rest`.
    static MEMBER bf16x8 load(const bf16* block, u32 here, f32 rest = 0.0f) {
        bf16x8 value = (bf16x8)(bf16)rest;
        u32 at = lane_of_wave() * 8;
        if (at < here) {
            value = *(const bf16x8*)(block + at);
        }
        return ORDER == Order::Whole ? value : reorder<Order::Halves>(value);
    }

    static MEMBER f32x8 load(const f32* block, u32 here, f32 rest = 0.0f) {
        f32x4 halves[2] = {rest, rest};
        u32 at = lane_of_wave() * 4;
#pragma unroll
        for (u32 half = 0; half < 2; ++half) {
            if (half * 256 + at < here) {
                halves[half] = *(const f32x4*)(block + half * 256 + at);
            }
        }
        f32x8 value = __builtin_shufflevector(halves[0], halves[1], 0, 1, 2, 3, 4, 5, 6, 7);
        return ORDER == Order::Halves ? value : reorder<Order::Whole>(value);
    }

    static MEMBER void store(bf16* block, f32x8 value, u32 here) {
        bf16x8 rounded = __builtin_convertvector(value, bf16x8);
        rounded = ORDER == Order::Whole ? rounded : reorder<Order::Whole>(rounded);
        u32 at = lane_of_wave() * 8;
        if (at < here) {
            *(bf16x8*)(block + at) = rounded;
        }
    }

    static MEMBER void store(f32* block, f32x8 value, u32 here) {
        value = ORDER == Order::Halves ? value : reorder<Order::Halves>(value);
        u32 at = lane_of_wave() * 4;
        if (at < here) {
            *(f32x4*)(block + at) = __builtin_shufflevector(value, value, 0, 1, 2, 3);
        }
        if (256 + at < here) {
            *(f32x4*)(block + 256 + at) = __builtin_shufflevector(value, value, 4, 5, 6, 7);
        }
    }
};

// A block of 64 values anywhere, one a lane, of which the first `here` are there.
struct Single {
    static constexpr u32 COUNT = 64;

    static MEMBER u32 index(u32) { return lane_of_wave(); }

    template <typename T>
    static MEMBER T load(const T* block, u32 here, f32 rest = 0.0f) {
        return lane_of_wave() < here ? block[lane_of_wave()] : (T)rest;
    }

    template <typename T>
    static MEMBER void store(T* block, f32 value, u32 here) {
        if (lane_of_wave() < here) {
            block[lane_of_wave()] = (T)value;
        }
    }
};

// Calls body(move, first, here) for the block of this wave of the 2048 values from `start` on,
// of which those before `end` are there; workgroups have 256 lanes.
template <Order ORDER, typename Body>
DEVICE void over_blocks_from(u64 start, u64 end, Body body) {
    u64 first = start + wave_of_workgroup() * 512;
    if (first + 512 <= end) {
        body(Wide<ORDER>(), first, 512);
        return;
    }
    for (u64 at = first; at < smaller<u64>(end, first + 512); at += Single::COUNT) {
        body(Single(), at, (u32)smaller<u64>(Single::COUNT, end - at));
    }
}

// The same for `count` values, of which each workgroup has 2048.
template <Order ORDER, typename Body>
DEVICE void over_blocks(u64 count, Body body) {
    over_blocks_from<ORDER>((u64)workgroup() * 2048, count, body);
}

// A value that is the same for all lanes, read once for them: nobody writes
// there while the kernel runs.
template <typename T>
DEVICE T together(const T* at) {
    static_assert(sizeof(T) == 4, "what scalar loads read");
    return *(const __attribute__((address_space(4))) T*)(u64)at;
}

// The same where others may write, and of any size, read by one lane for all,
// which must be active.
template <typename T>
DEVICE T by_one(const T* at) {
    constexpr u32 WORDS = (sizeof(T) + 3) / 4;
    union {
        T value;
        u32 words[WORDS];
    } read = {};
    if (lane_of_wave() == 0) {
        read.value = *at;
    }
#pragma unroll
    for (u32 word = 0; word < WORDS; ++word) {
        read.words[word] = __builtin_amdgcn_readfirstlane(read.words[word]);
    }
    return read.value;
}

// N values of any type behind each other, from a multiple of their size on.
template <u32 N>
struct Run {
    static constexpr u32 COUNT = N;

    template <typename T>
    using Values = VECTOR(T, N);

    template <typename T>
    static MEMBER Values<T> load(const T* at) {
        return *(const Values<T>*)at;
    }

    template <typename T>
    static MEMBER void store(T* at, Values<T> values) {
        *(Values<T>*)at = values;
    }
};

// How many values of the widest of these types are 16 bytes.
template <typename... T>
DEVICE constexpr u32 run_of() {
    u32 widest = 1;
    ((widest = sizeof(T) > widest ? sizeof(T) : widest), ...);
    return 16 / widest;
}

// Calls body(run, at) for the runs of N of `count` values that this lane handles;
// workgroups have 256 lanes, and each takes 4096 values.
template <u32 N, typename Body>
DEVICE void over_runs(u64 count, Body body) {
    u64 first = ((u64)workgroup() * 4 + wave_of_workgroup()) * 1024;
    if (first + 1024 <= count) {
#pragma unroll 1
        for (u32 step = 0; step < 1024; step += WAVE * N) {
            body(Run<N>(), first + step + lane_of_wave() * N);
        }
        return;
    }
    for (u64 at = first + lane_of_wave(); at < smaller<u64>(count, first + 1024); at += WAVE) {
        body(Run<1>(), at);
    }
}
