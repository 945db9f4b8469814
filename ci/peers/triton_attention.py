#!/usr/bin/env python3
"""Hold attention's main loops against Triton's, for the same tiles and architecture.

Triton compiles without a GPU, with one and two stages, of which the one with
more matrix FLOPs per instruction counts. The main loop is the one over tiles
that need no mask. Both kernels then run on the simulator with a causal mask,
which counts LDS bank conflicts. Prints one JSON object per kernel and program
to stdout, and a table to stderr. Ends with 1 when a bar is missed.
"""

import argparse
import json
import os
import struct
import sys
import tempfile

from listing import instructions, main_loop, module_of, needs_of, profile, summary, triton_object

SOURCE = '''
import triton
import triton.language as tl

@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, queries, keys, heads, key_heads, start, scale,
              D: tl.constexpr, DV: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(0) % heads
    rest = tl.program_id(0) // heads
    tiles = tl.cdiv(queries, BM)
    tile = tiles - 1 - rest % tiles
    batch = rest // tiles
    key_head = head // (heads // key_heads)
    at_q = tile * BM + tl.arange(0, BM)
    at_n = tl.arange(0, BN)
    at_d = tl.arange(0, D)
    at_dv = tl.arange(0, DV)
    q_base = q_ptr + (batch.to(tl.int64) * queries * heads + head) * D
    k_base = k_ptr + (batch.to(tl.int64) * keys * key_heads + key_head) * D
    v_base = v_ptr + (batch.to(tl.int64) * keys * key_heads + key_head) * DV
    q = tl.load(q_base + at_q[:, None] * (heads * D) + at_d[None, :], mask=at_q[:, None] < queries, other=0.0)
    k = k_base + at_n[None, :] * (key_heads * D) + at_d[:, None]
    v = v_base + at_n[:, None] * (key_heads * DV) + at_dv[None, :]
    factor = scale * 1.4426950408889634
    largest = tl.full((BM,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    sums = tl.zeros((BM, DV), dtype=tl.float32)
    whole = min(start + tile * BM + 1, keys) // BN
    for n in range(0, whole):
        scores = tl.dot(q, tl.load(k))
        most = tl.maximum(largest, tl.max(scores, 1) * factor)
        p = tl.math.exp2(scores * factor - most[:, None])
        shrink = tl.math.exp2(largest - most)
        total = total * shrink + tl.sum(p, 1)
        sums = tl.dot(p.to(tl.bfloat16), tl.load(v), sums * shrink[:, None])
        largest = most
        k += BN * key_heads * D
        v += BN * key_heads * DV
    last = tl.cdiv(min(start + tile * BM + BM, keys), BN)
    for n in range(whole, last):
        inside = n * BN + at_n < keys
        scores = tl.dot(q, tl.load(k, mask=inside[None, :], other=0.0))
        sees = (n * BN + at_n)[None, :] <= start + at_q[:, None]
        scores = tl.where(sees & inside[None, :], scores, float("-inf"))
        most = tl.maximum(largest, tl.max(scores, 1) * factor)
        p = tl.math.exp2(scores * factor - most[:, None])
        shrink = tl.math.exp2(largest - most)
        total = total * shrink + tl.sum(p, 1)
        sums = tl.dot(p.to(tl.bfloat16), tl.load(v, mask=inside[:, None], other=0.0), sums * shrink[:, None])
        largest = most
        k += BN * key_heads * D
        v += BN * key_heads * DV
    out = out_ptr + (batch.to(tl.int64) * queries * heads + head) * DV + at_q[:, None] * (heads * DV) + at_dv[None, :]
    tl.store(out, (sums / total[:, None]).to(tl.bfloat16), mask=at_q[:, None] < queries)
    lse = lse_ptr + (batch * heads + head) * queries + at_q
    tl.store(lse, (largest + tl.math.log2(total)) * 0.6931471805599453, mask=at_q < queries)


@triton.jit
def keys_gradient(q_ptr, k_ptr, v_ptr, grad_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr,
                  queries, keys, heads, key_heads, start, scale,
                  D: tl.constexpr, DV: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    key_head = tl.program_id(0) % key_heads
    rest = tl.program_id(0) // key_heads
    tiles = tl.cdiv(keys, BN)
    tile = rest % tiles
    batch = rest // tiles
    group = heads // key_heads
    at_n = tile * BN + tl.arange(0, BN)
    at_m = tl.arange(0, BM)
    at_d = tl.arange(0, D)
    at_dv = tl.arange(0, DV)
    inside = at_n[:, None] < keys
    k_at = (batch.to(tl.int64) * keys * key_heads + key_head) * D + at_n[:, None] * (key_heads * D) + at_d[None, :]
    v_at = (batch.to(tl.int64) * keys * key_heads + key_head) * DV + at_n[:, None] * (key_heads * DV) + at_dv[None, :]
    k = tl.load(k_ptr + k_at, mask=inside, other=0.0)
    v = tl.load(v_ptr + v_at, mask=inside, other=0.0)
    dk = tl.zeros((BN, D), dtype=tl.float32)
    dv = tl.zeros((BN, DV), dtype=tl.float32)
    factor = scale * 1.4426950408889634
    begin = max(tile * BN - start, 0) // BM
    whole = min(tl.cdiv(max(tile * BN + BN - 1 - start, 0), BM), queries // BM)
    for head in range(key_head * group, key_head * group + group):
        q_base = q_ptr + (batch.to(tl.int64) * queries * heads + head) * D
        g_base = grad_ptr + (batch.to(tl.int64) * queries * heads + head) * DV
        row = (batch * heads + head) * queries
        for m in range(begin, whole):
            at = m * BM + at_m
            here = at < queries
            q = tl.load(q_base + at[:, None] * (heads * D) + at_d[None, :], mask=here[:, None], other=0.0)
            g = tl.load(g_base + at[:, None] * (heads * DV) + at_dv[None, :], mask=here[:, None], other=0.0)
            lse = tl.load(lse_ptr + row + at, mask=here, other=0.0)
            delta = tl.load(delta_ptr + row + at, mask=here, other=0.0)
            p = tl.math.exp2(tl.dot(k, tl.trans(q)) * factor - lse[None, :])
            p = tl.where(at_n[:, None] <= start + at[None, :], p, 0.0)
            dv = tl.dot(p.to(tl.bfloat16), g, dv)
            dp = tl.dot(v, tl.trans(g))
            ds = p * (dp - delta[None, :])
            dk = tl.dot(ds.to(tl.bfloat16), q, dk)
        at = whole * BM + at_m
        q_tile = q_base + at[:, None] * (heads * D) + at_d[None, :]
        g_tile = g_base + at[:, None] * (heads * DV) + at_dv[None, :]
        lse_tile = lse_ptr + row + at
        delta_tile = delta_ptr + row + at
        for m in range(whole, queries // BM):
            q = tl.load(q_tile)
            g = tl.load(g_tile)
            lse = tl.load(lse_tile)
            delta = tl.load(delta_tile)
            p = tl.math.exp2(tl.dot(k, tl.trans(q)) * factor - lse[None, :])
            dv = tl.dot(p.to(tl.bfloat16), g, dv)
            dp = tl.dot(v, tl.trans(g))
            ds = p * (dp - delta[None, :])
            dk = tl.dot(ds.to(tl.bfloat16), q, dk)
            q_tile += BM * heads * D
            g_tile += BM * heads * DV
            lse_tile += BM
            delta_tile += BM
    tl.store(dk_ptr + k_at, (dk * scale).to(tl.bfloat16), mask=inside)
    tl.store(dv_ptr + v_at, dv.to(tl.bfloat16), mask=inside)


@triton.jit
def queries_gradient(q_ptr, k_ptr, v_ptr, grad_ptr, lse_ptr, delta_ptr, dq_ptr,
                     queries, keys, heads, key_heads, start, scale,
                     D: tl.constexpr, DV: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(0) % heads
    rest = tl.program_id(0) // heads
    tiles = tl.cdiv(queries, BM)
    tile = tiles - 1 - rest % tiles
    batch = rest // tiles
    key_head = head // (heads // key_heads)
    at_q = tile * BM + tl.arange(0, BM)
    at_n = tl.arange(0, BN)
    at_d = tl.arange(0, D)
    at_dv = tl.arange(0, DV)
    here = at_q < queries
    q_at = (batch.to(tl.int64) * queries * heads + head) * D + at_q[:, None] * (heads * D) + at_d[None, :]
    g_at = (batch.to(tl.int64) * queries * heads + head) * DV + at_q[:, None] * (heads * DV) + at_dv[None, :]
    q = tl.load(q_ptr + q_at, mask=here[:, None], other=0.0)
    g = tl.load(grad_ptr + g_at, mask=here[:, None], other=0.0)
    row = (batch * heads + head) * queries
    lse = tl.load(lse_ptr + row + at_q, mask=here, other=0.0)
    delta = tl.load(delta_ptr + row + at_q, mask=here, other=0.0)
    k = k_ptr + (batch.to(tl.int64) * keys * key_heads + key_head) * D + at_n[:, None] * (key_heads * D) + at_d[None, :]
    v = v_ptr + (batch.to(tl.int64) * keys * key_heads + key_head) * DV + at_n[:, None] * (key_heads * DV) + at_dv[None, :]
    dq = tl.zeros((BM, D), dtype=tl.float32)
    factor = scale * 1.4426950408889634
    whole = min(start + tile * BM + 1, keys) // BN
    for n in range(0, whole):
        k_tile = tl.load(k)
        p = tl.math.exp2(tl.dot(q, tl.trans(k_tile)) * factor - lse[:, None])
        dp = tl.dot(g, tl.trans(tl.load(v)))
        ds = p * (dp - delta[:, None])
        dq = tl.dot(ds.to(tl.bfloat16), k_tile, dq)
        k += BN * key_heads * D
        v += BN * key_heads * DV
    last = tl.cdiv(min(start + tile * BM + BM, keys), BN)
    for n in range(whole, last):
        inside = n * BN + at_n < keys
        k_tile = tl.load(k, mask=inside[:, None], other=0.0)
        p = tl.math.exp2(tl.dot(q, tl.trans(k_tile)) * factor - lse[:, None])
        sees = (n * BN + at_n)[None, :] <= start + at_q[:, None]
        p = tl.where(sees & inside[None, :], p, 0.0)
        dp = tl.dot(g, tl.trans(tl.load(v, mask=inside[:, None], other=0.0)))
        ds = p * (dp - delta[:, None])
        dq = tl.dot(ds.to(tl.bfloat16), k_tile, dq)
        k += BN * key_heads * D
        v += BN * key_heads * DV
    tl.store(dq_ptr + q_at, (dq * scale).to(tl.bfloat16), mask=here[:, None])
'''

