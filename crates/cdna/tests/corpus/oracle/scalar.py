"""Scalar instructions: SOP1, SOP2, SOPC, SOPK and loads."""

from floats import signed, unsigned


def two(width, function):
    """A result of two sources; SCC tells that it is not zero, unless told."""

    def run(machine, name, operands, mods):
        a, b = (machine.scalar(x, w) for x, w in zip(operands[1:], width[1:]))
        value = function(machine, a, b)
        value, scc = value if isinstance(value, tuple) else (value, None)
        value = unsigned(value, width[0])
        if scc is None:
            scc = value != 0
        if scc != "keep":
            machine.scc = int(scc)
        machine.set_scalar(operands[0], value, width[0])

    return run


def one(width, function):
    def run(machine, name, operands, mods):
        a = machine.scalar(operands[1], width[1])
        value = function(machine, a)
        value, scc = value if isinstance(value, tuple) else (value, "keep")
        value = unsigned(value, width[0])
        if scc == "zero":
            scc = value != 0
        if scc != "keep":
            machine.scc = int(scc)
        machine.set_scalar(operands[0], value, width[0])

    return run


def compare(width, function):
    def run(machine, name, operands, mods):
        machine.scc = int(function(*(machine.scalar(x, w) for x, w in zip(operands, width))))

    return run


def constant(function):
    """SOPK: the destination is a source too, and the other one has 16 bits."""

    def run(machine, name, operands, mods):
        k = unsigned(int(operands[1], 0), 16)
        value = function(machine, machine.scalar(operands[0]), k)
        value, scc = value if isinstance(value, tuple) else (value, "keep")
        if scc != "keep":
            machine.scc = int(scc)
        if value is not None:
            machine.set_scalar(operands[0], value)

    return run


def fits(value):
    return -(1 << 31) <= value < 1 << 31


def s32(x):
    return signed(x, 32)


def ones(x):
    return bin(x).count("1")


def first_bit(x, width):
    return (x & -x).bit_length() - 1 if x else -1


def leading(x, width):
    return width - x.bit_length() if x else -1


def leading_sign(x, width):
    """Bits from the top until one differs from the sign; -1 when none does."""
    top = x >> (width - 1)
    for at in range(1, width):
        if x >> (width - 1 - at) & 1 != top:
            return at
    return -1


def field(value, offset, width, bits, extend):
    got = (signed(value, bits) if extend else value) >> offset & ((1 << width) - 1)
    return signed(got, width) if extend and width else got


def reverse(x, width):
    return int(f"{x:0{width}b}"[::-1], 2)


