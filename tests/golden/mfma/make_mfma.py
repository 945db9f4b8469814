#!/usr/bin/env python3
"""Results of matrix-core instructions by the published model, in exact integers.

    python make_mfma.py [--check]

The model is that of Xie et al., "MMA-Sim", arXiv 2511.10909, for CDNA3; gfx950 follows
the same rules. Register layouts are AMD's (CDNA3 and CDNA4 instruction set documents,
matrix instruction calculator). Standard library only; nothing of Cairn is imported.

  dots.json   one dot product a case: {form, arch, cbsz, blgp, cases: [[a, b, c, d, what]]},
              encodings in hex, element k of row 0 of A and column 0 of B.
  forms.json  one execution a form: name, architecture, modifiers, and for each operand
              the number of registers. Operands follow each other in forms.bin in the
              order of `operands`, 64 little-endian words a register.

NaNs are written as the quiet NaN with a clear sign; every NaN result is that.
"""

import argparse
import json
import pathlib
import random
import struct
import sys
from fractions import Fraction

HERE = pathlib.Path(__file__).resolve().parent
NAN, INF = "nan", "inf"


class Format:
    """A float format: exponent and mantissa bits, bias, meaning of the top encodings."""

    def __init__(self, name, eb, mb, bias, specials):
        self.name, self.eb, self.mb, self.bias, self.specials = name, eb, mb, bias, specials
        self.bits = 1 + eb + mb
        self.least = 1 - bias

    def decode(self, code):
        """(sign, value): value is (m, e) for m * 2^e, NAN or INF."""
        sign = code >> (self.eb + self.mb) & 1
        field = code >> self.mb & ((1 << self.eb) - 1)
        mantissa = code & ((1 << self.mb) - 1)
        top = (1 << self.eb) - 1
        if self.specials == "ieee" and field == top:
            return sign, (NAN if mantissa else INF)
        if self.specials == "nan" and field == top and mantissa == (1 << self.mb) - 1:
            return sign, NAN
        if self.specials == "fnuz" and code == 1 << (self.bits - 1):
            return 0, NAN
        if field == 0:
            return sign, (mantissa, self.least - self.mb)
        return sign, (mantissa | 1 << self.mb, field - self.bias - self.mb)

    def encode(self, sign, value):
        """Nearest, ties to even; overflow to infinity. For f32 and f64."""
        top = ((1 << self.eb) - 1) << self.mb
        head = sign << (self.eb + self.mb)
        if value == NAN:
            return top | 1 << (self.mb - 1)
        if value == INF:
            return head | top
        m, e = value
        if m == 0:
            return head
        exponent = max(m.bit_length() - 1 + e, self.least)
        drop = exponent - self.mb - e
        whole = floor_shift(m, -drop)
        if drop > 0:
            twice = (m - (whole << drop)) * 2
            if twice > 1 << drop or (twice == 1 << drop and whole & 1):
                whole += 1
        # A carry moves into the exponent by itself, to infinity too.
        return head | min(top, ((exponent + self.bias - 1) << self.mb) + whole)


def floor_shift(m, by):
    """m * 2^by, rounded toward minus infinity."""
    return m << by if by >= 0 else m >> -by


def trunc_shift(m, by):
    """m * 2^by, rounded toward zero."""
    return floor_shift(m, by) if m >= 0 else -floor_shift(-m, by)


F32 = Format("f32", 8, 23, 127, "ieee")
F64 = Format("f64", 11, 52, 1023, "ieee")
FORMATS = {
    "f64": F64,
    "f32": F32,
    "xf32": F32,
    "f16": Format("f16", 5, 10, 15, "ieee"),
    "bf16": Format("bf16", 8, 7, 127, "ieee"),
    ("fp8", "gfx942"): Format("e4m3fnuz", 4, 3, 8, "fnuz"),
    ("bf8", "gfx942"): Format("e5m2fnuz", 5, 2, 16, "fnuz"),
    ("fp8", "gfx950"): Format("e4m3", 4, 3, 7, "nan"),
    ("bf8", "gfx950"): Format("e5m2", 5, 2, 15, "ieee"),
    "fp6": Format("e2m3", 2, 3, 1, "finite"),
    "bf6": Format("e3m2", 3, 2, 3, "finite"),
    "fp4": Format("e2m1", 2, 1, 1, "finite"),
}


