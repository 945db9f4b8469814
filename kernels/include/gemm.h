// What matrix multiplications share: which tile a workgroup computes.
#pragma once
#include "device.h"

// How an operand lies in memory: its elements along K, or along the rows of
// the result, are neighbours.
enum class Along { K, Rows };

struct Tile {
    u32 row;
    u32 column;
};

// Workgroups that run at the same time take tiles from a band of 8 rows of
// tiles, so that they share what they load.
DEVICE Tile tile_of_workgroup(u32 tile_rows, u32 tile_columns) {
    constexpr u32 BAND = 8;
    u32 per_band = BAND * tile_columns;
    u32 first = workgroup() / per_band * BAND;
    u32 inside = workgroup() % per_band;
    u32 rows = smaller(tile_rows - first, BAND);
    return {first + inside % rows, inside / rows};
}
