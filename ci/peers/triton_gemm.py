#!/usr/bin/env python3
"""Hold the bf16 GEMM's main loop against Triton's for the same tile and architecture.

Triton compiles without a GPU, and both code objects are disassembled by
llvm-objdump. The main loop is the loop with most matrix FLOPs. Both kernels
then run on the simulator, which counts LDS bank conflicts. Prints one JSON object
per form and program to stdout, and a table to stderr. Ends with 1 when a bar is
missed.
"""

import argparse
import json
import os
import sys
import tempfile

from listing import instructions, main_loop, module_of, needs_of, profile, summary, triton_object

SOURCE = '''
import triton
import triton.language as tl

@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, m, n, k, stride_a, stride_b, stride_c,
           A_ALONG_K: tl.constexpr, B_ALONG_K: tl.constexpr,
           BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    per_group = GROUP * tl.cdiv(n, BN)
    first = pid // per_group * GROUP
    rows = min(tl.cdiv(m, BM) - first, GROUP)
    pid_m = first + pid % per_group % rows
    pid_n = pid % per_group // rows
    at_m = (pid_m * BM + tl.arange(0, BM)) % m
    at_n = (pid_n * BN + tl.arange(0, BN)) % n
    at_k = tl.arange(0, BK)
    if A_ALONG_K:
        a = a_ptr + at_m[:, None] * stride_a + at_k[None, :]
    else:
        a = a_ptr + at_m[:, None] + at_k[None, :] * stride_a
    if B_ALONG_K:
        b = b_ptr + at_k[:, None] + at_n[None, :] * stride_b
    else:
        b = b_ptr + at_k[:, None] * stride_b + at_n[None, :]
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, k // BK):
        sums = tl.dot(tl.load(a), tl.load(b), sums)
        a += BK if A_ALONG_K else BK * stride_a
        b += BK if B_ALONG_K else BK * stride_b
    c_m = pid_m * BM + tl.arange(0, BM)
    c_n = pid_n * BN + tl.arange(0, BN)
    c = c_ptr + c_m[:, None] * stride_c + c_n[None, :]
    tl.store(c, sums.to(tl.bfloat16), mask=(c_m[:, None] < m) & (c_n[None, :] < n))
'''


def triton_gemm(directory, arch, form, tile, warps, stages):
    """A code object of Triton's, with every size and stride a multiple of 16, and its LDS."""
    function = module_of(directory, "triton_matmul", SOURCE).matmul
    constants = {"A_ALONG_K": form[0] == "n", "B_ALONG_K": form[1] == "t",
                 "BM": tile[0], "BN": tile[1], "BK": tile[2], "GROUP": 8}
    path = os.path.join(directory, f"triton_{arch}_{form}_{stages}.hsaco")
    lds = triton_object(path, function, lambda name: "*bf16" if name.endswith("_ptr") else "i32", constants,
                        lambda name: name not in constants, arch, {"num_warps": warps, "num_stages": stages})
    return path, lds


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", default="target/kernels", help="what `cargo xtask kernels build` wrote")
    parser.add_argument("--arch", action="append", help="gfx942 or gfx950; both by default")
    parser.add_argument("--stages", type=int, default=2, help="Triton's num_stages")
    parser.add_argument("--size", type=int, default=512, help="rows, columns and depth of the product that is simulated")
    parser.add_argument("--xtask", default="cargo xtask", help="how to start the simulator")
    parser.add_argument("--objdump", default="llvm-objdump-22")
    parser.add_argument("--readobj", default="llvm-readelf-22")
    return parser.parse_args()


def main():
    args, missed = arguments(), []
    directory = tempfile.mkdtemp(prefix="triton-gemm-")
    os.environ.setdefault("TRITON_CACHE_DIR", os.path.join(directory, "cache"))
    for arch in args.arch or ["gfx942", "gfx950"]:
        with open(os.path.join(args.kernels, arch, "manifest.json")) as file:
            manifest = json.load(file)
        depth = 64 if arch == "gfx950" else 32
        for form in ("nn", "nt", "tn"):
            name = f"gemm_bf16_{form}"
            ours_path = os.path.join(args.kernels, arch, manifest["kernels"][name]["object"])
            theirs_path, theirs_lds = triton_gemm(directory, arch, form, (256, 256, depth), 8, args.stages)
            both = {}
            for program, path, kernel in (("cairn", ours_path, name), ("triton", theirs_path, "matmul")):
                needs = needs_of(args.readobj, path, kernel)
                dynamic_lds = theirs_lds if program == "triton" else 0
                needs["lds"] += dynamic_lds
                code = instructions(args.objdump, path, kernel)
                tiles, matrix = -(-args.size // 256), f"bf16:{args.size * args.size}"
                given = [f"random:{matrix}", f"random:{matrix}", f"blank:{matrix}", *[f"u32:{args.size}"] * 6]
                counted = profile(args.xtask.split(), path, kernel, main_loop(code), (tiles * tiles, 512, dynamic_lds),
                                  given, 2 * args.size ** 3)
                both[program] = summary(code, needs, arch) | counted
                print(json.dumps({"arch": arch, "form": form, "program": program, **both[program]}))
            ours, theirs = both["cairn"], both["triton"]
            ratio = ours["flops_per_instruction"] / theirs["flops_per_instruction"]
            print(f"{arch} {form}: {ratio:.2f} of Triton's matrix FLOPs per instruction, "
                  f"{ours['waves_per_simd']} waves a SIMD to {theirs['waves_per_simd']}, "
                  f"{ours['early_waits']} early waits to {theirs['early_waits']}, LDS conflicts per million matrix "
                  f"FLOPs {ours['loop_conflicts_per_mflop']:.2f} to {theirs['loop_conflicts_per_mflop']:.2f} in the loop, "
                  f"{ours['conflicts_per_mflop']:.2f} to {theirs['conflicts_per_mflop']:.2f} in all, of "
                  f"{ours['passes_per_mflop']:.2f} to {theirs['passes_per_mflop']:.2f} passes", file=sys.stderr)
            worse = any(ours[key] > theirs[key] for key in ("loop_conflicts_per_mflop", "conflicts_per_mflop"))
            if ratio < 0.85 or ours["waves_per_simd"] < theirs["waves_per_simd"] or ours["early_waits"] or worse:
                missed.append(f"{arch} {form}")
    if missed:
        sys.exit(f"bars missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
