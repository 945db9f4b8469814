"""LDS, global, flat, scratch and buffer memory, atomics, and lane permutations."""

from fractions import Fraction

from floats import BF16, F16, F32, F64, signed, unsigned


def number(width, extend):
    return (lambda x: signed(x, width)) if extend else (lambda x: unsigned(x, width))


def halves(fmt):
    def run(old, data):
        return fmt.add(old & 0xFFFF, data & 0xFFFF) | fmt.add(old >> 16, data >> 16) << 16

    return run


def changes(width):
    """What an atomic makes of the old value and its data."""
    i, u = number(width, True), number(width, False)
    return {
        "add": lambda old, x: old + x,
        "sub": lambda old, x: old - x,
        "rsub": lambda old, x: x - old,
        "swap": lambda old, x: x,
        "smin": lambda old, x: min(i(old), i(x)),
        "smax": lambda old, x: max(i(old), i(x)),
        "umin": lambda old, x: min(u(old), u(x)),
        "umax": lambda old, x: max(u(old), u(x)),
        "and": lambda old, x: old & x,
        "or": lambda old, x: old | x,
        "xor": lambda old, x: old ^ x,
        "inc": lambda old, x: 0 if old >= x else old + 1,
        "dec": lambda old, x: x if old == 0 or old > x else old - 1,
    }


FLOATING = {
    "add_f32": (32, F32.add), "min_f32": (32, F32.least), "max_f32": (32, lambda a, b: F32.least(a, b, True)),
    "add_f64": (64, F64.add), "min_f64": (64, F64.least), "max_f64": (64, lambda a, b: F64.least(a, b, True)),
    "pk_add_f16": (32, halves(F16)), "pk_add_bf16": (32, halves(BF16)),
}


class Space:
    """Bytes of a lane behind an address."""

    def __init__(self, content, start):
        self.content, self.start = content, start

    def load(self, address, count):
        at = address - self.start
        assert 0 <= at and at + count <= len(self.content), hex(address)
        return int.from_bytes(self.content[at:at + count], "little")

    def store(self, address, count, value):
        at = address - self.start
        assert 0 <= at and at + count <= len(self.content), hex(address)
        self.content[at:at + count] = unsigned(value, 8 * count).to_bytes(count, "little")


def widened(suffix, value, old):
    """A loaded value as a register."""
    if suffix in ("ubyte", "u8", "ushort", "u16"):
        return value
    if suffix in ("sbyte", "i8"):
        return unsigned(signed(value, 8), 32)
    if suffix in ("sshort", "i16"):
        return unsigned(signed(value, 16), 32)
    small = signed(value, 8) if suffix.startswith(("sbyte", "i8")) else value
    if suffix.endswith("d16_hi"):
        return unsigned(small, 16) << 16 | old & 0xFFFF
    if suffix.endswith("d16"):
        return unsigned(small, 16) | old & 0xFFFF0000
    return value


SIZES = {
    "ubyte": 1, "sbyte": 1, "u8": 1, "i8": 1, "ushort": 2, "sshort": 2, "u16": 2, "i16": 2,
    "ubyte_d16": 1, "ubyte_d16_hi": 1, "sbyte_d16": 1, "sbyte_d16_hi": 1, "short_d16": 2, "short_d16_hi": 2,
    "u8_d16": 1, "u8_d16_hi": 1, "i8_d16": 1, "i8_d16_hi": 1, "u16_d16": 2, "u16_d16_hi": 2,
    "byte": 1, "byte_d16_hi": 1, "short": 2, "b8": 1, "b8_d16_hi": 1, "b16": 2, "b16_d16_hi": 2,
    "dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16, "b32": 4, "b64": 8, "b96": 12, "b128": 16,
}
LOADS = [x for x in SIZES if x not in ("byte", "byte_d16_hi", "short", "b8", "b8_d16_hi", "b16", "b16_d16_hi")]
STORES = ["byte", "byte_d16_hi", "short", "short_d16_hi", "dword", "dwordx2", "dwordx3", "dwordx4",
          "b8", "b8_d16_hi", "b16", "b16_d16_hi", "b32", "b64", "b96", "b128"]