# Triton's function, our kernel, queries and keys of a tile with heads of 64 and of 128.
KERNELS = {
    "forward": ("attention", "attention_forward_bf16", {64: (128, 64), 128: (128, 64)}),
    "gradient of queries": ("queries_gradient", "attention_backward_queries_bf16", {64: (128, 64), 128: (128, 32)}),
    "gradients of keys": ("keys_gradient", "attention_backward_keys_bf16", {64: (32, 128), 128: (32, 128)}),
}
HEADS, KEY_HEADS = 2, 1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", default="target/kernels", help="what `cargo xtask kernels build` wrote")
    parser.add_argument("--arch", action="append", help="gfx942 or gfx950; both by default")
    parser.add_argument("--head", action="append", type=int, help="64 or 128; both by default")
    parser.add_argument("--size", type=int, default=512, help="queries and keys of the attention that is simulated")
    parser.add_argument("--xtask", default="cargo xtask", help="how to start the simulator")
    parser.add_argument("--objdump", default="llvm-objdump-22")
    parser.add_argument("--readobj", default="llvm-readelf-22")
    return parser.parse_args()


def measured(args, arch, path, kernel, dynamic_lds, workgroups, given, least_flops):
    needs = needs_of(args.readobj, path, kernel)
    needs["lds"] += dynamic_lds
    code = instructions(args.objdump, path, kernel)
    launch = (workgroups, needs["workgroup"], dynamic_lds)
    counted = profile(args.xtask.split(), path, kernel, main_loop(code), launch, given, least_flops)
    return summary(code, needs, arch) | counted


