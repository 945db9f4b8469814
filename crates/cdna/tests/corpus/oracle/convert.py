"""Conversions to and from formats of 8 bits and fewer, and stochastic ones."""

from fractions import Fraction

from floats import BF16, F16, F32, WIDTH, convert, small_from, small_value, small_values, unsigned

WIDE = {"f32": F32, "f16": F16, "bf16": BF16}


def local(machine, name):
    """FNUZ on gfx942, OCP on gfx950."""
    return name + "fnuz" if machine.arch == "gfx942" and WIDTH[name] == 8 else name


def nearest(name, value):
    """A fraction that an f32 or less holds exactly, as a small code."""
    return small_from(name, float(value))


def codes(name):
    """The finite values of a format that are not negative, by code."""
    values = small_values(name)
    return [Fraction(float(x)) for x in values[:1 << (WIDTH[name[:3]] - 1)] if x == x and abs(x) != float("inf")]


def stochastic(name, value, random, bits):
    """Adds `bits` random bits below the last place, then cuts.

    The place of a subnormal result is that of the least number, so inputs of the
    corpus stay in the normal range, where the published pseudocode decides.
    """
    sign = 1 << (WIDTH[name[:3]] - 1) if value < 0 else 0
    known, value = codes(name), abs(value)
    below = max(at for at, known_value in enumerate(known) if known_value <= value)
    if known[below] == value:
        return sign | below
    step = known[below + 1] - known[below]
    fraction = (value - known[below]) / step
    up = fraction + Fraction(random, 1 << bits) >= 1
    return sign | below + up


def next_random(word):
    return unsigned(word << 1, 32) ^ (197 if word >> 31 else 0)


def _unpack(small, pair):
    """VOP1, with SDWA choosing a byte or word."""

    def run(machine, name, operands, mods):
        select = mods.get("src0_sel", "DWORD")
        for lane in machine.active():
            bits = machine.raw(operands[1], "b32", lane)
            shift = 0 if select == "DWORD" else int(select[-1]) * (8 if select.startswith("BYTE") else 16)
            bits >>= shift
            fmt = local(machine, small)
            value = small_value(fmt, bits & 0xFF)
            if pair:
                value |= small_value(fmt, bits >> 8 & 0xFF) << 32
            machine.set_lane(operands[0], lane, value, 2 if pair else 1)

    return run


def put(machine, to, lane, at, width, code):
    old = machine.raw(to, "b32", lane)
    mask = ((1 << width) - 1) << at
    machine.set_lane(to, lane, old & ~mask | code << at, 1)


def _pack(small):
    def run(machine, name, operands, mods):
        high = mods.list("op_sel", 3, 0)[-1]
        for lane in machine.active():
            for at, text in enumerate(operands[1:]):
                bits = machine.source(text, "f32", lane)
                put(machine, operands[0], lane, 16 * high + 8 * at, 8, from_f32(local(machine, small), bits))

    return run


def from_f32(name, bits):
    import numpy as np
    from floats import SMALL
    return int(np.array([bits], dtype=np.uint32).view(np.float32).astype(SMALL[name]).view(np.uint8)[0])


def _random(small):
    def run(machine, name, operands, mods):
        # op_sel[2:3] is the byte that is written.
        select = mods.list("op_sel", 4, 0)
        byte = select[2] + 2 * select[3]
        for lane in machine.active():
            value = F32.value(machine.source(operands[1], "f32", lane))
            word = machine.raw(operands[2], "b32", lane)
            code = stochastic(local(machine, small), value, word, 32)
            put(machine, operands[0], lane, 8 * byte, 8, code)

    return run


def _random_wide(fmt):
    def run(machine, name, operands, mods):
        high = mods.list("op_sel", 3, 0)[-1]
        for lane in machine.active():
            value = F32.value(machine.source(operands[1], "f32", lane))
            word = machine.raw(operands[2], "b32", lane)
            low = fmt.bits(abs(value), toward_zero=True)
            step = fmt.value(low + 1) - fmt.value(low)
            up = (abs(value) - fmt.value(low)) / step + Fraction(word, 1 << 32) >= 1
            put(machine, operands[0], lane, 16 * high, 16, (fmt.sign if value < 0 else 0) | low + up)

    return run


