#!/usr/bin/env python3
"""Time single PyTorch operators on the CPU: what Cairn's kernels are held against.

Prints one JSON object to stdout: per case the best and the median time, the
least CPU time of all threads, and GFLOP/s or GB/s of the best. `--list` prints the names, `-k TEXT` selects.
"""

import argparse
import json
import os
import statistics
import sys
import time


def timed(call, seconds, min_runs):
    """Wall and CPU times of repeated calls in ms, after two calls to warm up."""
    call(), call()
    wall, cpu, end = [], [], time.perf_counter() + seconds
    while len(wall) < min_runs or time.perf_counter() < end:
        begin, cpu_begin = time.perf_counter(), time.process_time()
        call()
        wall.append((time.perf_counter() - begin) * 1e3)
        cpu.append((time.process_time() - cpu_begin) * 1e3)
    return wall, cpu


def matmul_cases(torch, dtype, tag):
    """C[M,N] = A[M,K] B[K,N], square; and a linear layer with its two gradients."""
    for n in (512, 1024, 2048):
        def make(n=n):
            a, b = torch.randn(n, n, dtype=dtype), torch.randn(n, n, dtype=dtype)
            out = torch.empty(n, n, dtype=dtype)
            return lambda: torch.mm(a, b, out=out)
        yield f"matmul_{n}_{tag}", 2 * n**3, 0, make
    m, k, n = 2048, 512, 1408
    def operands():
        return (torch.randn(m, k, dtype=dtype), torch.randn(n, k, dtype=dtype), torch.randn(m, n, dtype=dtype))
    def forward():
        x, w, _ = operands()
        return lambda: torch.nn.functional.linear(x, w)
    def grad_input():
        _, w, g = operands()
        return lambda: g @ w
    def grad_weight():
        x, _, g = operands()
        return lambda: g.t() @ x
    yield f"linear_2048x512x1408_nt_{tag}", 2 * m * n * k, 0, forward
    yield f"linear_2048x512x1408_nn_{tag}", 2 * m * n * k, 0, grad_input
    yield f"linear_2048x512x1408_tn_{tag}", 2 * m * n * k, 0, grad_weight


def gemm_case(torch, size, tag):
    """C[M,N] = A[M,K] B[N,K]^T of a given size, the operand order of a linear layer."""
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[tag]
    m, n, k = size
    def make():
        a, b = torch.randn(m, k).to(dtype), torch.randn(n, k).to(dtype)
        out = torch.empty(m, n, dtype=dtype)
        return lambda: torch.mm(a, b.t(), out=out)
    return f"matmul_{m}x{n}x{k}_nt_{tag}", 2 * m * n * k, 0, make


def sizes(text):
    """`MxNxK` as three numbers."""
    m, n, k = (int(part) for part in text.split("x"))
    return m, n, k


def attention_cases(torch, dtype, tag):
    """Causal attention; FLOPs count the masked half as done, as many papers do."""
    sdpa = torch.nn.functional.scaled_dot_product_attention
    for b, h, kv, s, d in ((4, 8, 8, 1024, 64), (4, 8, 4, 512, 64), (8, 5, 5, 256, 64)):
        def tensors(grad, b=b, h=h, kv=kv, s=s, d=d):
            q = torch.randn(b, h, s, d, dtype=dtype, requires_grad=grad)
            k, v = (torch.randn(b, kv, s, d, dtype=dtype, requires_grad=grad) for _ in range(2))
            return q, k, v, torch.randn(b, h, s, d, dtype=dtype)
        def forward(tensors=tensors, gqa=h != kv):
            q, k, v, _ = tensors(False)
            return lambda: sdpa(q, k, v, is_causal=True, enable_gqa=gqa)
        def both(tensors=tensors, gqa=h != kv):
            q, k, v, g = tensors(True)
            def call():
                q.grad = k.grad = v.grad = None
                sdpa(q, k, v, is_causal=True, enable_gqa=gqa).backward(g)
            return call
        name, flops = f"b{b}h{h}kv{kv}s{s}d{d}", 4 * b * h * s * s * d
        yield f"sdpa_{name}_fwd_{tag}", flops, 0, forward
        yield f"sdpa_{name}_fwd_bwd_{tag}", flops * 7 // 2, 0, both


