// What every kernel uses: types, indices, barriers, conversions. Complete in
// itself: nothing of ROCm or of the host is included.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef short i16;
typedef int i32;
typedef float f32;
typedef double f64;
typedef __bf16 bf16;

static_assert(sizeof(u64) == 8 && sizeof(bf16) == 2, "sizes are part of the arguments");

#define VECTOR(type, count) __attribute__((ext_vector_type(count))) type
typedef VECTOR(u32, 2) u32x2;
typedef VECTOR(u32, 4) u32x4;
typedef VECTOR(i16, 4) i16x4;
typedef VECTOR(f32, 2) f32x2;
typedef VECTOR(f32, 4) f32x4;
typedef VECTOR(f32, 16) f32x16;
typedef VECTOR(bf16, 4) bf16x4;
typedef VECTOR(bf16, 8) bf16x8;

#define DEVICE static inline __attribute__((device, always_inline))
#define MEMBER inline __attribute__((device, always_inline))
#define SHARED __attribute__((shared))
#define GLOBAL_SPACE __attribute__((address_space(1)))
#define SHARED_SPACE __attribute__((address_space(3)))

// An entry point with workgroups of exactly this many lanes.
#define KERNEL(lanes) extern "C" __attribute__((global, amdgpu_flat_work_group_size(lanes, lanes))) void

constexpr u32 WAVE = 64;

DEVICE u32 lane_of_workgroup() { return __builtin_amdgcn_workitem_id_x(); }

DEVICE u32 lane_of_wave() { return lane_of_workgroup() % WAVE; }

// The same for all lanes of a wave, and known to be.
DEVICE u32 wave_of_workgroup() { return __builtin_amdgcn_readfirstlane(lane_of_workgroup() / WAVE); }

DEVICE u32 workgroup() { return __builtin_amdgcn_workgroup_id_x(); }

// The element of a lane, where workgroups have 256 and each lane has one.
DEVICE u64 element() { return (u64)workgroup() * 256 + lane_of_workgroup(); }

// Values from here on are in registers as they are: the compiler neither makes
// them again nor folds what they were made of into later addresses.
DEVICE void keep(u32& value) { __asm__("" : "+v"(value)); }

template <typename T>
DEVICE void keep(SHARED_SPACE T*& value) {
    __asm__("" : "+v"(value));
}

// All lanes of the workgroup arrive, and what they wrote to LDS is seen by all.
DEVICE void barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

template <typename T>
DEVICE T smaller(T a, T b) {
    return b < a ? b : a;
}

DEVICE u32 ceil_div(u32 a, u32 b) { return (a + b - 1) / b; }

// 16 bytes of a type, as many elements as fit.
template <typename T>
struct Pack;

template <>
struct Pack<f32> {
    typedef f32x4 type;
    static constexpr u32 count = 4;
};

template <>
struct Pack<bf16> {
    typedef bf16x8 type;
    static constexpr u32 count = 8;
};
