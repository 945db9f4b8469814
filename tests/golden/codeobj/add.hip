// A kernel with a little of everything that a reader of code objects looks at:
// pointers and a number as arguments, LDS, a variable and a pointer to one.
#define DEVICE __attribute__((device))

extern "C" {
DEVICE float offset_by = 1.0f;
DEVICE float* where = &offset_by;

__attribute__((global, amdgpu_flat_work_group_size(1, 256))) void add(float* out, const float* a, const float* b,
                                                                      unsigned count) {
    __attribute__((shared)) static float stage[256];
    unsigned lane = __builtin_amdgcn_workitem_id_x();
    unsigned at = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + lane;
    stage[lane] = at < count ? a[at] : 0.0f;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    if (at < count) {
        out[at] = stage[lane] + b[at] + *where;
    }
}

__attribute__((global, amdgpu_flat_work_group_size(64, 64))) void nothing() {}
}
