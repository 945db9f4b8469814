"""A wave, and the text of its instructions: operands, modifiers, masks.

Instructions themselves are in tables by class; each maps a name to a function
of this machine or to a row `(result types, source types, function of bits)`.
"""

import re
from fractions import Fraction

from floats import BF16, F16, F32, F64, signed, unsigned

FLOATS = {"f16": F16, "f32": F32, "f64": F64, "bf16": BF16}
WIDTHS = {"f16": 16, "f32": 32, "f64": 64, "b16": 16, "b32": 32, "b64": 64, "bf16": 16, "b128": 128}
INLINE = {"0.5": 0.5, "-0.5": -0.5, "1.0": 1, "-1.0": -1, "2.0": 2, "-2.0": -2, "4.0": 4, "-4.0": -4}
SPECIAL = {"vcc_lo": 106, "vcc_hi": 107, "m0": 124, "exec_lo": 126, "exec_hi": 127}
PAIRS = {"vcc": 106, "exec": 126}
LANES = range(64)


class Mods(dict):
    """What stands behind the operands."""

    def list(self, name, count, default):
        return self.get(name, [default] * count)


def split(text):
    """The name, operands and modifiers of a line."""
    name, _, rest = text.strip().partition(" ")
    operands, mods, depth, part = [], Mods(), 0, ""
    parts = []
    for char in rest + ",":
        depth += (char in "[(") - (char in "])")
        if char == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += char
    for part in parts:
        words = re.findall(r"[^\s\[]+\[[^\]]*\]|[^\s]+", part)
        for at, word in enumerate(words):
            modifier = re.match(r"^([a-z_0-9]+):(.*)$", word)
            if modifier:
                value = modifier[2]
                if value.startswith("["):
                    value = [int(x, 0) for x in value[1:-1].split(",")]
                elif re.match(r"^-?(0x)?[0-9a-f]+$", value) and not value[0].isalpha():
                    value = int(value, 0)
                mods[modifier[1]] = value
            elif at == 0 and not re.match(r"^(row_|wave_|offen|idxen|clamp|gds|glc|lds|sc0|sc1|nt|bound)", word):
                operands.append(word)
            else:
                mods[word] = True
    return name, operands, mods


