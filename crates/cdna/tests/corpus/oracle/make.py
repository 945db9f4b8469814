#!/usr/bin/env python3
"""Assembles every class and computes the bits its instructions give.

    python make.py [CLASS ...]      needs numpy and ml_dtypes from PyPI, and clang-22

For each `CLASS.s` and architecture: `data/CLASS.ARCH.hsaco` is the object,
`data/CLASS.in` what registers and memory hold before (drawn from the class's
name), and `data/CLASS.out` what is stored and what memory holds after; it has
the architecture in its name where the two differ. Nothing of Cairn is imported.
"""

import pathlib
import random
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import convert  # noqa: E402
import matrix  # noqa: E402
import memory  # noqa: E402
import scalar  # noqa: E402
import vector  # noqa: E402
from floats import BF16, F16, F32, F64, signed  # noqa: E402
from machine import Machine  # noqa: E402

CORPUS = HERE.parent
DATA = CORPUS / "data"
MEMORY = 4096


# Inputs.

def f32(rng, exponents=(100, 150)):
    return rng.getrandbits(1) << 31 | rng.randint(*exponents) << 23 | rng.getrandbits(23)


def near(rng):
    """Close to 1, where rounding and cancellation show."""
    return f32(rng, (120, 131))


def any_f32(rng):
    """Zeros, subnormals, infinities and the largest among ordinary numbers."""
    special = [0, 1 << 31, 1, 0x807FFFFF, 0x7F800000, 0xFF800000, 0x7F7FFFFF, 0x00800000, 0x3F800000, 0xBF000000]
    return rng.choice(special) if rng.random() < 0.3 else f32(rng, (90, 160))


def whole(rng):
    """Floats in the range of integers, halves among them."""
    value = rng.randint(-300, 300) / 2 if rng.random() < 0.6 else rng.uniform(-6e9, 6e9)
    return struct.unpack("<I", struct.pack("<f", value))[0]


def f16(rng):
    return rng.getrandbits(1) << 15 | rng.randint(8, 22) << 10 | rng.getrandbits(10)


def bf16(rng):
    return rng.getrandbits(1) << 15 | rng.randint(115, 137) << 7 | rng.getrandbits(7)


def any_f16(rng):
    return rng.choice([0, 0x8000, 1, 0x83FF, 0x7C00, 0xFC00, 0x7BFF, 0x0400]) if rng.random() < 0.3 else f16(rng)


def word(rng):
    return rng.choice([0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF]) if rng.random() < 0.15 else rng.getrandbits(32)


def high64(rng):
    return rng.getrandbits(1) << 31 | rng.randint(1000, 1050) << 20 | rng.getrandbits(20)


# Registers hold what their number says unless the class says otherwise.
KINDS = {
    "f32": f32, "near": near, "any_f32": any_f32, "whole": whole, "word": word, "high64": high64,
    "f16": lambda rng: f16(rng) | f16(rng) << 16, "any_f16": lambda rng: any_f16(rng) | any_f16(rng) << 16,
    "bf16": lambda rng: bf16(rng) | bf16(rng) << 16, "small": lambda rng: rng.getrandbits(6),
    "byte": lambda rng: rng.getrandbits(8), "bits": lambda rng: rng.getrandbits(32),
    "finite8": lambda rng: sum((rng.getrandbits(1) << 7 | rng.randint(0, 0x77)) << 8 * at for at in range(4)),
    "unit": lambda rng: f32(rng, (118, 129)), "scale": lambda rng: rng.randint(120, 134) << 23,
    "near_scale": lambda rng: rng.randint(127, 129) << 23,
    "scales": lambda rng: sum(rng.randint(122, 132) << 8 * at for at in range(4)),
    "quarter": lambda rng: f32(rng, (122, 128)), "quarter16": lambda rng: sum(
        (rng.getrandbits(1) << 15 | rng.randint(11, 16) << 10 | rng.getrandbits(10)) << 16 * at for at in range(2)),
    "quarterb16": lambda rng: sum(
        (rng.getrandbits(1) << 15 | rng.randint(122, 128) << 7 | rng.getrandbits(7)) << 16 * at for at in range(2)),
    "lane64": lambda rng: 4 * rng.randrange(64),
    "integer8": lambda rng: rng.randint(-40, 40) & 0xFF,
}
DEFAULT = {
    **{at: "any_f32" for at in (1, 2)}, **{at: "near" for at in (3, 4, 5)}, **{at: "word" for at in (6, 7, 8)},
    9: "whole", 10: "word", 11: "high64", 12: "word", 13: "high64", 14: "word", 15: "high64",
    **{at: "any_f16" for at in (16, 17)}, **{at: "f16" for at in (18, 19)}, **{at: "bits" for at in (20, 21)},
    **{at: "small" for at in (22, 23)}, **{at: "bits" for at in range(24, 32)},
}


