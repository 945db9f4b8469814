// Who handles a row: all waves of a workgroup together, or each wave a row of
// its own where rows are short. Row kernels have workgroups of 512 lanes.
#pragma once
#include "device.h"
#include "reduce.h"
#include "vector.h"

constexpr u32 ROW_WAVES = 8;

// Rows that a wave handles alone have at most so many columns.
constexpr u32 SHORT_ROW = 512;

// Sums and maxima of a team, and which blocks of a row a wave has.
struct Together {
    static constexpr u32 WAVES = ROW_WAVES;

    static MEMBER u64 number() { return workgroup(); }

    static MEMBER u32 wave() { return wave_of_workgroup(); }

    static MEMBER bool is_first() { return lane_of_workgroup() == 0; }

    template <typename Op, typename V>
    static MEMBER f32 over(V value) {
        return over_workgroup<Op, ROW_WAVES>(over_lane<Op>(value), scratch());
    }

    static MEMBER f32* scratch() {
        SHARED f32 parts[ROW_WAVES];
        return parts;
    }
};

struct Alone {
    static constexpr u32 WAVES = 1;

    static MEMBER u64 number() { return (u64)workgroup() * ROW_WAVES + wave_of_workgroup(); }

    static MEMBER u32 wave() { return 0; }

    static MEMBER bool is_first() { return lane_of_wave() == 0; }

    template <typename Op, typename V>
    static MEMBER f32 over(V value) {
        return over_wave<Op>(over_lane<Op>(value));
    }
};

// How a row is cut: into blocks that MOVE moves, of which each wave of a TEAM
// has at most STEPS and keeps them in registers.
template <typename MOVE, typename TEAM, u32 STEPS_>
struct Cut {
    typedef MOVE Move;
    typedef TEAM Team;
    static constexpr u32 STEPS = STEPS_;

    // Calls body(step, first, here) for the blocks of this wave.
    template <typename Body>
    static MEMBER void blocks(u32 columns, Body body) {
#pragma unroll
        for (u32 step = 0; step < STEPS; ++step) {
            u32 first = (step * Team::WAVES + Team::wave()) * Move::COUNT;
            if (first < columns) {
                body(step, first, smaller(Move::COUNT, columns - first));
            }
        }
    }
};

// Calls held(Cut) where the rows of `columns` fit into registers, else
// streamed(whole): whether rows are aligned, so that blocks may be wide.
template <Order ORDER, u32 ALIGNED, u32 STEPS, typename Held, typename Streamed>
DEVICE void cut_rows(u32 columns, Held held, Streamed streamed) {
    if (columns % ALIGNED != 0) {
        streamed(false);
    } else if (columns <= SHORT_ROW) {
        held(Cut<Wide<ORDER>, Alone, 1>());
    } else if (columns <= STEPS * ROW_WAVES * Wide<ORDER>::COUNT) {
        held(Cut<Wide<ORDER>, Together, STEPS>());
    } else {
        streamed(true);
    }
}

// Calls body(first, here) for the blocks of a row that is too long to keep.
template <typename Move, typename Body>
DEVICE void stream(u32 columns, Body body) {
    for (u32 first = wave_of_workgroup() * Move::COUNT; first < columns; first += ROW_WAVES * Move::COUNT) {
        body(first, smaller(Move::COUNT, columns - first));
    }
}