def format_of(kind, arch):
    return FORMATS.get(kind) or FORMATS[kind, arch]


def signed(part):
    """(m, e) with the sign in m."""
    sign, (m, e) = part
    return (-m if sign else m), e


def exponent_of(value, least):
    """The e of value = s * 2^e with 1 <= |s| < 2, or least; zero has exponent -126."""
    m, e = value
    return max(abs(m).bit_length() - 1 + e, least) if m else -126


def add(x, y):
    """The exact sum of two (m, e)."""
    e = min(x[1], y[1])
    return (x[0] << x[1] - e) + (y[0] << y[1] - e), e


def special_sum(terms):
    """NAN, (sign, INF) or None for the exact sum of (sign, value) terms."""
    signs = set()
    for sign, value in terms:
        if value == NAN:
            return NAN
        if value == INF:
            signs.add(sign)
    if len(signs) == 2:
        return NAN
    return (signs.pop(), INF) if signs else None


def product(a, b):
    sign = a[0] ^ b[0]
    if NAN in (a[1], b[1]):
        return 0, NAN
    if INF in (a[1], b[1]):
        finite = b[1] if a[1] == INF else a[1]
        return (0, NAN) if finite != INF and finite[0] == 0 else (sign, INF)
    return sign, (a[1][0] * b[1][0], a[1][1] + b[1][1])


def fused_sum(products, exponents):
    """Products (m, e) cut toward zero at 24 bits below the largest exponent: the sum in
    units of 2^(exponent - 24), and the exponent."""
    top = max(exponents)
    return sum(trunc_shift(m, e - (top - 24)) for m, e in products), top


def group_sum(factors, acc, least, split):
    """One group: factors are ((sign, value), (sign, value)); least the formats' exponents."""
    products = [product(a, b) for a, b in factors]
    c = F32.decode(acc)
    special = special_sum(products + [c])
    if special is None:
        special = special_sum([(s, INF) for s, (m, e) in products if m and m.bit_length() + e > 128])
    if special is not None:
        return F32.encode(0, NAN) if special == NAN else F32.encode(*special)
    products = [signed(p) for p in products]
    exponents = [exponent_of(a[1], la) + exponent_of(b[1], lb) for (a, b), (la, lb) in zip(factors, least)]
    c = signed(c)
    ec = exponent_of(c, -126)
    if split:
        s0, e0 = fused_sum(products[0::2], exponents[0::2])
        s1, e1 = fused_sum(products[1::2], exponents[1::2])
        e = max(e0, e1)
        s = floor_shift(s0, e0 - e) + floor_shift(s1, e1 - e)
    else:
        s, e = fused_sum(products, exponents)
    top = max(e, ec)
    s = floor_shift(s, e - 24 - (top - 31))
    c = 0 if split and ec < top - 25 else floor_shift(c[0], c[1] - (top - 24))
    total = s + (c << 7)
    return F32.encode(int(total < 0), (abs(total), top - 31))


def fma(fmt, a, b, acc):
    """One fused multiply-add of encodings."""
    a, b, c = fmt.decode(a), fmt.decode(b), fmt.decode(acc)
    p = product(a, b)
    special = special_sum([p, c])
    if special is not None:
        return fmt.encode(0, NAN) if special == NAN else fmt.encode(*special)
    m, e = add(signed(p), signed(c))
    if m == 0:
        # Zeros of one sign keep it; otherwise the sum is plus zero.
        both = p[0] & c[0] if p[1][0] == 0 and c[1][0] == 0 else 0
        return fmt.encode(both, (0, 0))
    return fmt.encode(int(m < 0), (abs(m), e))