def quads(x, width):
    return sum(1 << at for at in range(width // 4) if x >> (4 * at) & 15)


def whole_quads(x, width):
    return sum(15 << (4 * at) for at in range(width // 4) if x >> (4 * at) & 15)


B = (32, 32, 32)
W = (64, 64, 64)
T = {
    "s_add_u32": two(B, lambda m, a, b: (a + b, a + b >> 32)),
    "s_sub_u32": two(B, lambda m, a, b: (a - b, a < b)),
    "s_add_i32": two(B, lambda m, a, b: (a + b, not fits(s32(a) + s32(b)))),
    "s_sub_i32": two(B, lambda m, a, b: (a - b, not fits(s32(a) - s32(b)))),
    "s_addc_u32": two(B, lambda m, a, b: (a + b + m.scc, a + b + m.scc >> 32)),
    "s_subb_u32": two(B, lambda m, a, b: (a - b - m.scc, a < b + m.scc)),
    "s_min_i32": two(B, lambda m, a, b: (min(s32(a), s32(b)), s32(a) < s32(b))),
    "s_max_i32": two(B, lambda m, a, b: (max(s32(a), s32(b)), s32(a) > s32(b))),
    "s_min_u32": two(B, lambda m, a, b: (min(a, b), a < b)),
    "s_max_u32": two(B, lambda m, a, b: (max(a, b), a > b)),
    "s_cselect_b32": two(B, lambda m, a, b: (a if m.scc else b, "keep")),
    "s_cselect_b64": two(W, lambda m, a, b: (a if m.scc else b, "keep")),
    "s_bfm_b32": two(B, lambda m, a, b: (((1 << (a & 31)) - 1) << (b & 31), "keep")),
    "s_bfm_b64": two((64, 32, 32), lambda m, a, b: (((1 << (a & 63)) - 1) << (b & 63), "keep")),
    "s_mul_i32": two(B, lambda m, a, b: (a * b, "keep")),
    "s_mul_hi_u32": two(B, lambda m, a, b: (a * b >> 32, "keep")),
    "s_mul_hi_i32": two(B, lambda m, a, b: (s32(a) * s32(b) >> 32, "keep")),
    "s_bfe_u32": two(B, lambda m, a, b: field(a, b & 31, b >> 16 & 127, 32, False)),
    "s_bfe_i32": two(B, lambda m, a, b: field(a, b & 31, b >> 16 & 127, 32, True)),
    "s_bfe_u64": two((64, 64, 32), lambda m, a, b: field(a, b & 63, b >> 16 & 127, 64, False)),
    "s_bfe_i64": two((64, 64, 32), lambda m, a, b: field(a, b & 63, b >> 16 & 127, 64, True)),
    "s_absdiff_i32": two(B, lambda m, a, b: abs(s32(unsigned(s32(a) - s32(b), 32)))),
    "s_pack_ll_b32_b16": two(B, lambda m, a, b: (a & 0xFFFF | (b & 0xFFFF) << 16, "keep")),
    "s_pack_lh_b32_b16": two(B, lambda m, a, b: (a & 0xFFFF | b & 0xFFFF0000, "keep")),
    "s_pack_hh_b32_b16": two(B, lambda m, a, b: (a >> 16 | b & 0xFFFF0000, "keep")),
    "s_lshl_b32": two(B, lambda m, a, b: a << (b & 31)),
    "s_lshr_b32": two(B, lambda m, a, b: a >> (b & 31)),
    "s_ashr_i32": two(B, lambda m, a, b: s32(a) >> (b & 31)),
    "s_lshl_b64": two((64, 64, 32), lambda m, a, b: a << (b & 63)),
    "s_lshr_b64": two((64, 64, 32), lambda m, a, b: a >> (b & 63)),
    "s_ashr_i64": two((64, 64, 32), lambda m, a, b: signed(a, 64) >> (b & 63)),
    "s_mov_b32": one((32, 32), lambda m, a: a),
    "s_mov_b64": one((64, 64), lambda m, a: a),
    "s_not_b32": one((32, 32), lambda m, a: (~a, "zero")),
    "s_not_b64": one((64, 64), lambda m, a: (~a, "zero")),
    "s_wqm_b32": one((32, 32), lambda m, a: (whole_quads(a, 32), "zero")),
    "s_wqm_b64": one((64, 64), lambda m, a: (whole_quads(a, 64), "zero")),
    "s_quadmask_b32": one((32, 32), lambda m, a: (quads(a, 32), "zero")),
    "s_quadmask_b64": one((64, 64), lambda m, a: (quads(a, 64), "zero")),
    "s_brev_b32": one((32, 32), lambda m, a: reverse(a, 32)),
    "s_brev_b64": one((64, 64), lambda m, a: reverse(a, 64)),
    "s_bcnt0_i32_b32": one((32, 32), lambda m, a: (32 - ones(a), "zero")),
    "s_bcnt0_i32_b64": one((32, 64), lambda m, a: (64 - ones(a), "zero")),
    "s_bcnt1_i32_b32": one((32, 32), lambda m, a: (ones(a), "zero")),
    "s_bcnt1_i32_b64": one((32, 64), lambda m, a: (ones(a), "zero")),
    "s_ff0_i32_b32": one((32, 32), lambda m, a: first_bit(unsigned(~a, 32), 32)),
    "s_ff0_i32_b64": one((32, 64), lambda m, a: first_bit(unsigned(~a, 64), 64)),
    "s_ff1_i32_b32": one((32, 32), lambda m, a: first_bit(a, 32)),
    "s_ff1_i32_b64": one((32, 64), lambda m, a: first_bit(a, 64)),
    "s_flbit_i32_b32": one((32, 32), lambda m, a: leading(a, 32)),
    "s_flbit_i32_b64": one((32, 64), lambda m, a: leading(a, 64)),
    "s_flbit_i32": one((32, 32), lambda m, a: leading_sign(a, 32)),
    "s_flbit_i32_i64": one((32, 64), lambda m, a: leading_sign(a, 64)),
    "s_sext_i32_i8": one((32, 32), lambda m, a: signed(a, 8)),
    "s_sext_i32_i16": one((32, 32), lambda m, a: signed(a, 16)),
    "s_abs_i32": one((32, 32), lambda m, a: (abs(s32(a)), "zero")),
    "s_bitreplicate_b64_b32": one((64, 32), lambda m, a: sum(3 << 2 * at for at in range(32) if a >> at & 1)),
    "s_movk_i32": constant(lambda m, d, k: signed(k, 16)),
    "s_cmovk_i32": constant(lambda m, d, k: signed(k, 16) if m.scc else None),
    "s_addk_i32": constant(lambda m, d, k: (d + signed(k, 16), not fits(s32(d) + signed(k, 16)))),
    "s_mulk_i32": constant(lambda m, d, k: d * signed(k, 16)),
}

for _name, _bits in {
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
    "andn2": lambda a, b: a & ~b, "orn2": lambda a, b: a | ~b, "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b), "xnor": lambda a, b: ~(a ^ b),
}.items():
    T[f"s_{_name}_b32"] = two(B, lambda m, a, b, f=_bits: f(a, b))
    T[f"s_{_name}_b64"] = two(W, lambda m, a, b, f=_bits: f(a, b))

    def _save(machine, name, operands, mods, f=_bits):
        old, given = machine.exec(), machine.scalar(operands[1], 64)
        machine.set_scalar("exec", f(given, old), 64)
        machine.scc = int(machine.exec() != 0)
        machine.set_scalar(operands[0], old, 64)

    T[f"s_{_name}_saveexec_b64"] = _save


def _first_inverted(f, keeps):
    def run(machine, name, operands, mods):
        old, given = machine.exec(), machine.scalar(operands[1], 64)
        machine.set_scalar("exec", f(given, old), 64)
        machine.scc = int(machine.exec() != 0)
        machine.set_scalar(operands[0], machine.exec() if keeps else old, 64)

    return run


T["s_andn1_saveexec_b64"] = _first_inverted(lambda a, e: ~a & e, False)
T["s_orn1_saveexec_b64"] = _first_inverted(lambda a, e: ~a | e, False)
T["s_andn1_wrexec_b64"] = _first_inverted(lambda a, e: ~a & e, True)
T["s_andn2_wrexec_b64"] = _first_inverted(lambda a, e: a & ~e, True)

for _shift in range(1, 5):
    T[f"s_lshl{_shift}_add_u32"] = two(
        B, lambda m, a, b, n=_shift: ((a << n) + b, (a << n) + b > 0xFFFFFFFF))

RELATIONS = {
    "eq": lambda a, b: a == b, "lg": lambda a, b: a != b, "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
}
for _name, _test in RELATIONS.items():
    T[f"s_cmp_{_name}_u32"] = compare((32, 32), _test)
    T[f"s_cmp_{_name}_i32"] = compare((32, 32), lambda a, b, t=_test: t(s32(a), s32(b)))
    T[f"s_cmpk_{_name}_u32"] = constant(lambda m, d, k, t=_test: (None, t(d, k)))
    T[f"s_cmpk_{_name}_i32"] = constant(lambda m, d, k, t=_test: (None, t(s32(d), signed(k, 16))))
T["s_cmp_eq_u64"] = compare((64, 64), RELATIONS["eq"])
T["s_cmp_lg_u64"] = compare((64, 64), RELATIONS["lg"])
T["s_bitcmp0_b32"] = compare((32, 32), lambda a, b: not a >> (b & 31) & 1)
T["s_bitcmp1_b32"] = compare((32, 32), lambda a, b: a >> (b & 31) & 1)
T["s_bitcmp0_b64"] = compare((64, 32), lambda a, b: not a >> (b & 63) & 1)
T["s_bitcmp1_b64"] = compare((64, 32), lambda a, b: a >> (b & 63) & 1)


def _move_if(width):
    def run(machine, name, operands, mods):
        if machine.scc:
            machine.set_scalar(operands[0], machine.scalar(operands[1], width), width)

    return run


def _set_bit(value, width):
    def run(machine, name, operands, mods):
        bit = 1 << (machine.scalar(operands[1]) & (width - 1))
        old = machine.scalar(operands[0], width)
        machine.set_scalar(operands[0], old | bit if value else old & ~bit, width)

    return run


T["s_cmov_b32"], T["s_cmov_b64"] = _move_if(32), _move_if(64)
for _width in (32, 64):
    T[f"s_bitset0_b{_width}"] = _set_bit(0, _width)
    T[f"s_bitset1_b{_width}"] = _set_bit(1, _width)


def _load(words):
    def run(machine, name, operands, mods):
        if name.startswith("s_buffer"):
            _, first, _ = machine.registers(operands[1])
            base = machine.s[first] | (machine.s[first + 1] & 0xFFFF) << 32
            stride = machine.s[first + 1] >> 16 & 0x3FFF
            end = machine.s[first + 2] * (stride or 1)
        else:
            base, end = machine.scalar(operands[1], 64), None
        at = int(operands[2], 0) if operands[2][0] not in "sm" else machine.scalar(operands[2])
        at += mods.get("offset", 0)
        at &= ~3
        letter, to, _ = machine.registers(operands[0])
        for word in range(words):
            place = at + 4 * word
            inside = end is None or place + 4 <= end
            start = base + place - machine.MEMORY
            value = int.from_bytes(machine.memory[start:start + 4], "little") if inside else 0
            machine.s[to + word] = value

    return run


for _words, _suffix in ((1, ""), (2, "x2"), (4, "x4"), (8, "x8"), (16, "x16")):
    T[f"s_load_dword{_suffix}"] = _load(_words)
    T[f"s_buffer_load_dword{_suffix}"] = _load(_words)


# Registers whose number is computed.

def _movrel(reads, width):
    def run(machine, name, operands, mods):
        at = 0 if not reads else 1
        _, first, _ = machine.registers(operands[at])
        first += machine.s[124]
        moved = f"s{first}" if width == 32 else f"s[{first}:{first + 1}]"
        if reads:
            machine.set_scalar(operands[0], machine.scalar(moved, width), width)
        else:
            machine.set_scalar(moved, machine.scalar(operands[1], width), width)

    return run


for _width in (32, 64):
    T[f"s_movrels_b{_width}"] = _movrel(True, _width)
    T[f"s_movreld_b{_width}"] = _movrel(False, _width)


def _which(text):
    names = text.removeprefix("gpr_idx(").rstrip(")").split(",")
    return sum({"SRC0": 1, "SRC1": 2, "SRC2": 4, "DST": 8}[name.strip()] for name in names if name.strip())


def _choose(machine, which):
    machine.s[124] = machine.s[124] & ~0xF000 | which << 12


def _index(machine, name, operands, mods):
    machine.s[124] = machine.s[124] & ~255 | machine.scalar(operands[0]) & 255
    if name == "s_set_gpr_idx_on":
        machine.indexed = True
        _choose(machine, _which(operands[1]))


def _index_off(machine, name, operands, mods):
    machine.indexed = False


T["s_set_gpr_idx_on"] = T["s_set_gpr_idx_idx"] = _index
T["s_set_gpr_idx_off"] = _index_off
T["s_set_gpr_idx_mode"] = lambda machine, name, operands, mods: _choose(machine, _which(operands[0]))