def tensors(size, head):
    queries, keys = size * HEADS * head, size * KEY_HEADS * head
    return [f"random:bf16:{queries}", f"random:bf16:{keys}", f"random:bf16:{keys}"], queries, keys


def ours(args, arch, manifest, direction, head):
    _, stem, _ = KERNELS[direction]
    kernel = f"{stem}_{head}"
    inputs, queries, keys = tensors(args.size, head)
    scale = struct.unpack("<I", struct.pack("<f", head ** -0.5))[0]
    sizes = f"words:1,{args.size},{args.size},{HEADS},{KEY_HEADS},{head},{head},1,0,{scale}"
    numbers = f"random:f32:{2 * HEADS * args.size}"
    if direction == "forward":
        given = [*inputs, "null", f"blank:bf16:{queries}", f"blank:f32:{HEADS * args.size}", sizes]
    elif direction == "gradient of queries":
        given = [*inputs, inputs[0], numbers, "null", f"blank:bf16:{queries}", sizes]
    else:
        given = [*inputs, inputs[0], numbers, "null", f"blank:bf16:{keys}", f"blank:bf16:{keys}", sizes]
    path = os.path.join(args.kernels, arch, manifest["kernels"][kernel]["object"])
    return measured(args, arch, path, kernel, 0, workgroups(args, direction), given, least(args, direction, head))


