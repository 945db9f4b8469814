"""Compiles Triton kernels for gfx942 and gfx950; no GPU is needed.

Usage: TRITON_DISABLE_LINE_INFO=1 python make.py OUT, with PyPI `triton` 3.9. The kernels are written for
this purpose in the usual Triton style; the code objects beside this script
were made by it.
"""

import pathlib
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def softmax(out, inp, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(inp + row * columns + at, mask=inside, other=-float("inf"))
    x = tl.exp(x - tl.max(x, axis=0))
    tl.store(out + row * columns + at, x / tl.sum(x, axis=0), mask=inside)


@triton.jit
def layer_norm(x, weight, bias, out, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0)
    mean = tl.sum(value, axis=0) / columns
    centred = tl.where(inside, value - mean, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    w = tl.load(weight + at, mask=inside, other=0.0)
    b = tl.load(bias + at, mask=inside, other=0.0)
    tl.store(out + row * columns + at, centred * rstd * w + b, mask=inside)


@triton.jit
def gemm(a, b, c, m, n, k, lda, ldb, ldc, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row, column = tl.program_id(0), tl.program_id(1)
    rows = row * M + tl.arange(0, M)
    columns = column * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, k, K):
        here = start + depth
        left = tl.load(a + rows[:, None] * lda + here[None, :], mask=(rows[:, None] < m) & (here[None, :] < k), other=0.0)
        right = tl.load(b + here[:, None] * ldb + columns[None, :], mask=(here[:, None] < k) & (columns[None, :] < n), other=0.0)
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * ldc + columns[None, :], total.to(tl.bfloat16), mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def attention(q, k, v, out, length, scale, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    start, head = tl.program_id(0) * M, tl.program_id(1)
    rows, dims, keys = start + tl.arange(0, M), tl.arange(0, D), tl.arange(0, N)
    base = head * length * D
    query = tl.load(q + base + rows[:, None] * D + dims[None, :], mask=rows[:, None] < length, other=0.0)
    most = tl.full((M,), -float("inf"), tl.float32)
    total = tl.zeros((M,), tl.float32)
    value = tl.zeros((M, D), tl.float32)
    for first in range(0, start + M, N):
        at = first + keys
        key = tl.load(k + base + at[None, :] * D + dims[:, None], mask=at[None, :] < length, other=0.0)
        score = tl.dot(query, key) * scale
        score = tl.where((at[None, :] <= rows[:, None]) & (at[None, :] < length), score, -float("inf"))
        larger = tl.maximum(most, tl.max(score, 1))
        weight = tl.exp2(score - larger[:, None])
        shrink = tl.exp2(most - larger)
        total = total * shrink + tl.sum(weight, 1)
        value = value * shrink[:, None]
        here = tl.load(v + base + at[:, None] * D + dims[None, :], mask=at[:, None] < length, other=0.0)
        value = tl.dot(weight.to(tl.bfloat16), here, value)
        most = larger
    value = value / total[:, None]
    tl.store(out + base + rows[:, None] * D + dims[None, :], value.to(tl.bfloat16), mask=rows[:, None] < length)


F, B, I = "*fp32", "*bf16", "i32"
KERNELS = {
    "softmax": (softmax, [F, F, I], {"BLOCK": 1024}, {"num_warps": 4}),
    "layer_norm": (layer_norm, [F, F, F, F, I, "fp32"], {"BLOCK": 1024}, {"num_warps": 4}),
    "gemm": (gemm, [B, B, B] + [I] * 6, {"M": 64, "N": 64, "K": 32}, {"num_warps": 4, "num_stages": 2}),
    "attention": (attention, [B, B, B, B, I, "fp32"], {"D": 64, "M": 64, "N": 32}, {"num_warps": 4, "num_stages": 2}),
}


def main(out):
    for name, (function, types, constants, options) in KERNELS.items():
        signature = dict(zip(function.arg_names, types + ["constexpr"] * len(constants)))
        for arch in ["gfx942", "gfx950"]:
            source = ASTSource(function, signature, constexprs=constants)
            made = triton.compile(source, target=GPUTarget("hip", arch, 64), options=options)
            path = out / f"{name}.{arch}.hsaco"
            path.write_bytes(made.asm["hsaco"])
            print(path.name, made.metadata.num_warps, made.metadata.shared, len(made.asm["hsaco"]))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
