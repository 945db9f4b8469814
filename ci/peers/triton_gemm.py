#!/usr/bin/env python3
"""Hold the bf16 GEMM's main loop against Triton's for the same tile and architecture.

Triton compiles without a GPU, and both code objects are disassembled by
llvm-objdump. The main loop is the loop with most matrix instructions. Both
kernels then run on the simulator, which counts LDS bank conflicts. Prints one JSON object per form and program to stdout, and a
table to stderr. Ends with 1 when a bar is missed.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

LINE = re.compile(r"^\s+(\S+)\s*(.*?)\s*//\s*([0-9A-Fa-f]+):")
MFMA = re.compile(r"v_(?:s?mfma)\w*?_(\d+)x(\d+)x(\d+)")
LDS_BYTES = {"gfx90a": 64 << 10, "gfx942": 64 << 10, "gfx950": 160 << 10}


def tool(name, *args):
    done = subprocess.run([name, *args], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{name} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def instructions(objdump, path, kernel):
    """(address, mnemonic, operands) of one kernel."""
    text = tool(objdump, "-d", f"--disassemble-symbols={kernel}", path)
    found = []
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            found.append((int(match[3], 16), match[1], match[2]))
    if not found:
        sys.exit(f"{path} has no kernel {kernel}")
    return found


def branch_target(address, operands):
    words = re.match(r"\s*(\d+)", operands)
    if not words:
        return None
    offset = int(words[1])
    return address + 4 + 4 * (offset - 0x10000 if offset >= 0x8000 else offset)


def flops(mnemonic):
    match = MFMA.match(mnemonic)
    return 2 * int(match[1]) * int(match[2]) * int(match[3]) if match else 0


def main_loop(code):
    """The smallest loop with the most matrix FLOPs."""
    best = None
    for end, (address, mnemonic, operands) in enumerate(code):
        if not mnemonic.startswith(("s_cbranch", "s_branch")):
            continue
        target = branch_target(address, operands)
        if target is None or target > address:
            continue
        begin = next((i for i, item in enumerate(code) if item[0] == target), None)
        if begin is None:
            continue
        body = code[begin:end + 1]
        key = (sum(flops(item[1]) for item in body), -len(body))
        if key[0] and (best is None or key > best[0]):
            best = (key, body)
    if best is None:
        sys.exit("no loop with matrix instructions")
    return best[1]


def is_vector_load(mnemonic):
    return mnemonic.startswith(("global_load", "buffer_load", "flat_load"))


def early_waits(body):
    """Waits for a load issued since the last barrier: its latency is not hidden.

    Loads come back in order, so `vmcnt(n)` waits for all but the n youngest.
    The loop is walked twice, so that what the end issued is known at the start.
    """
    early, issued = 0, 0
    for turn in range(2):
        for _, mnemonic, operands in body:
            if mnemonic == "s_barrier":
                issued = 0
            elif is_vector_load(mnemonic):
                issued += 1
            elif mnemonic == "s_waitcnt":
                match = re.search(r"vmcnt\((\d+)\)", operands)
                if match and int(match[1]) < issued and turn == 1:
                    early += 1
    return early


def summary(code, needs, arch):
    body = main_loop(code)
    count = lambda *names: sum(item[1].startswith(names) for item in body)
    total = sum(flops(item[1]) for item in body)
    waves = needs["workgroup"] // 64
    by_vgprs = min(8, 512 // (-(-needs["vgprs"] // 8) * 8))
    granule = 1280 if arch == "gfx950" else 512
    groups = min(32 // waves, 16)
    if needs["lds"]:
        groups = min(groups, LDS_BYTES[arch] // (-(-needs["lds"] // granule) * granule))
    return {
        "flops_per_instruction": total / len(body),
        "instructions": len(body),
        "mfma": sum(flops(item[1]) > 0 for item in body),
        "lds_reads": count("ds_read"),
        "lds_writes": count("ds_write"),
        "loads": sum(is_vector_load(item[1]) for item in body),
        "barriers": count("s_barrier"),
        "waits": count("s_waitcnt"),
        "early_waits": early_waits(body),
        "valu": sum(item[1].startswith("v_") and not flops(item[1]) for item in body),
        "waves_per_simd": min(by_vgprs, groups * waves // 4),
        **needs,
    }


def needs_of(readobj, path, kernel):
    """Registers, LDS and workgroup from the metadata note."""
    text = tool(readobj, "--notes", path)
    for part in re.split(r"\n  - ", text):
        if re.search(rf"\.name:\s+{re.escape(kernel)}\s", part):
            number = lambda key: int(re.search(rf"\.{key}:\s+(\d+)", part)[1])
            return {
                "vgprs": number("vgpr_count"),
                "agprs": number("agpr_count"),
                "lds": number("group_segment_fixed_size"),
                "workgroup": number("max_flat_workgroup_size"),
                "spills": number("vgpr_spill_count") + number("sgpr_spill_count"),
            }
    sys.exit(f"{path} does not describe {kernel}")


def conflicts(xtask, path, kernel, dynamic_lds, body, size):
    """LDS passes that conflicts add, for a square product on the simulator: of the main loop and of all."""
    tiles = -(-size // 256)
    matrix = f"bf16:{size * size}"
    report = json.loads(tool(
        *xtask, "sim", "profile", path, "--format", "json", "--fast", "--kernel", kernel,
        "--grid", str(tiles * tiles), "--workgroup", "512", "--lds", str(dynamic_lds),
        f"random:{matrix}", f"random:{matrix}", f"blank:{matrix}", *[f"u32:{size}"] * 6))
    if report["findings"]:
        sys.exit(f"{path}: {report['findings'][0]['kind']}: {report['findings'][0]['what']}")
    if report["matrix_flops"] < 2 * size ** 3:
        sys.exit(f"{path}: {report['matrix_flops']} matrix FLOPs are too few for size {size}")
    addresses = {item[0] for item in body}
    rows = [row for row in report["instructions"] if row["address"] in addresses]
    in_loop = sum(flops(row["instruction"]) * row["count"] for row in rows)
    if not in_loop:
        sys.exit(f"{path}: the main loop did not run at size {size}")
    return {
        "loop_conflicts_per_mflop": sum(row["lds_conflicts"] for row in rows) / in_loop * 1e6,
        "conflicts_per_mflop": report["lds_conflicts"] / report["matrix_flops"] * 1e6,
        "passes_per_mflop": report["lds_passes"] / report["matrix_flops"] * 1e6,
    }


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


def triton_object(directory, arch, form, tile, warps, stages):
    """A code object of Triton's, with every size and stride a multiple of 16."""
    import importlib.util
    path = os.path.join(directory, "triton_matmul.py")
    with open(path, "w") as file:
        file.write(SOURCE)
    spec = importlib.util.spec_from_file_location("triton_matmul", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    names = ["a_ptr", "b_ptr", "c_ptr", "m", "n", "k", "stride_a", "stride_b", "stride_c"]
    signature = {name: "*bf16" if name.endswith("_ptr") else "i32" for name in names}
    constants = {"A_ALONG_K": form[0] == "n", "B_ALONG_K": form[1] == "t",
                 "BM": tile[0], "BN": tile[1], "BK": tile[2], "GROUP": 8}
    signature.update({name: "constexpr" for name in constants})
    attributes = {(i,): [["tt.divisibility", 16]] for i in range(len(names))}
    source = ASTSource(fn=module.matmul, signature=signature, constexprs=constants, attrs=attributes)
    compiled = triton.compile(source, target=GPUTarget("hip", arch, 64),
                              options={"num_warps": warps, "num_stages": stages})
    path = os.path.join(directory, f"triton_{arch}_{form}_{stages}.hsaco")
    with open(path, "wb") as file:
        file.write(compiled.asm["hsaco"])
    # Triton's LDS is sized at launch, so the code object does not tell.
    return path, compiled.metadata.shared


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
            theirs_path, theirs_lds = triton_object(directory, arch, form, (256, 256, depth), 8, args.stages)
            both = {}
            for program, path, kernel in (("cairn", ours_path, name), ("triton", theirs_path, "matmul")):
                needs = needs_of(args.readobj, path, kernel)
                dynamic_lds = theirs_lds if program == "triton" else 0
                needs["lds"] += dynamic_lds
                code = instructions(args.objdump, path, kernel)
                counted = conflicts(args.xtask.split(), path, kernel, dynamic_lds, main_loop(code), args.size)
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