class Machine:
    """The registers of 64 lanes, LDS, a piece of memory, and what was stored."""

    MEMORY = 0x7000_0000_0000

    def __init__(self, arch, given, memory, lds_bytes):
        self.arch = arch
        self.v = [[0] * 64 for _ in range(96)]
        self.a = [[0] * 64 for _ in range(96)]
        self.s = [0] * 128
        self.scc = 0
        self.s[126] = self.s[127] = 0xFFFFFFFF
        self.v[0] = [4 * lane for lane in LANES]
        for at in range(16):
            self.s[16 + at] = given[0][at]
        for at in range(1, 32):
            self.v[at] = list(given[at])
        self.s[10], self.s[11] = unsigned(self.MEMORY, 32), self.MEMORY >> 32
        self.memory = bytearray(memory)
        self.lds = bytearray(lds_bytes)
        self.private = [bytearray(256) for _ in LANES]
        self.stored = []
        self.indexed = False
        self.tables, self.lazy, self.clamped = {}, [], {}

    # Registers.

    def file(self, letter):
        return self.v if letter == "v" else self.a

    @staticmethod
    def registers(text):
        """Letter, first number and count of `v3`, `s[4:5]`, `vcc`."""
        if text in SPECIAL:
            return "s", SPECIAL[text], 1
        if text in PAIRS:
            return "s", PAIRS[text], 2
        found = re.match(r"^([vsa])(?:(\d+)|\[(\d+):(\d+)\])$", text)
        if not found:
            return None
        if found[2]:
            return found[1], int(found[2]), 1
        return found[1], int(found[3]), int(found[4]) - int(found[3]) + 1

    def word(self, letter, at, lane):
        return self.s[at] if letter == "s" else self.file(letter)[at][lane]

    def raw(self, text, kind, lane):
        """The bits of an operand without modifiers."""
        width = WIDTHS[kind]
        found = self.registers(text)
        if found:
            letter, first, _ = found
            words = max(1, width // 32)
            bits = sum(self.word(letter, first + at, lane) << (32 * at) for at in range(words))
            return bits if width == 16 else unsigned(bits, width)
        if text == "scc":
            return self.scc
        if text in INLINE:
            fmt = FLOATS.get(kind, F64 if kind == "b64" else F32)
            return fmt.bits(Fraction(INLINE[text]))
        value = int(text, 0)
        if kind == "f64" and not -16 <= value <= 64:
            return unsigned(value, 32) << 32
        return unsigned(value, max(width, 32))

    def scalar(self, text, width=32):
        return self.raw(text, "b64" if width == 64 else "b32", 0)

    def set_scalar(self, text, value, width=32):
        _, first, _ = self.registers(text)
        for at in range(width // 32):
            self.s[first + at] = unsigned(value >> (32 * at), 32)

    def exec(self):
        return self.s[126] | self.s[127] << 32

    def active(self):
        mask = self.exec()
        return [lane for lane in LANES if mask >> lane & 1]

    def set_lane(self, text, lane, value, words=None):
        letter, first, count = self.registers(text)
        for at in range(words or count):
            self.file(letter)[first + at][lane] = unsigned(value >> (32 * at), 32)

    # Source modifiers.

    @staticmethod
    def stripped(text):
        """An operand without its sign, magnitude and sign extension."""
        negative = text.startswith("-") and not re.match(r"^-[0-9]", text)
        text = text[1:] if negative else text
        magnitude = text.startswith("|")
        text = text.strip("|")
        extend = text.startswith("sext(")
        text = text[5:-1] if extend else text
        return text, negative, magnitude, extend

    def source(self, text, kind, lane, select="DWORD"):
        """The bits of an operand with its modifiers."""
        text, negative, magnitude, extend = self.stripped(text)
        bits = self.raw(text, kind, lane)
        if select.startswith("BYTE"):
            bits = bits >> (8 * int(select[-1])) & 0xFF
            bits = unsigned(signed(bits, 8), 32) if extend else bits
        elif select.startswith("WORD"):
            bits = bits >> (16 * int(select[-1])) & 0xFFFF
            bits = unsigned(signed(bits, 16), 32) if extend else bits
        bits = unsigned(bits, WIDTHS[kind])
        if magnitude:
            bits &= FLOATS[kind].sign - 1
        if negative:
            bits ^= FLOATS[kind].sign
        return bits

    # Running.

    def use(self, table):
        self.tables.update(table)

    def run(self, lines):
        for line in lines:
            line = re.sub(r"//.*", "", line).strip()
            if line and not line.startswith("."):
                try:
                    self.step(line)
                except Exception as error:
                    raise RuntimeError(f"{line}: {error!r}") from error

    def step(self, line):
        name, operands, mods = split(line)
        if name in ("out", "outs"):
            for operand in operands:
                lanes = self.v[int(operand)] if name == "out" else [self.s[int(operand)]]
                self.stored.append((list(lanes), self.exec()))
            return
        if name.startswith(("s_waitcnt", "s_nop", "s_barrier")):
            return
        plain = re.sub(r"_(e32|e64|sdwa|dpp)$", "", name)
        if self.indexed and plain.startswith("v_"):
            operands = self.moved_registers(operands)
        entry = self.tables.get(plain) or next(filter(None, (table.get(plain) for table in self.lazy)), None)
        if mods.get("clamp") and plain in self.clamped:
            entry = (entry[0], entry[1], self.clamped[plain])
        if entry is None:
            raise KeyError(f"no such instruction: {plain}")
        if callable(entry):
            entry(self, name, operands, mods)
        else:
            # Three sources of 16 bits came with op_sel and keep the other half.
            mods["keeps"] = entry[0] in ("f16", "b16") and len(entry[1].split()) == 3
            self.vector(entry, name, operands, mods)

    def moved_registers(self, operands):
        """Operands with the index of M0 added where M0 says so."""
        index, which, moved = self.s[124] & 255, self.s[124] >> 12 & 15, []
        for at, text in enumerate(operands):
            bit = 3 if at == 0 else at - 1
            if text.startswith("v") and which >> bit & 1:
                text = re.sub(r"\d+", lambda number: str(int(number[0]) + index), text)
            moved.append(text)
        return moved

    def vector(self, row, name, operands, mods):
        """An instruction that does the same in every lane."""
        results, kinds, function = row
        results, kinds = results.split(), kinds.split()
        texts = operands[len(results):]
        reads = kinds and kinds[-1] == "old"
        kinds = kinds[:-1] if reads else kinds
        made = []
        for lane in self.active():
            from_lane = self.moved(lane, mods)
            if from_lane is None:
                continue
            values = []
            for at, kind in enumerate(kinds):
                if kind == "mask":
                    # VCC when it is not written.
                    mask = self.scalar(texts[at] if at < len(texts) else "vcc", 64)
                    values.append(mask >> lane & 1)
                    continue
                select = mods.get(f"src{at}_sel", "DWORD")
                lane_of = from_lane if at == 0 else lane
                bits = 0 if lane_of < 0 else self.source(texts[at], kind, lane_of, select)
                if WIDTHS[kind] == 16 and mods.get("op_sel", [0] * 4)[at]:
                    text, negative, magnitude, _ = self.stripped(texts[at])
                    bits = self.raw(text, "b32", lane) >> 16
                    if kind in FLOATS:
                        bits = bits & 0x7FFF if magnitude else bits
                        bits ^= 0x8000 if negative else 0
                values.append(bits)
            if reads:
                values.append(self.source(operands[0], results[0], lane))
            value = function(*values)
            made.append((lane, value if isinstance(value, tuple) else (value,)))
        masks = {}
        for lane, values in made:
            for at, (kind, value) in enumerate(zip(results, values)):
                if kind == "mask":
                    text = operands[at]
                    masks[text] = masks.get(text, 0) | value << lane
                else:
                    self.write(operands[at], kind, lane, self.finished(kind, value, mods), mods)
        for text, mask in masks.items():
            self.set_scalar(text, mask, 64)

    def finished(self, kind, value, mods):
        """Output multipliers and clamping of a float."""
        fmt = FLOATS.get(kind)
        if fmt is None:
            return value
        factor = {2: Fraction(2), 4: Fraction(4)}.get(mods.get("mul"))
        if mods.get("div") == 2:
            factor = Fraction(1, 2)
        if factor is not None and not fmt.is_nan(value) and not fmt.is_inf(value):
            value = fmt.bits(fmt.value(value) * factor, fmt.negative(value))
        if mods.get("clamp"):
            # DX10_CLAMP: NaN becomes 0.
            if fmt.is_nan(value) or fmt.negative(value):
                value = 0
            elif fmt.is_inf(value) or fmt.value(value) > 1:
                value = fmt.bits(Fraction(1))
        return value

    def write(self, text, kind, lane, value, mods):
        letter, first, _ = self.registers(text)
        file = self.file(letter)
        width = WIDTHS[kind]
        old = file[first][lane]
        select = mods.get("dst_sel", "DWORD")
        if select != "DWORD":
            bits = 8 if select.startswith("BYTE") else 16
            shift = bits * int(select[-1])
            value = unsigned(value, bits)
            unused = mods.get("dst_unused", "UNUSED_PAD")
            rest = {
                "UNUSED_PAD": 0,
                "UNUSED_PRESERVE": old & ~(((1 << bits) - 1) << shift),
                "UNUSED_SEXT": unsigned(signed(value, bits) << shift, 32) & ~(((1 << (shift + bits)) - 1)),
            }[unused]
            file[first][lane] = unsigned(rest | value << shift, 32)
        elif width == 16 and (mods.get("op_sel") or mods.get("keeps")):
            high = mods.list("op_sel", 1, 0)[-1]
            keep = old & 0xFFFF if high else old & 0xFFFF0000
            file[first][lane] = unsigned(value, 16) << (16 * high) | keep
        else:
            for at in range(max(1, width // 32)):
                file[first + at][lane] = unsigned(value >> (32 * at), 32)

    def moved(self, lane, mods):
        """The lane that DPP reads; None when nothing is written, -1 for zero."""
        control = next((x for x in mods if x == "quad_perm" or x.startswith(("row_", "wave_"))
                        and x not in ("row_mask",)), None)
        if control is None:
            return lane
        row, bank = lane // 16, lane // 4 % 4
        if not mods.get("row_mask", 15) >> row & 1 or not mods.get("bank_mask", 15) >> bank & 1:
            return None
        n = mods[control]
        inside = lane % 16
        source = {
            "quad_perm": lambda: lane & ~3 | n[lane % 4],
            "row_shl": lambda: lane + n if inside + n < 16 else None,
            "row_shr": lambda: lane - n if inside >= n else None,
            "row_ror": lambda: lane & ~15 | (inside - n) % 16,
            "wave_shl": lambda: lane + 1 if lane < 63 else None,
            "wave_shr": lambda: lane - 1 if lane > 0 else None,
            "wave_rol": lambda: (lane + 1) % 64,
            "wave_ror": lambda: (lane - 1) % 64,
            "row_mirror": lambda: lane & ~15 | 15 - inside,
            "row_half_mirror": lambda: lane & ~7 | 7 - lane % 8,
            "row_bcast": lambda: {15: row * 16 - 1 if row else None,
                                  31: 31 if row >= 2 else None}[n],
            "row_newbcast": lambda: lane & ~15 | n,
        }[control]()
        if source is None or not self.exec() >> source & 1:
            # bound_ctrl:0 in text is the bit that makes it zero.
            return -1 if "bound_ctrl" in mods else None
        return source