def workgroups(args, direction):
    return -(-args.size // 128) * (KEY_HEADS if direction == "gradients of keys" else HEADS)


def least(args, direction, head):
    """FLOPs of the pairs that see each other."""
    products = {"forward": 2, "gradient of queries": 3, "gradients of keys": 4}[direction]
    return 2 * products * HEADS * head * args.size * (args.size + 1) // 2


def theirs(args, arch, directory, module, direction, head, stages):
    name, _, tiles = KERNELS[direction]
    inputs, queries, keys = tensors(args.size, head)
    numbers = f"random:f32:{HEADS * args.size}"
    scalars = [f"u32:{value}" for value in (args.size, args.size, HEADS, KEY_HEADS, 0)] + [f"f32:{head ** -0.5}"]
    if direction == "forward":
        given = [*inputs, f"blank:bf16:{queries}", f"blank:f32:{HEADS * args.size}", *scalars]
    elif direction == "gradient of queries":
        given = [*inputs, inputs[0], numbers, numbers, f"blank:bf16:{queries}", *scalars]
    else:
        given = [*inputs, inputs[0], numbers, numbers, f"blank:bf16:{keys}", f"blank:bf16:{keys}", *scalars]
    constants = {"D": head, "DV": head, "BM": tiles[head][0], "BN": tiles[head][1]}

    def kind(argument):
        if argument.endswith("_ptr"):
            return "*fp32" if argument.startswith(("lse", "delta")) else "*bf16"
        return "fp32" if argument == "scale" else "i32"

    path = os.path.join(directory, f"{name}_{arch}_{head}_{stages}.hsaco")
    lds = triton_object(path, getattr(module, name), kind, constants,
                        lambda argument: argument.endswith("_ptr") or argument in ("queries", "keys"),
                        arch, {"num_warps": 4, "num_stages": stages})
    return measured(args, arch, path, name, lds, workgroups(args, direction), given, least(args, direction, head))


def main():
    args, missed = arguments(), []
    directory = tempfile.mkdtemp(prefix="triton-attention-")
    os.environ.setdefault("TRITON_CACHE_DIR", os.path.join(directory, "cache"))
    module = module_of(directory, "triton_attention_source", SOURCE)
    for arch in args.arch or ["gfx942", "gfx950"]:
        with open(os.path.join(args.kernels, arch, "manifest.json")) as file:
            manifest = json.load(file)
        for direction in KERNELS:
            for head in args.head or [64, 128]:
                by_stages = [theirs(args, arch, directory, module, direction, head, stages) | {"stages": stages}
                             for stages in (1, 2)]
                they = max(by_stages, key=lambda one: one["flops_per_instruction"])
                we = ours(args, arch, manifest, direction, head)
                for program, counts in (("cairn", we), ("triton", they)):
                    print(json.dumps({"arch": arch, "kernel": direction, "head": head, "program": program, **counts}))
                ratio = we["flops_per_instruction"] / they["flops_per_instruction"]
                whole = we["flops_per_executed_instruction"] / they["flops_per_executed_instruction"]
                print(f"{arch} {direction}, heads of {head}: {ratio:.2f} of Triton's matrix FLOPs per instruction "
                      f"({we['instructions']} instructions with {we['mfma']} MFMA to {they['instructions']} with "
                      f"{they['mfma']}, {they['stages']} stages), {whole:.2f} executed in all, {we['waves_per_simd']} "
                      f"waves a SIMD to {they['waves_per_simd']}, {we['early_waits']} early waits to "
                      f"{they['early_waits']}, LDS conflicts per million matrix FLOPs "
                      f"{we['loop_conflicts_per_mflop']:.2f} to {they['loop_conflicts_per_mflop']:.2f} in the loop, "
                      f"{we['conflicts_per_mflop']:.2f} to {they['conflicts_per_mflop']:.2f} in all", file=sys.stderr)
                worse = any(we[key] > they[key] for key in ("loop_conflicts_per_mflop", "conflicts_per_mflop"))
                if ratio < 0.85 or we["waves_per_simd"] < they["waves_per_simd"] or we["early_waits"] or worse:
                    missed.append(f"{arch} {direction} {head}")
    if missed:
        sys.exit(f"bars missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
