#!/bin/sh
# Makes the code objects beside this script from add.hip, with clang and lld 22:
# code object version 5 for gfx942, 6 for gfx950, 4 for gfx90a.
set -eu
cd "$(dirname "$0")"
build() {
    clang++-22 -x hip --offload-arch="$1" --offload-device-only --no-gpu-bundle-output \
        -nogpuinc -nogpulib -nostdinc -O2 -mcode-object-version="$2" -fno-discard-value-names \
        -o "add.$1.hsaco" add.hip
}
build gfx90a 4
build gfx942 5
build gfx950 6