def dot(form, arch, a, b, acc, scales=None):
    """The accumulator after the products of codes a[k] and b[k], k ascending."""
    ta, tb = form["a"], form["b"]
    if ta == "i8":
        s8 = lambda x: x - 256 if x > 127 else x
        return (acc + sum(s8(x) * s8(y) for x, y in zip(a, b))) & 0xFFFFFFFF
    fa, fb = format_of(ta, arch), format_of(tb, arch)
    if ta in ("f32", "f64"):
        for x, y in zip(a, b):
            acc = fma(fa, x, y, acc)
        return acc
    if ta == "xf32":
        a, b = [x & ~0x1FFF for x in a], [x & ~0x1FFF for x in b]
    size, split = {"xf32": (4, False), "f16": (8, False), "bf16": (8, False)}.get(ta, (16, True))
    scales = scales or [(127, 127)] * len(a)
    for start in range(0, len(a), size):
        factors, least = [], []
        for k in range(start, min(start + size, len(a))):
            pair, low = [], []
            for fmt, code, scale in ((fa, a[k], scales[k][0]), (fb, b[k], scales[k][1])):
                sign, value = fmt.decode(code)
                if scale == 255:
                    value = NAN
                elif value not in (NAN, INF):
                    value = value[0], value[1] + scale - 127
                pair.append((sign, value))
                low.append(fmt.least + scale - 127)
            factors.append(tuple(pair))
            least.append(tuple(low))
        acc = group_sum(factors, acc, least, split)
    return acc


# Forms -------------------------------------------------------------------------------

BITS = {"f64": 64, "f32": 32, "xf32": 32, "f16": 16, "bf16": 16, "i8": 8, "fp8": 8, "bf8": 8,
        "fp6": 6, "bf6": 6, "fp4": 4}
SELECT = ["fp8", "bf8", "fp6", "bf6", "fp4"]


def form(name, m, n, k, blocks, a, b, acc, kind="dense", arch="gfx942", **modifiers):
    return {"name": name, "m": m, "n": n, "k": k, "blocks": blocks, "a": a, "b": b, "acc": acc,
            "kind": kind, "arch": arch, "modifiers": modifiers}