def load(machine, where, suffix, to, mods):
    size = SIZES[suffix]
    for lane in machine.active():
        space, address = where(lane)
        if space is None:
            value = 0
        else:
            value = space.load(address, size)
        old = machine.raw(to, "b32", lane) if size < 4 else 0
        machine.set_lane(to, lane, widened(suffix, value, old), max(1, size // 4))


def store(machine, where, suffix, data, mods):
    size = SIZES[suffix]
    for lane in machine.active():
        space, address = where(lane)
        letter, first, _ = machine.registers(data)
        value = sum(machine.word(letter, first + at, lane) << 32 * at for at in range(max(1, size // 4)))
        if suffix.endswith("d16_hi"):
            value >>= 16
        if space is not None:
            space.store(address, size, value)


def atomic(machine, where, width, change, to, data, second=None):
    for lane in machine.active():
        space, address = where(lane)
        kind = "b64" if width == 64 else "b32"
        old = space.load(address, width // 8)
        new = change(old, machine.raw(data, kind, lane), *(
            [machine.raw(second, kind, lane)] if second else []))
        space.store(address, width // 8, new)
        if to:
            machine.set_lane(to, lane, old, width // 32)


# Global, flat, scratch.

def places(machine, name, operands, mods):
    """Where each lane's access goes, for operands `address, base`."""
    offset = mods.get("offset", 0)
    if name.startswith("scratch"):
        def where(lane):
            at = offset
            for operand in operands:
                at += 0 if operand == "off" else machine.raw(operand, "b32", lane)
            return Space(machine.private[lane], 0), unsigned(at, 32)
    elif name.startswith("flat") or operands[1] == "off":
        def where(lane):
            return Space(machine.memory, machine.MEMORY), machine.raw(operands[0], "b64", lane) + offset
    else:
        def where(lane):
            base = machine.scalar(operands[1], 64)
            return Space(machine.memory, machine.MEMORY), base + machine.raw(operands[0], "b32", lane) + offset
    return where


def vload(suffix):
    def run(machine, name, operands, mods):
        load(machine, places(machine, name, operands[1:], mods), suffix, operands[0], mods)

    return run


def vstore(suffix):
    def run(machine, name, operands, mods):
        if name.startswith("scratch"):
            address, data, base = operands
        else:
            address, data, base = (operands + [None])[:3]
        store(machine, places(machine, name, [address, base], mods), suffix, data, mods)

    return run


def vatomic(width, change, compares=False):
    def run(machine, name, operands, mods):
        to = operands[0] if mods.get("sc0") else None
        rest = operands[1:] if to else operands
        data, second = rest[1], None
        if compares:
            _, first, _ = machine.registers(data)
            step = width // 32
            data, second = f"v[{first}:{first + step - 1}]", f"v[{first + step}:{first + 2 * step - 1}]"
        where = places(machine, name, [rest[0], (rest + [None])[2]], mods)
        atomic(machine, where, width, change, to, data, second)

    return run


T = {}
for _space in ("global", "flat", "scratch"):
    for _suffix in LOADS:
        T[f"{_space}_load_{_suffix}"] = vload(_suffix)
    for _suffix in STORES:
        T[f"{_space}_store_{_suffix}"] = vstore(_suffix)
for _space in ("global", "flat"):
    for _width, _x2 in ((32, ""), (64, "_x2")):
        for _name, _change in changes(_width).items():
            T[f"{_space}_atomic_{_name}{_x2}"] = vatomic(_width, _change)
        T[f"{_space}_atomic_cmpswap{_x2}"] = vatomic(
            _width, lambda old, new, compare: new if old == compare else old, True)
    for _name, (_width, _change) in FLOATING.items():
        T[f"{_space}_atomic_{_name}"] = vatomic(_width, _change)


# Buffers.

def buffer_places(machine, operands, mods, size):
    """Operands `address, descriptor, offset`; words outside are zero."""
    _, first, _ = machine.registers(operands[1])
    words = [machine.s[first + at] for at in range(4)]
    base, stride, records = words[0] | (words[1] & 0xFFFF) << 32, words[1] >> 16 & 0x3FFF, words[2]
    scalar = machine.scalar(operands[2])

    def where(lane):
        index = own = 0
        found = machine.registers(operands[0])
        if mods.get("idxen") and mods.get("offen"):
            index, own = machine.v[found[1]][lane], machine.v[found[1] + 1][lane]
        elif mods.get("idxen"):
            index = machine.v[found[1]][lane]
        elif mods.get("offen"):
            own = machine.v[found[1]][lane]
        inside = own + mods.get("offset", 0)
        address = base + scalar + inside + index * stride
        if stride == 0 or not mods.get("idxen"):
            left = records - scalar - inside
        else:
            left = 1 << 30 if index < records else 0
        return address, max(0, left)

    return where


class Clipped(Space):
    """A buffer: words beyond `left` bytes read zero and are not written."""

    def __init__(self, machine, left):
        super().__init__(machine.memory, machine.MEMORY)
        self.left = left

    def pieces(self, count):
        return [(at, min(4, count - at)) for at in range(0, count, 4) if at + min(4, count - at) <= self.left]

    def load(self, address, count):
        return sum(Space.load(self, address + at, size) << 8 * at for at, size in self.pieces(count))

    def store(self, address, count, value):
        for at, size in self.pieces(count):
            Space.store(self, address + at, size, value >> 8 * at)


def buffer(action, suffix):
    def run(machine, name, operands, mods):
        direct = mods.get("lds")
        rest = operands if direct else operands[1:]
        inner = buffer_places(machine, rest, mods, SIZES.get(suffix, 4))

        def where(lane):
            address, left = inner(lane)
            return Clipped(machine, left), address

        if direct:
            to_lds(machine, where, suffix, mods)
        elif action == "load":
            load(machine, where, suffix, operands[0], mods)
        else:
            store(machine, where, suffix, operands[0], mods)

    return run


for _suffix in LOADS:
    T[f"buffer_load_{_suffix}"] = buffer("load", _suffix)
for _suffix in STORES:
    T[f"buffer_store_{_suffix}"] = buffer("store", _suffix)


def to_lds(machine, where, suffix, mods):
    """Loads that go to LDS: lane after lane from M0 on."""
    size = max(4, SIZES[suffix])
    base = machine.s[124] + mods.get("offset", 0)
    lds = Space(machine.lds, 0)
    for lane in machine.active():
        space, address = where(lane)
        value = widened(suffix, space.load(address, SIZES[suffix]), 0)
        lds.store(base + lane * size, size, value)


def global_to_lds(suffix):
    def run(machine, name, operands, mods):
        to_lds(machine, places(machine, "global", operands, mods), suffix, mods)

    return run


for _suffix in ("ubyte", "sbyte", "ushort", "sshort", "dword", "dwordx3", "dwordx4"):
    T[f"global_load_lds_{_suffix}"] = global_to_lds(_suffix)


# LDS.

def ds_where(machine, operand, offset):
    lds = Space(machine.lds, 0)
    return lambda lane: (lds, machine.raw(operand, "b32", lane) + offset)


def ds_load(suffix):
    def run(machine, name, operands, mods):
        load(machine, ds_where(machine, operands[1], mods.get("offset", 0)), suffix, operands[0], mods)

    return run


def ds_store(suffix):
    def run(machine, name, operands, mods):
        store(machine, ds_where(machine, operands[0], mods.get("offset", 0)), suffix, operands[1], mods)

    return run


def ds_two(reads, size, unit, exchanges=False):
    """Two values at two offsets, counted in units."""

    def run(machine, name, operands, mods):
        to = operands[0] if reads else None
        address, *data = operands[1:] if reads else operands
        lds = Space(machine.lds, 0)
        at = [mods.get("offset0", 0) * unit, mods.get("offset1", 0) * unit]
        for lane in machine.active():
            base = machine.raw(address, "b32", lane)
            old = [lds.load(base + x, size) for x in at] if reads else None
            for x, operand in zip(at, data):
                lds.store(base + x, size, machine.raw(operand, "b64" if size == 8 else "b32", lane))
            if reads:
                machine.set_lane(to, lane, old[0] | old[1] << 8 * size, size // 2)

    return run


def ds_atomic(width, change, returns, compares=False):
    def run(machine, name, operands, mods):
        to = operands[0] if returns else None
        address, *data = operands[1:] if returns else operands
        where = ds_where(machine, address, mods.get("offset", 0))
        atomic(machine, where, width, change, to, data[0], data[1] if len(data) > 1 else None)

    return run


for _suffix in ("u8", "i8", "u16", "i16", "u8_d16", "u8_d16_hi", "i8_d16", "i8_d16_hi", "u16_d16", "u16_d16_hi",
                "b32", "b64", "b96", "b128"):
    T[f"ds_read_{_suffix}"] = ds_load(_suffix)
for _suffix in ("b8", "b8_d16_hi", "b16", "b16_d16_hi", "b32", "b64", "b96", "b128"):
    T[f"ds_write_{_suffix}"] = ds_store(_suffix)
for _size in (4, 8):
    for _st, _unit in (("", _size), ("st64", 64 * _size)):
        T[f"ds_read2{_st}_b{8 * _size}"] = ds_two(True, _size, _unit)
        T[f"ds_write2{_st}_b{8 * _size}"] = ds_two(False, _size, _unit)
        T[f"ds_wrxchg2{_st}_rtn_b{8 * _size}"] = ds_two(True, _size, _unit)
_NAMES = {"add": "add_u", "sub": "sub_u", "rsub": "rsub_u", "inc": "inc_u", "dec": "dec_u", "smin": "min_i",
          "smax": "max_i", "umin": "min_u", "umax": "max_u", "and": "and_b", "or": "or_b", "xor": "xor_b",
          "swap": "wrxchg_b"}
for _width in (32, 64):
    for _name, _change in changes(_width).items():
        _stem, _letter = _NAMES[_name].rsplit("_", 1)
        T[f"ds_{_stem}_{_letter}{_width}"] = ds_atomic(_width, _change, False)
        T[f"ds_{_stem}_rtn_{_letter}{_width}"] = ds_atomic(_width, _change, True)
    for _rtn in ("", "_rtn"):
        # What to compare with, then what to write.
        T[f"ds_cmpst{_rtn}_b{_width}"] = ds_atomic(
            _width, lambda old, compare, new: new if old == compare else old, bool(_rtn))
        T[f"ds_mskor{_rtn}_b{_width}"] = ds_atomic(_width, lambda old, mask, bits: old & ~mask | bits, bool(_rtn))
for _rtn in ("", "_rtn"):
    for _name, (_width, _change) in FLOATING.items():
        _stem, _type = _name.rsplit("_", 1)
        T[f"ds_{_stem}{_rtn}_{_type}"] = ds_atomic(_width, _change, bool(_rtn))
    for _width, _fmt in ((32, F32), (64, F64)):
        T[f"ds_cmpst{_rtn}_f{_width}"] = ds_atomic(
            _width, lambda old, compare, new, f=_fmt: new if f.order(old, compare) == 0 else old, bool(_rtn))
T["ds_wrap_rtn_b32"] = ds_atomic(
    32, lambda old, a, b: old - a if old >= a else old + b, True)


def _swizzle(machine, name, operands, mods):
    pattern = mods.get("offset", 0)
    if isinstance(pattern, str):
        kind, values = pattern[len("swizzle("):-1].split(",", 1)
        values = [x.strip() for x in values.split(",")]
        if kind == "QUAD_PERM":
            pattern = 0x8000 | sum(int(x) << 2 * at for at, x in enumerate(values))
        elif kind == "SWAP":
            pattern = int(values[0]) << 10 | 0x1F
        elif kind == "REVERSE":
            pattern = (int(values[0]) - 1) << 10 | 0x1F
        else:
            raise ValueError(kind)
    old = list(machine.v[machine.registers(operands[1])[1]])
    active = set(machine.active())
    for lane in machine.active():
        if pattern & 0x8000:
            source = lane & ~3 | pattern >> 2 * (lane % 4) & 3
        else:
            inside = (lane % 32 & pattern & 31 | pattern >> 5 & 31) ^ pattern >> 10 & 31
            source = lane & 32 | inside
        machine.set_lane(operands[0], lane, old[source] if source in active else 0, 1)


def _permute(machine, name, operands, mods):
    offset = mods.get("offset", 0)
    out = [0] * 64
    for lane in machine.active():
        out[(machine.raw(operands[1], "b32", lane) + offset) // 4 % 64] = machine.raw(operands[2], "b32", lane)
    for lane in machine.active():
        machine.set_lane(operands[0], lane, out[lane], 1)


def _bpermute(machine, name, operands, mods):
    offset = mods.get("offset", 0)
    old = list(machine.v[machine.registers(operands[2])[1]])
    active = set(machine.active())
    for lane in machine.active():
        source = (machine.raw(operands[1], "b32", lane) + offset) // 4 % 64
        machine.set_lane(operands[0], lane, old[source] if source in active else 0, 1)


def _transpose(bits):
    """16 lanes read a matrix of 16 columns, row after row; each gets a column."""

    def run(machine, name, operands, mods):
        size = 12 if bits == 6 else 8
        rows = 8 * size // bits
        lds = Space(machine.lds, 0)
        for group in range(0, 64, 16):
            stream = []
            for lane in range(group, group + 16):
                value = lds.load(machine.raw(operands[1], "b32", lane) + mods.get("offset", 0), size)
                stream += [value >> bits * at & ((1 << bits) - 1) for at in range(rows)]
            for column in range(16):
                value = sum(stream[16 * row + column] << bits * row for row in range(rows))
                machine.set_lane(operands[0], group + column, value, size // 4)

    return run


T.update({"ds_swizzle_b32": _swizzle, "ds_permute_b32": _permute, "ds_bpermute_b32": _bpermute})
for _bits, _size in ((4, 64), (6, 96), (8, 64), (16, 64)):
    T[f"ds_read_b{_size}_tr_b{_bits}"] = _transpose(_bits)


def _addtid(reads):
    def run(machine, name, operands, mods):
        lds = Space(machine.lds, 0)
        base = mods.get("offset", 0) + (machine.s[124] & 0xFFFF)
        for lane in machine.active():
            if reads:
                machine.set_lane(operands[0], lane, lds.load(base + 4 * lane, 4), 1)
            else:
                lds.store(base + 4 * lane, 4, machine.raw(operands[0], "b32", lane))

    return run


def _count(sign):
    def run(machine, name, operands, mods):
        lds = Space(machine.lds, 0)
        at = mods.get("offset", 0) + (machine.s[124] & 0xFFFF)
        old = lds.load(at, 4)
        lds.store(at, 4, old + sign * len(machine.active()))
        for lane in machine.active():
            machine.set_lane(operands[0], lane, old, 1)

    return run


T["ds_append"], T["ds_consume"] = _count(1), _count(-1)
T["ds_read_addtid_b32"], T["ds_write_addtid_b32"] = _addtid(True), _addtid(False)
