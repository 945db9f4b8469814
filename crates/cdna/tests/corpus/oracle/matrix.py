"""Matrix instructions, by the published model as `tests/golden/mfma/make_mfma.py` has it."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[5] / "tests/golden/mfma"))
import make_mfma  # noqa: E402


def form_of(name, mods, machine):
    """Shape, formats and modifiers."""
    found = re.match(r"v_(s?mf\w+?)_(?:scale_)?(f32|i32|f64)_(\d+)x(\d+)x(\d+)_(?:(\d+)b_)?(.+)$", name)
    _, acc, m, n, k, blocks, types = found.groups()
    modifiers = {key: mods[key] for key in ("cbsz", "abid", "blgp") if key in mods}
    kind = "sparse" if "smfmac" in name else "dense"
    if types == "f8f6f4":
        a, b = make_mfma.SELECT[mods.get("cbsz", 0)], make_mfma.SELECT[mods.get("blgp", 0)]
        kind = "selected"
        if "scale" in name:
            kind, low, high = "scaled", mods.list("op_sel", 3, 0), mods.list("op_sel_hi", 3, 0)
            modifiers |= {"byte_a": low[0] + 2 * high[0], "byte_b": low[1] + 2 * high[1]}
        modifiers |= {"cbsz": mods.get("cbsz", 0), "blgp": mods.get("blgp", 0)}
    else:
        a, b = (types.split("_") * 2)[:2]
    arch = "gfx950" if machine.arch == "gfx950" and ("fp8" in (a, b) or "bf8" in (a, b)) else machine.arch
    return make_mfma.form(name, int(m), int(n), int(k), int(blocks or 1), a, b, acc, kind, arch, **modifiers)


def run(machine, name, operands, mods):
    form = form_of(re.sub(r"_(e32|e64)$", "", name), mods, machine)

    def registers(text):
        letter, first, count = machine.registers(text)
        return [list(machine.file(letter)[first + at]) for at in range(count)]

    _, _, count = machine.registers(operands[0])
    ops = {"a": registers(operands[1]), "b": registers(operands[2])}
    if form["kind"] == "sparse":
        ops["c"], ops["index"] = registers(operands[0]), registers(operands[3])
    elif machine.registers(operands[3]):
        ops["c"] = registers(operands[3])
    else:
        kind = "f32" if form["acc"] == "f32" else "b32"
        ops["c"] = [[machine.raw(operands[3], kind, 0)] * 64 for _ in range(count)]
    if form["kind"] == "scaled":
        ops["scale_a"], ops["scale_b"] = registers(operands[4]), registers(operands[5])
    letter, first, _ = machine.registers(operands[0])
    for at, register in enumerate(make_mfma.execute(form, ops)):
        machine.file(letter)[first + at] = register


class Matrix(dict):
    def get(self, name, default=None):
        return run if name.startswith(("v_mfma_", "v_smfmac_")) else default