def all_forms():
    out = []
    dense = lambda acc, m, k, t, blocks=1, arch="gfx942", **mod: out.append(
        form(f"v_mfma_{acc}_{m}x{m}x{k}_{f'{blocks}b_' if blocks > 1 else ''}{t}", m, m, k, blocks, t, t,
             acc, "dense", arch, **mod))
    dense("f64", 16, 4, "f64", blgp=0)
    dense("f64", 16, 4, "f64", blgp=5)
    dense("f64", 4, 4, "f64", 4, blgp=2)
    dense("f32", 32, 1, "f32", 2, cbsz=1, abid=1)
    dense("f32", 16, 1, "f32", 4, cbsz=1, abid=1, blgp=3)
    dense("f32", 4, 1, "f32", 16, cbsz=2, abid=3)
    dense("f32", 32, 2, "f32", blgp=1)
    dense("f32", 16, 4, "f32")
    dense("f32", 32, 4, "xf32")
    dense("f32", 16, 8, "xf32")
    for t in ("f16", "bf16"):
        dense("f32", 32, 4, t, 2, blgp=2)
        dense("f32", 16, 4, t, 4, cbsz=2, abid=3, blgp=7)
        dense("f32", 4, 4, t, 16, cbsz=4, abid=9)
        dense("f32", 4, 4, t, 16)
        dense("f32", 32, 8, t)
        dense("f32", 16, 16, t)
        dense("f32", 16, 16, t, blgp=4)
        dense("f32", 32, 16, t, arch="gfx950")
        dense("f32", 16, 32, t, arch="gfx950")
    dense("i32", 32, 4, "i8", 2)
    dense("i32", 16, 4, "i8", 4, cbsz=1, abid=0, blgp=5)
    dense("i32", 4, 4, "i8", 16, cbsz=3, abid=6)
    dense("i32", 32, 16, "i8")
    dense("i32", 16, 32, "i8", blgp=6)
    dense("i32", 32, 32, "i8", arch="gfx950")
    dense("i32", 16, 64, "i8", arch="gfx950")
    for a in ("fp8", "bf8"):
        for b in ("fp8", "bf8"):
            for arch in ("gfx942", "gfx950"):
                if arch == "gfx942" or a == b:
                    out.append(form(f"v_mfma_f32_16x16x32_{a}_{b}", 16, 16, 32, 1, a, b, "f32", arch=arch))
                if arch == "gfx942":
                    out.append(form(f"v_mfma_f32_32x32x16_{a}_{b}", 32, 32, 16, 1, a, b, "f32", arch=arch))
    for i, a in enumerate(SELECT):
        for j, b in enumerate(SELECT):
            out.append(form("v_mfma_scale_f32_16x16x128_f8f6f4", 16, 16, 128, 1, a, b, "f32", "scaled", "gfx950",
                            cbsz=i, blgp=j, byte_a=(i + j) % 4, byte_b=(i + 2 * j + 1) % 4))
        out.append(form("v_mfma_scale_f32_32x32x64_f8f6f4", 32, 32, 64, 1, a, SELECT[(i + 1) % 5], "f32", "scaled",
                        "gfx950", cbsz=i, blgp=(i + 1) % 5, byte_a=i % 4, byte_b=(i + 1) % 4))
    out.append(form("v_mfma_f32_16x16x128_f8f6f4", 16, 16, 128, 1, "fp8", "bf6", "f32", "selected", "gfx950",
                    cbsz=0, blgp=3))
    out.append(form("v_mfma_f32_32x32x64_f8f6f4", 32, 32, 64, 1, "fp4", "bf8", "f32", "selected", "gfx950",
                    cbsz=4, blgp=1))
    sparse = lambda acc, m, k, t, name, arch="gfx942", **mod: out.append(
        form(f"v_smfmac_{acc}_{m}x{m}x{k}_{name}", m, m, k, 1, t[0], t[1], acc, "sparse", arch, **mod))
    for t in ("f16", "bf16"):
        sparse("f32", 32, 16, (t, t), t, cbsz=0, abid=3)
        sparse("f32", 16, 32, (t, t), t, cbsz=1, abid=2)
        sparse("f32", 32, 32, (t, t), t, "gfx950", cbsz=0, abid=1)
        sparse("f32", 16, 64, (t, t), t, "gfx950", cbsz=0, abid=0)
    sparse("i32", 32, 32, ("i8", "i8"), "i8", cbsz=0, abid=1)
    sparse("i32", 16, 64, ("i8", "i8"), "i8")
    sparse("i32", 32, 64, ("i8", "i8"), "i8", "gfx950")
    sparse("i32", 16, 128, ("i8", "i8"), "i8", "gfx950")
    for a in ("fp8", "bf8"):
        for b in ("fp8", "bf8"):
            sparse("f32", 16, 64, (a, b), f"{a}_{b}", cbsz=0, abid=1)
            sparse("f32", 16, 128, (a, b), f"{a}_{b}", "gfx950")
            if a != b:
                sparse("f32", 32, 32, (a, b), f"{a}_{b}", cbsz=0, abid=0)
                sparse("f32", 32, 64, (a, b), f"{a}_{b}", "gfx950")
    return out


# Layouts -----------------------------------------------------------------------------