def directives(text, name):
    """The values of lines `// name: value`."""
    return [line[len(f"// {name}: "):] for line in text.splitlines() if line.startswith(f"// {name}: ")]


def inputs(name, text):
    rng = random.Random(f"corpus {name}")
    kinds = dict(DEFAULT)
    for line in directives(text, "input"):
        registers, kind = line.split()
        first, _, last = registers.removeprefix("v").partition("-")
        kinds |= {at: kind for at in range(int(first), int(last or first) + 1)}
    scalars = [word(rng) for _ in range(16)]
    vectors = [[KINDS[kinds[at]](rng) for _ in range(64)] for at in range(1, 32)]
    return scalars, vectors, rng.randbytes(MEMORY)


def assembled(name, text, arch):
    frame = (CORPUS / "frame.s").read_text()
    lds = (directives(text, "lds") or ["0"])[0]
    scratch = (directives(text, "scratch") or ["0"])[0]
    source = frame.replace("@ARCH@", arch).replace("@LDS@", lds).replace("@SCRATCH@", scratch)
    source = source.replace("@FIRST@", "\n".join(directives(text, "first")))
    source = source.replace("@DESCRIPTOR@", "\n".join(directives(text, "descriptor")))
    source = source.replace("@BODY@", text)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"{name}.s"
        path.write_text(source)
        subprocess.run(
            ["clang-22", "-x", "assembler", "-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", "-Wl,--strip-all",
             "-o", str(DATA / f"{name}.{arch}.hsaco"), path.name], check=True, cwd=folder)


def outputs(name, text, arch, given):
    scalars, vectors, content = given
    lds = int((directives(text, "lds") or ["0"])[0])
    machine = Machine(arch, [scalars, *vectors], content, lds)
    for module in (scalar, vector, memory, convert):
        machine.use(module.T)
    machine.clamped = vector.CLAMPED
    machine.lazy = [convert.Scaled(), matrix.Matrix()]
    machine.run(directives(text, "before") + text.splitlines())
    stored = bytearray()
    for lanes, mask in machine.stored:
        # A scalar is stored by every lane; one word tells it.
        for lane in range(len(lanes)):
            stored += struct.pack("<I", lanes[lane] if mask >> lane & 1 else 0)
    return bytes(stored + machine.memory)


def main():
    DATA.mkdir(exist_ok=True)
    names = sys.argv[1:] or sorted(path.stem for path in CORPUS.glob("*.s") if path.stem != "frame")
    for name in names:
        text = (CORPUS / f"{name}.s").read_text()
        given = inputs(name, text)
        scalars, vectors, content = given
        body = struct.pack("<16I", *scalars).ljust(256, b"\0")
        body += b"".join(struct.pack("<64I", *register) for register in vectors)
        (DATA / f"{name}.in").write_bytes(body + content)
        results = {}
        for arch in directives(text, "arch") or ["gfx942", "gfx950"]:
            assembled(name, text, arch)
            results[arch] = outputs(name, text, arch, given)
        for path in DATA.glob(f"{name}*.out"):
            if path.stem.split(".")[0] == name:
                path.unlink()
        if len(set(results.values())) == 1:
            (DATA / f"{name}.out").write_bytes(next(iter(results.values())))
        else:
            for arch, result in results.items():
                (DATA / f"{name}.{arch}.out").write_bytes(result)
        print(f"{name}: {len(results[arch]) - MEMORY} bytes on {', '.join(results)}")


if __name__ == "__main__":
    main()
