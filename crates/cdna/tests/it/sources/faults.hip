// Planted faults, each with a twin that does the same without it. Every kernel
// reads n floats and writes n floats.
#include "device.h"

#define TWINS(lanes, name, ...)                                                                   \
    KERNEL(lanes) name(const f32* in, f32* out, u32 n) {                                      \
        constexpr bool FAULTY = true;                                                              \
        __VA_ARGS__                                                                                       \
    }                                                                                              \
    KERNEL(lanes) name##_clean(const f32* in, f32* out, u32 n) {                              \
        constexpr bool FAULTY = false;                                                             \
        __VA_ARGS__                                                                                       \
    }

TWINS(256, missing_barrier_1, {
    SHARED f32 tile[256];
    u32 at = lane_of_workgroup();
    tile[at] = in[at];
    if (!FAULTY) barrier();
    out[at] = tile[255 - at];
})

// The tile is filled again before everyone has read it.
TWINS(256, missing_barrier_2, {
    SHARED f32 tile[256];
    u32 at = lane_of_workgroup();
    f32 sum = 0.0f;
    for (u32 step = 0; step < 3; ++step) {
        tile[at] = in[at] * (f32)(step + 1 + at);
        barrier();
        sum += tile[255 - at];
        if (!FAULTY) barrier();
    }
    out[at] = sum;
})

// A reduction whose last steps cross waves.
TWINS(256, missing_barrier_3, {
    SHARED f32 sums[256];
    u32 at = lane_of_workgroup();
    sums[at] = in[at] * (f32)at;
    barrier();
    for (u32 half = 128; half > 0; half /= 2) {
        if (at < half) sums[at] += sums[at + half];
        if (!FAULTY || half > 64) barrier();
        if (FAULTY && half == 128) sums[at] += 0.5f;
    }
    if (!FAULTY) barrier();
    out[at] = sums[FAULTY ? (at + 64) % 256 : 0];
})

TWINS(256, missing_wait_1, {
    const f32* from = in + lane_of_workgroup();
    f32 value;
    if (FAULTY) {
        asm volatile("global_load_dword %0, %1, off" : "=v"(value) : "v"(from));
    } else {
        asm volatile("global_load_dword %0, %1, off\n s_waitcnt vmcnt(0)" : "=v"(value) : "v"(from));
    }
    out[lane_of_workgroup()] = value * 2.0f;
})

TWINS(256, missing_wait_2, {
    SHARED f32 tile[256];
    u32 at = lane_of_workgroup();
    tile[at] = in[at];
    barrier();
    u32 address = (u32)(SHARED_SPACE f32*)&tile[255 - at];
    f32 value;
    if (FAULTY) {
        asm volatile("ds_read_b32 %0, %1" : "=v"(value) : "v"(address));
    } else {
        asm volatile("ds_read_b32 %0, %1\n s_waitcnt lgkmcnt(0)" : "=v"(value) : "v"(address));
    }
    out[at] = value + 1.0f;
})

// Waits for all but two of three loads, and uses the second one.
TWINS(256, missing_wait_3, {
    const f32* from = in + lane_of_workgroup();
    f32 a, b, c;
    if (FAULTY) {
        asm volatile(
            "global_load_dword %0, %3, off\n global_load_dword %1, %3, off\n global_load_dword %2, %3, off\n"
            "s_waitcnt vmcnt(2)\n v_add_f32 %0, %0, %1\n s_waitcnt vmcnt(0)"
            : "=&v"(a), "=&v"(b), "=&v"(c) : "v"(from));
    } else {
        asm volatile(
            "global_load_dword %0, %3, off\n global_load_dword %1, %3, off\n global_load_dword %2, %3, off\n"
            "s_waitcnt vmcnt(1)\n v_add_f32 %0, %0, %1\n s_waitcnt vmcnt(0)"
            : "=&v"(a), "=&v"(b), "=&v"(c) : "v"(from));
    }
    out[lane_of_workgroup()] = a + c;
})

// One write of two values, of which nothing has to be done at a count of one.
TWINS(256, missing_wait_4, {
    SHARED f32 tile[512];
    u32 at = lane_of_workgroup();
    u32 address = (u32)(SHARED_SPACE f32*)&tile[at];
    f32 value = in[at];
    if (FAULTY) {
        asm volatile("ds_write2st64_b32 %0, %1, %1 offset1:4\n s_waitcnt lgkmcnt(1)\n s_barrier"
                     : : "v"(address), "v"(value) : "memory");
    } else {
        asm volatile("ds_write2st64_b32 %0, %1, %1 offset1:4\n s_waitcnt lgkmcnt(0)\n s_barrier"
                     : : "v"(address), "v"(value) : "memory");
    }
    out[at] = tile[255 - at];
})

TWINS(256, off_by_one_1, {
    u32 at = lane_of_workgroup();
    out[at + (FAULTY ? 1 : 0)] = in[at];
})

TWINS(256, off_by_one_2, {
    u32 at = lane_of_workgroup();
    u32 last = FAULTY ? n + 1 : n;
    for (u32 i = at; i < last; i += 255) {
        out[i] = 1.0f;
    }
})