def input_place(rows, k_total, blocks, bits, block, row, k):
    """(lane, first bit within the lane's registers)."""
    per_lane = rows * k_total * blocks // 64
    if per_lane * bits == 256:
        # Eight registers: two operands of four, each with half of k.
        half, rest = divmod(k, k_total // 2)
        group, slot = divmod(rest, per_lane // 2)
        slot += half * per_lane // 2
    else:
        group, slot = divmod(k, per_lane)
    return rows * (blocks * group + block) + row, slot * bits


def output_place(f, block, i, j):
    """(register, lane)."""
    m, acc = f["m"], f["acc"]
    if acc == "f64":
        return (2 * (i // 4), 16 * (i % 4) + j) if m == 16 else (0, 16 * i + 4 * block + j)
    if m == 32:
        return 16 * block + 4 * (i // 8) + i % 4, 32 * (i // 4 % 2) + j
    if m == 16:
        return 4 * block + i % 4, 16 * (i // 4) + j
    return i, 4 * block + j


def lane_of_b(lane, blgp):
    """Which lane of B is read for a lane."""
    return [lane, lane % 32, lane % 32 + 32, (lane + 16) % 64, lane % 16, lane % 16 + 16, lane % 16 + 32,
            lane % 16 + 48][blgp]


def read_bits(registers, lane, bit, width):
    word = 0
    for r, register in enumerate(registers):
        word |= register[lane] << (32 * r)
    return word >> bit & ((1 << width) - 1)


def write_bits(registers, lane, bit, width, code):
    for i in range(width):
        r, at = divmod(bit + i, 32)
        registers[r][lane] |= (code >> i & 1) << at


def execute(f, ops):
    """D's registers."""
    m, n, k, blocks, mod = f["m"], f["n"], f["k"], f["blocks"], f["modifiers"]
    bits_a, bits_b = BITS[f["a"]], BITS[f["b"]]
    stored = k // 2 if f["kind"] == "sparse" else k
    cbsz, abid, blgp = (mod.get(key, 0) for key in ("cbsz", "abid", "blgp"))
    f64 = f["a"] == "f64"
    broadcast = 2**cbsz if f["kind"] == "dense" and not f64 else 1
    d = [list(r) for r in ops["c"]]
    for block in range(blocks):
        source = block // broadcast * broadcast + (abid if broadcast > 1 else 0)
        for i in range(m):
            a, ks, scale_a = [], [], []
            for x in range(stored):
                lane, bit = input_place(m, stored, blocks, bits_a, source, i, x)
                a.append(read_bits(ops["a"], lane, bit, bits_a))
                ks.append(x)
                if f["kind"] == "sparse":
                    per_lane = m * stored // 64
                    first = (abid if cbsz == 0 else 0) * 2 * per_lane
                    two = ops["index"][0][lane] >> (first + 2 * (x % per_lane)) & 3
                    ks[-1] = x // 2 * 4 + two
            for j in range(n):
                b, scales = [], []
                for x in ks:
                    lane, bit = input_place(n, k, blocks, bits_b, block, j, x)
                    if f["kind"] == "dense" and not f64:
                        lane = lane_of_b(lane, blgp)
                    b.append(read_bits(ops["b"], lane, bit, bits_b))
                    if f["kind"] == "scaled":
                        one = ops["scale_a"][0][x // 32 * m + i] >> (8 * mod["byte_a"]) & 255
                        two = ops["scale_b"][0][x // 32 * n + j] >> (8 * mod["byte_b"]) & 255
                        scales.append((one, two))
                register, lane = output_place(f, block, i, j)
                if f64:
                    sign = 1 << 63
                    acc = d[register][lane] | d[register + 1][lane] << 32
                    acc ^= sign if blgp & 4 else 0
                    x = [v ^ (sign if blgp & 1 else 0) for v in a]
                    y = [v ^ (sign if blgp & 2 else 0) for v in b]
                    out = dot(f, f["arch"], x, y, acc)
                    d[register][lane], d[register + 1][lane] = out & 0xFFFFFFFF, out >> 32
                else:
                    d[register][lane] = dot(f, f["arch"], a, b, d[register][lane], scales or None)
    return d


# Inputs ------------------------------------------------------------------------------

def code_of(rng, kind, arch, centre, span, special=0.0):
    """A random encoding with an exponent around `centre`."""
    if kind == "i8":
        return rng.randrange(256)
    fmt = format_of(kind, arch)
    if rng.random() < special:
        return rng.choice([0, 1 << (fmt.bits - 1), (1 << (fmt.eb + fmt.mb)) - 1,
                           ((1 << fmt.eb) - 1) << fmt.mb, 1])
    field = fmt.bias + centre + rng.randint(-span, span)
    field = max(0, min((1 << fmt.eb) - 2 if fmt.specials == "ieee" else (1 << fmt.eb) - 1, field))
    code = rng.randrange(2) << (fmt.eb + fmt.mb) | field << fmt.mb | rng.randrange(1 << fmt.mb)
    if fmt.decode(code)[1] == NAN:
        return 0
    return code


def fill(rng, f, rows, k, kind, regimes):
    """Registers of an input: every row has a regime."""
    bits, blocks = BITS[kind], f["blocks"]
    registers = [[0] * 64 for _ in range(rows * k * blocks * bits // 2048)]
    for block in range(blocks):
        for row in range(rows):
            centre, span, special = regimes[(row + block) % len(regimes)]
            for x in range(k):
                lane, bit = input_place(rows, k, blocks, bits, block, row, x)
                write_bits(registers, lane, bit, bits, code_of(rng, kind, f["arch"], centre, span, special))
    return registers


def operands(rng, f):
    wide = 14 if f["a"] in ("bf16", "f32", "xf32", "f64") else 6
    regimes_a = [(0, 1, 0), (0, wide, 0), (1, wide, 0.1), (-3, 4, 0.02)]
    if f["a"] in ("bf16", "xf32", "f32"):
        regimes_a += [(-70, 3, 0), (62, 4, 0), (-126, 1, 0)]
    regimes_b = [(0, 2, 0), (0, wide, 0), (0, 3, 0.03)]
    if f["a"] in ("bf16", "xf32", "f32"):
        regimes_b += [(-64, 5, 0), (63, 2, 0)]
    stored = f["k"] // 2 if f["kind"] == "sparse" else f["k"]
    ops = {"a": fill(rng, f, f["m"], stored, f["a"], regimes_a),
           "b": fill(rng, f, f["n"], f["k"], f["b"], regimes_b)}
    word = lambda: [rng.getrandbits(32) for _ in range(64)]
    if f["kind"] == "sparse":
        ops["index"] = [word()]
    if f["kind"] == "scaled":
        for key in ("scale_a", "scale_b"):
            near = lambda: 255 if rng.random() < 0.01 else 127 + rng.randint(-6, 6)
            far = lambda: rng.randrange(255)
            ops[key] = [[sum((near() if rng.random() < 0.95 else far()) << (8 * x) for x in range(4))
                         for _ in range(64)]]
    registers = f["m"] * f["n"] * f["blocks"] // 64 * (2 if f["acc"] == "f64" else 1)
    if f["acc"] == "i32":
        ops["c"] = [word() for _ in range(registers)]
    elif f["acc"] == "f64":
        ops["c"] = []
        for _ in range(registers // 2):
            codes = [code_of(rng, "f64", "", 0, 12, 0.02) for _ in range(64)]
            ops["c"] += [[x & 0xFFFFFFFF for x in codes], [x >> 32 for x in codes]]
    else:
        ops["c"] = [[code_of(rng, "f32", "", *rng.choice([(0, 3), (0, 26), (-126, 3), (-20, 20)]), 0.02)
                     for _ in range(64)] for _ in range(registers)]
    return ops


def make_forms():
    index, blob = [], bytearray()
    for number, f in enumerate(all_forms()):
        rng = random.Random(f"{number} {f['name']} {f['arch']}")
        ops = operands(rng, f)
        ops["d"] = execute(f, ops)
        index.append({"form": f["name"], "arch": f["arch"], **f["modifiers"],
                      "operands": {key: len(value) for key, value in ops.items()}})
        for registers in ops.values():
            for register in registers:
                blob += struct.pack("<64I", *register)
    return index, bytes(blob)


# Dots --------------------------------------------------------------------------------

def encode_small(fmt, value):
    """The encoding of a representable value."""
    sign, value = (1, -value) if value < 0 else (0, value)
    for code in range(1 << (fmt.bits - 1)):
        m, e = fmt.decode(code)[1]
        if m * p2(e) == value:
            return code | (sign << (fmt.bits - 1) if value else 0)
    raise ValueError(f"{value} is no {fmt.name}")


def encode_any(kind, arch, value):
    if value in (NAN, INF, "-inf"):
        fmt = format_of(kind, arch)
        top = ((1 << fmt.eb) - 1) << fmt.mb
        return {NAN: top | 1 << (fmt.mb - 1), INF: top, "-inf": top | 1 << (fmt.bits - 1)}[value]
    fmt = format_of(kind, arch)
    value = Fraction(value)
    if fmt.mb < 8 and fmt.eb < 8:
        return encode_small(fmt, value)
    size = abs(value)
    code = fmt.encode(int(value < 0), (size.numerator, 1 - size.denominator.bit_length()))
    m, e = signed(fmt.decode(code))
    assert m * p2(e) == value, (kind, value)
    return code


def p2(e):
    return Fraction(2) ** e


def directed(kind, arch):
    """[a, b, c, what]: a and b values of the products' factors, c a value."""
    t = lambda e: p2(e)
    small = kind in ("fp8", "bf8")
    cases = [
        ([1, -1, t(-12)], [1, 1, t(-12)], 0, "a product 24 places below the largest is kept"),
        ([1, -1, -t(-12)], [1, 1, t(-12)], 0, "the same, negated"),
    ] if not small else []
    if not small:
        cases += [
            ([1, -1, t(-12)], [1, 1, t(-13)], 0, "a product 25 places below is cut"),
            ([1, -1, -t(-12)], [1, 1, Fraction(3, 2) * t(-12)], 0, "a negative product is cut toward zero"),
            ([2, -1], [2, 3], -(1 + t(-23)), "the accumulator is rounded toward minus infinity"),
            ([-2, 1], [2, 3], 1 + t(-23), "the same, negated"),
            ([t(-12), 0], [-t(-12), 0], 1 + t(-23), "a small sum rounds nothing away here"),
            ([-t(-10)] * 4, [t(-14)] * 4, 1, "a negative sum below 2^-31 stays one unit"),
            ([1, 1, 1], [1, t(-10), -1], t(-24), "cancellation within a group is exact"),
            ([1] * 12, [1] * 8 + [t(-10)] * 4, t(24), "groups join the accumulator one by one"),
            ([t(-14)] * 8, [t(-10)] * 8, t(0), "ties of the result go to even"),
        ]
    if kind in ("bf16", "xf32"):
        cases += [
            ([t(100), 1], [t(28), 1], 0, "a product of 2^128 is an infinity"),
            ([t(100), t(100)], [t(28), -t(28)], 0, "of both signs: NaN"),
            ([t(100), t(100)], [t(27), t(27)], 0, "2^127 twice overflows only at the end"),
            ([t(100), -t(100), 1], [t(27), t(27), 1], 3, "and cancels before"),
            ([t(100)], [-t(28)], INF, "an infinite accumulator comes first"),
            ([0, t(-20)], [t(127), t(-4)], 0, "a zero has exponent -126"),
            ([t(-70)], [t(-70)], 0, "far below the range: rounded down to zero"),
            ([-t(-70)], [t(-70)], 0, "far below the range: one unit of the alignment"),
            ([t(-75), 0], [t(-74), 0], 0, "a subnormal result"),
            ([t(-130)], [t(3)], t(-140), "subnormal inputs are kept"),
        ]
    if kind in ("f16", "bf16", "xf32"):
        cases += [
            ([INF], [0], 1, "infinity times zero is NaN"),
            ([INF, INF], [1, -1], 1, "infinities of both signs are NaN"),
            ([INF, 1], [-1, 1], 1, "an infinity stays one"),
            ([NAN], [1], 1, "NaN"),
            ([1], [1], NAN, "a NaN in the accumulator"),
            ([1, 1], [1, 1], "-inf", "an infinity in the accumulator"),
        ]
    if kind == "f16":
        cases += [
            ([t(-24), 1], [t(-24), t(-24)], 0, "subnormal inputs are kept"),
            ([65504] * 8, [65504] * 8, 0, "the largest products"),
        ]
    if small:
        big = 128
        cases += [
            ([big, 0, -big, 0, t(-7)], [big, 0, big, 0, t(-7)], 0, "28 places below, among the even: cut"),
            ([big, t(-7), -big], [big, t(-7), big], 0, "28 places below, among the odd: rounded down"),
            ([big, t(-7), -big], [big, -t(-7), big], 0, "the same, negated: one unit"),
            ([big], [big], t(-11), "an accumulator 25 places below counts"),
            ([big], [big], -t(-11), "and is rounded down"),
            ([big], [big], -t(-12), "one 26 places below does not"),
            ([1, 1, -1, -1], [1, 1, 1, 1], t(-126), "cancellation leaves the accumulator out"),
        ]
    return cases


DOT_FORMS = [
    ("v_mfma_f32_16x16x16_bf16", "gfx942", "bf16", "bf16", 16),
    ("v_mfma_f32_16x16x16_f16", "gfx942", "f16", "f16", 16),
    ("v_mfma_f32_16x16x8_xf32", "gfx942", "xf32", "xf32", 8),
    ("v_mfma_f32_16x16x32_fp8_fp8", "gfx942", "fp8", "fp8", 32),
    ("v_mfma_f32_16x16x32_bf8_bf8", "gfx942", "bf8", "bf8", 32),
    ("v_mfma_f32_16x16x32_fp8_bf8", "gfx950", "fp8", "bf8", 32),
    ("v_mfma_f32_16x16x4_f32", "gfx942", "f32", "f32", 4),
]


def make_dots():
    out = []
    for name, arch, ta, tb, k in DOT_FORMS:
        f = {"a": ta, "b": tb}
        rng = random.Random(f"dots {name} {arch}")
        cases = []
        pad = lambda codes: codes + [0] * (k - len(codes))
        for a, b, c, what in directed(ta, arch) if ta != "f32" else []:
            a, b = [encode_any(ta, arch, x) for x in a][:k], [encode_any(tb, arch, x) for x in b][:k]
            cases.append((pad(a), pad(b), encode_any("f32", arch, c), what))
        for _ in range(150):
            spread, centre = rng.choice([(1, 0), (4, 0), (13, 0), (13, 3), (3, -9)])
            special = rng.choice([0, 0, 0, 0.1])
            a = [code_of(rng, ta, arch, centre, spread, special) for _ in range(k)]
            b = [code_of(rng, tb, arch, 0, spread, special) for _ in range(k)]
            if rng.random() < 0.5:
                # Nearly cancelling pairs show what was cut.
                for x in range(0, k - 2, 4):
                    a[x + 2], b[x + 2] = a[x], b[x] ^ 1 << (BITS[tb] - 1)
            cases.append((a, b, code_of(rng, "f32", arch, centre, 2 * spread + 4), "random"))
        listed = []
        for a, b, c, what in cases:
            hexed = lambda codes: " ".join(f"{x:x}" for x in codes)
            listed.append([hexed(a), hexed(b), f"{c:x}", f"{dot(f, arch, a, b, c):x}", what])
        out.append({"form": name, "arch": arch, "cases": listed})
    return out


def dump(value):
    return (json.dumps(value, indent=None, separators=(",", ":")).replace("]],", "]],\n").replace("},{", "},\n{")
            .replace('"],["', '"],\n["') + "\n").encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    args = parser.parse_args()
    index, blob = make_forms()
    files = {"dots.json": dump(make_dots()), "forms.json": dump(index), "forms.bin": blob}
    stale = [name for name, data in files.items()
             if args.check and (HERE / name).read_bytes() != data]
    if args.check:
        if stale:
            sys.exit(f"differs: {', '.join(stale)}")
        return
    for name, data in files.items():
        (HERE / name).write_bytes(data)
        print(name, len(data))


if __name__ == "__main__":
    main()