def row_cases(torch, dtype, tag):
    """Memory-bound operators; bytes are the least traffic of the whole call."""
    size = dtype.itemsize
    rows, width = 4096, 2048
    def norm(grad):
        x = torch.randn(rows, width, dtype=dtype, requires_grad=grad)
        w = torch.randn(width, dtype=dtype, requires_grad=grad)
        g = torch.randn(rows, width, dtype=dtype)
        def call():
            y = torch.nn.functional.rms_norm(x, (width,), w, 1e-5)
            if grad:
                x.grad = w.grad = None
                y.backward(g)
        return call
    def swiglu(grad):
        a, b = (torch.randn(rows, width, dtype=dtype, requires_grad=grad) for _ in range(2))
        g = torch.randn(rows, width, dtype=dtype)
        def call():
            y = torch.nn.functional.silu(a) * b
            if grad:
                a.grad = b.grad = None
                y.backward(g)
        return call
    def loss():
        x = torch.randn(2048, 32000, dtype=dtype, requires_grad=True)
        t = torch.randint(0, 32000, (2048,))
        def call():
            x.grad = None
            torch.nn.functional.cross_entropy(x, t).backward()
        return call
    tile = rows * width * size
    yield f"rmsnorm_4096x2048_fwd_{tag}", 0, 2 * tile, lambda: norm(False)
    yield f"rmsnorm_4096x2048_fwd_bwd_{tag}", 0, 5 * tile, lambda: norm(True)
    yield f"swiglu_4096x2048_fwd_{tag}", 0, 3 * tile, lambda: swiglu(False)
    yield f"swiglu_4096x2048_fwd_bwd_{tag}", 0, 8 * tile, lambda: swiglu(True)
    yield f"cross_entropy_2048x32000_fwd_bwd_{tag}", 0, 2 * 2048 * 32000 * size, loss


def adamw_cases(torch):
    """50 M parameters in f32: reads w, g, m, v and writes w, m, v."""
    def make():
        params = [torch.randn(5_000_000, requires_grad=True) for _ in range(10)]
        for p in params:
            p.grad = torch.randn_like(p)
        return torch.optim.AdamW(params, fused=True).step
    yield "adamw_50m_fused_f32", 0, 7 * 4 * 50_000_000, make


def all_cases(torch):
    """Every case."""
    cases = []
    for dtype, tag in ((torch.float32, "f32"), (torch.bfloat16, "bf16")):
        for group in (matmul_cases, attention_cases, row_cases):
            cases += group(torch, dtype, tag)
    return cases + list(adamw_cases(torch))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-k", metavar="TEXT", default="", help="only cases whose name contains TEXT")
    p.add_argument("--threads", type=int, default=0, help="0: as PyTorch chooses")
    p.add_argument("--seconds", type=float, default=1.0, help="time for each case")
    p.add_argument("--runs", type=int, default=7, help="at least this many runs of each case")
    p.add_argument("--gemm", metavar="MxNxK", type=sizes, help="measure this matrix product only")
    p.add_argument("--dtype", choices=["f32", "bf16", "f16"], default="f32", help="its element type")
    p.add_argument("--list", action="store_true")
    args = p.parse_args()
    import torch

    if args.threads:
        torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    cases = [gemm_case(torch, args.gemm, args.dtype)] if args.gemm else all_cases(torch)
    cases = [c for c in cases if args.k in c[0]]
    if not cases:
        sys.exit(f"no case is named like {args.k!r}; --list prints them")
    if args.list:
        print("\n".join(c[0] for c in cases))
        return
    results = []
    for name, flops, moved, make in cases:
        runs, cpu = timed(make(), args.seconds, args.runs)
        entry = {"case": name, "best_ms": round(min(runs), 4),
                 "median_ms": round(statistics.median(runs), 4), "best_cpu_ms": round(min(cpu), 4), "runs": len(runs)}
        if flops:
            entry["best_gflops"] = round(flops / min(runs) / 1e6, 1)
        if moved:
            entry["best_gb_per_s"] = round(moved / min(runs) / 1e6, 2)
        results.append(entry)
        print(json.dumps(entry), file=sys.stderr)
    print(json.dumps({"peer": "torch", "torch": torch.__version__, "threads": torch.get_num_threads(),
                      "capability": torch.backends.cpu.get_cpu_capability(),
                      "tuned_malloc": sorted(k for k in os.environ if k.startswith("MALLOC_")),
                      "cases": results}))


if __name__ == "__main__":
    main()