TWINS(256, off_by_one_3, {
    SHARED f32 tile[256];
    u32 at = lane_of_workgroup();
    tile[at + (FAULTY ? 1 : 0)] = in[at];
    if (FAULTY) tile[at] = in[at];
    barrier();
    out[at] = tile[at];
})

TWINS(256, uninitialised_lds_1, {
    SHARED f32 tile[256];
    u32 at = lane_of_workgroup();
    if (!FAULTY || at != 17) tile[at] = in[at];
    barrier();
    out[at] = tile[255 - at];
})

TWINS(256, uninitialised_lds_2, {
    SHARED f32 tile[257];
    u32 at = lane_of_workgroup();
    tile[at] = in[at];
    if (!FAULTY && at == 0) tile[256] = 0.0f;
    barrier();
    out[at] = tile[at] + tile[at + 1];
})

TWINS(256, uninitialised_lds_3, {
    SHARED u32 counts[16];
    u32 at = lane_of_workgroup();
    if (!FAULTY && at < 16) counts[at] = 0;
    barrier();
    __atomic_fetch_add(&counts[at % 16], 1, __ATOMIC_RELAXED);
    barrier();
    out[at] = in[at] + (f32)counts[at % 16];
})

TWINS(64, global_race_1, {
    u32 at = workgroup() * 64 + lane_of_workgroup();
    out[FAULTY ? lane_of_workgroup() : at] = in[at] + (f32)at;
    if (FAULTY) out[at] = 1.0f;
})

// Neighbouring workgroups share a border that one of them writes.
TWINS(64, global_race_2, {
    u32 at = workgroup() * 64 + lane_of_workgroup();
    out[at] = in[at];
    if (FAULTY && at > 0) out[at] = out[at - 1] + 1.0f;
})

// A sum over workgroups without an atomic.
TWINS(64, global_race_3, {
    u32 at = workgroup() * 64 + lane_of_workgroup();
    out[at] = in[at];
    if (FAULTY && lane_of_workgroup() == 0) *(volatile f32*)out = (f32)workgroup();
})

TWINS(256, divergent_barrier_1, {
    SHARED f32 tile[256];
    u32 at = lane_of_workgroup();
    tile[at] = in[at];
    if (!FAULTY || at < 100) __builtin_amdgcn_s_barrier();
    barrier();
    out[at] = tile[255 - at];
})

// One wave skips a barrier.
TWINS(256, divergent_barrier_2, {
    SHARED f32 tile[256];
    u32 at = lane_of_workgroup();
    tile[at] = in[at];
    barrier();
    out[at] = tile[at];
    if (!FAULTY || wave_of_workgroup() != 2) __builtin_amdgcn_s_barrier();
})

// Half of the lanes leave before the barrier.
TWINS(256, divergent_barrier_3, {
    SHARED f32 tile[256];
    u32 at = lane_of_workgroup();
    tile[at] = in[at];
    if (FAULTY && at % 2 == 1) return;
    barrier();
    out[at] = tile[at];
})

// Half of the waves are a barrier behind the others, and never catch up.
TWINS(256, divergent_barrier_4, {
    SHARED f32 tile[256];
    u32 at = lane_of_workgroup();
    bool behind = wave_of_workgroup() >= 2;
    if (behind) __builtin_amdgcn_s_barrier();
    tile[at] = in[at];
    barrier();
    out[at] = tile[at];
    if (!FAULTY && !behind) __builtin_amdgcn_s_barrier();
})

TWINS(256, uninitialised_memory_1, {
    u32 at = lane_of_workgroup();
    out[at] = in[at] + (FAULTY ? out[at] : 0.0f);
})

TWINS(256, uninitialised_register_1, {
    f32 value;
    if (FAULTY) {
        asm volatile("v_add_f32 %0, v77, v78" : "=v"(value) : : "v77", "v78");
    } else {
        asm volatile("v_mov_b32 v77, 1.0\n v_mov_b32 v78, 1.0\n v_add_f32 %0, v77, v78" : "=v"(value) : : "v77", "v78");
    }
    out[lane_of_workgroup()] = in[lane_of_workgroup()] + value;
})

// Of a pair that gives one register twice, the other need not hold anything.
TWINS(256, uninitialised_register_2, {
    f32 value;
    if (FAULTY) {
        asm volatile("v_mov_b32 v76, 1.0\n v_pk_add_f32 v[78:79], v[76:77], v[76:77]\n v_add_f32 %0, v78, v79"
                     : "=v"(value) : : "v76", "v77", "v78", "v79");
    } else {
        asm volatile("v_mov_b32 v76, 1.0\n v_pk_add_f32 v[78:79], v[76:77], v[76:77] op_sel_hi:[0,0]\n"
                     "v_add_f32 %0, v78, v79" : "=v"(value) : : "v76", "v77", "v78", "v79");
    }
    out[lane_of_workgroup()] = in[lane_of_workgroup()] + value;
})

TWINS(256, endless_1, {
    u32 at = lane_of_workgroup();
    f32 value = in[at];
    u32 count = 0;
    do {
        asm volatile("v_add_f32 %0, %0, %0" : "+v"(value));
        ++count;
    } while (FAULTY ? value != 0.25f : count < 3);
    out[at] = value;
})