def scaled(name):
    """`v_cvt_scalef32_[sr_][pk_|pk32_|2xpk16_]TO_FROM`."""
    parts = name.removeprefix("v_cvt_scalef32_").split("_")
    *how, to, source = parts
    count = 32 if "pk32" in how or "2xpk16" in how else 2 if "pk" in how else 1
    shrinks = source in WIDE
    small, wide = (to, WIDE[source]) if shrinks else (source, WIDE[to])
    width = WIDTH[small]

    def exponent(machine, text, lane):
        return (machine.raw(text, "b32", lane) >> 23 & 0xFF) - 127

    def bits_of(machine, text, lane, at, size):
        _, first, words = machine.registers(text)
        whole = sum(machine.v[first + word][lane] << 32 * word for word in range(words))
        return whole >> at & ((1 << size) - 1)

    def run(machine, _, operands, mods):
        select = mods.list("op_sel", 4, 0)
        random = "sr" in how
        for lane in machine.active():
            power = Fraction(2) ** exponent(machine, operands[-1], lane)
            word = machine.raw(operands[2], "b32", lane) if random else 0
            out = []
            for at in range(count):
                if shrinks:
                    if "2xpk16" in how:
                        bits = bits_of(machine, operands[1 + at % 2], lane, at // 2 * 32, 32)
                    elif count == 2 and wide is F32 and not random:
                        bits = machine.raw(operands[1 + at], "b32", lane)
                    else:
                        high = 16 * select[0] if count == 1 and wide is not F32 else 0
                        bits = bits_of(machine, operands[1], lane, at * wide.width + high, wide.width)
                    value = wide.value(bits) / power
                    if random:
                        out.append(stochastic(small, value, word, 32))
                        word = next_random(word)
                    else:
                        sign = 1 << (width - 1) if wide.negative(bits) else 0
                        out.append(nearest(small, value) if value else sign)
                else:
                    if count == 32:
                        start = at * width
                    elif width == 8 and count == 2:
                        start = 16 * select[0] + 8 * at
                    else:
                        start = 8 * (select[0] + 2 * select[1]) + width * at
                    code = bits_of(machine, operands[1], lane, start, width)
                    bits = small_value(small, code)
                    value = F32.value(bits) * power
                    out.append(wide.bits(value, F32.negative(bits)))
            size = width if shrinks else wide.width
            value = sum(code << size * at for at, code in enumerate(out))
            if count == 32:
                machine.set_lane(operands[0], lane, value)
            elif shrinks and width == 8 and count == 2:
                put(machine, operands[0], lane, 16 * select[3 if len(select) > 3 else -1], 16, value)
            elif shrinks:
                put(machine, operands[0], lane, 8 * (select[2] + 2 * select[3]), 8, value)
            elif count == 1 and wide is not F32:
                put(machine, operands[0], lane, 16 * select[3 if len(select) > 3 else -1], 16, value)
            else:
                machine.set_lane(operands[0], lane, value)

    return run


def _ashr_pk(low, high):
    def run(machine, name, operands, mods):
        from floats import clamp, signed
        for lane in machine.active():
            a, b, c = (machine.raw(x, "b32", lane) for x in operands[1:])
            codes_ = [clamp(signed(x, 32) >> (c & 31), low, high) & 0xFF for x in (a, b)]
            put(machine, operands[0], lane, 16 * mods.list("op_sel", 4, 0)[-1], 16, codes_[0] | codes_[1] << 8)

    return run


T = {"v_ashr_pk_i8_i32": _ashr_pk(-128, 127), "v_ashr_pk_u8_i32": _ashr_pk(0, 255)}
for _small in ("fp8", "bf8"):
    T[f"v_cvt_f32_{_small}"] = _unpack(_small, False)
    T[f"v_cvt_pk_f32_{_small}"] = _unpack(_small, True)
    T[f"v_cvt_pk_{_small}_f32"] = _pack(_small)
    T[f"v_cvt_sr_{_small}_f32"] = _random(_small)
T["v_cvt_sr_f16_f32"], T["v_cvt_sr_bf16_f32"] = _random_wide(F16), _random_wide(BF16)


class Scaled(dict):
    """Rows made when they are asked for."""

    def get(self, name, default=None):
        return scaled(name) if name.startswith("v_cvt_scalef32_") else default
