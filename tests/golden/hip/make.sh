#!/bin/sh
# Makes the code objects here from kernels.hip with clang 22 and HIP's own headers and device
# library, as the wheel of triton 3.9.0 carries them (HIP 7.1):
#
#     make.sh FOLDER    where FOLDER/triton is what the wheel holds
#
# The wheel lacks the small modules in which a ROCm installation states the options of the
# device library; they are written out below.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
amd=$1/triton/backends/amd
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

controls() {
    for flag in finite_only_opt:0 unsafe_math_opt:0 daz_opt:0 correctly_rounded_sqrt32:1 wavefrontsize64:1; do
        echo "@__oclc_${flag%:*} = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i8 ${flag#*:}"
    done
    echo "@__oclc_ISA_version = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i32 $1"
    echo "@__oclc_ABI_version = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i32 600"
}

for arch in gfx942:9402 gfx950:9500; do
    name=${arch%:*}
    clang++-22 -x c -target amdgcn-amd-amdhsa -mcpu="$name" -S -emit-llvm -o - /dev/null | grep ^target > "$work/controls.ll"
    controls "${arch#*:}" >> "$work/controls.ll"
    llvm-as-22 "$work/controls.ll" -o "$work/controls.bc"
    clang++-22 -x hip -nogpuinc -nogpulib -O3 -std=c++17 -D__HIP_PLATFORM_AMD__ \
        -include __clang_hip_runtime_wrapper.h -isystem "$amd/include" \
        -Xclang -mlink-builtin-bitcode -Xclang "$amd/lib/ocml.bc" \
        -Xclang -mlink-builtin-bitcode -Xclang "$amd/lib/ockl.bc" \
        -Xclang -mlink-builtin-bitcode -Xclang "$work/controls.bc" \
        --offload-arch="$name" --offload-device-only --no-gpu-bundle-output \
        -o "$here/kernels.$name.hsaco" "$here/kernels.hip"
done
