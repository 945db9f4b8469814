"""What comparisons of kernels' listings share: code objects taken apart, main loops, counts of the simulator."""

import json
import os
import re
import subprocess
import sys

LINE = re.compile(r"^\s+(\S+)\s*(.*?)\s*//\s*([0-9A-Fa-f]+):")
MFMA = re.compile(r"v_(?:s?mfma)\w*?_(\d+)x(\d+)x(\d+)")
LDS_BYTES = {"gfx90a": 64 << 10, "gfx942": 64 << 10, "gfx950": 160 << 10}


def tool(name, *args):
    done = subprocess.run([name, *args], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{name} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def instructions(objdump, path, kernel):
    """(address, mnemonic, operands) of one kernel."""
    text = tool(objdump, "-d", f"--disassemble-symbols={kernel}", path)
    found = []
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            found.append((int(match[3], 16), match[1], match[2]))
    if not found:
        sys.exit(f"{path} has no kernel {kernel}")
    return found


def branch_target(address, operands):
    words = re.match(r"\s*(\d+)", operands)
    if not words:
        return None
    offset = int(words[1])
    return address + 4 + 4 * (offset - 0x10000 if offset >= 0x8000 else offset)


def flops(mnemonic):
    match = MFMA.match(mnemonic)
    return 2 * int(match[1]) * int(match[2]) * int(match[3]) if match else 0


def loops(code):
    """First and last place of every loop."""
    places = {item[0]: place for place, item in enumerate(code)}
    found = []
    for end, (address, mnemonic, operands) in enumerate(code):
        if mnemonic.startswith(("s_cbranch", "s_branch")):
            target = branch_target(address, operands)
            if target in places and target <= address:
                found.append((places[target], end))
    return found


def main_loop(code):
    """Of the loops with matrix instructions and no other such loop inside, the one with most FLOPs; the smallest such."""
    work = lambda loop: sum(flops(item[1]) for item in code[loop[0]:loop[1] + 1])
    found = [loop for loop in loops(code) if work(loop)]
    inside = lambda a, b: a != b and b[0] <= a[0] and a[1] <= b[1]
    inner = [loop for loop in found if not any(inside(other, loop) and other[0] > loop[0] for other in found)]
    if not inner:
        sys.exit("no loop with matrix instructions")
    begin, end = max(inner, key=lambda loop: (work(loop), loop[0] - loop[1]))
    return code[begin:end + 1]


def is_vector_load(mnemonic):
    return mnemonic.startswith(("global_load", "buffer_load", "flat_load"))


def early_waits(body):
    """Waits for a load issued since the last barrier: its latency is not hidden.

    Loads come back in order, so `vmcnt(n)` waits for all but the n youngest.
    The loop is walked twice, so that what the end issued is known at the start.
    """
    early, issued = 0, 0
    for turn in range(2):
        for _, mnemonic, operands in body:
            if mnemonic == "s_barrier":
                issued = 0
            elif is_vector_load(mnemonic):
                issued += 1
            elif mnemonic == "s_waitcnt":
                match = re.search(r"vmcnt\((\d+)\)", operands)
                if match and int(match[1]) < issued and turn == 1:
                    early += 1
    return early


def summary(code, needs, arch):
    body = main_loop(code)
    count = lambda *names: sum(item[1].startswith(names) for item in body)
    total = sum(flops(item[1]) for item in body)
    waves = needs["workgroup"] // 64
    by_vgprs = min(8, 512 // (-(-needs["vgprs"] // 8) * 8))
    granule = 1280 if arch == "gfx950" else 512
    groups = min(32 // waves, 16)
    if needs["lds"]:
        groups = min(groups, LDS_BYTES[arch] // (-(-needs["lds"] // granule) * granule))
    return {
        "flops_per_instruction": total / len(body),
        "instructions": len(body),
        "mfma": sum(flops(item[1]) > 0 for item in body),
        "lds_reads": count("ds_read"),
        "lds_writes": count("ds_write"),
        "loads": sum(is_vector_load(item[1]) for item in body),
        "barriers": count("s_barrier"),
        "waits": count("s_waitcnt"),
        "early_waits": early_waits(body),
        "valu": sum(item[1].startswith("v_") and not flops(item[1]) for item in body),
        "waves_per_simd": min(by_vgprs, groups * waves // 4),
        **needs,
    }


def needs_of(readobj, path, kernel):
    """Registers, LDS and workgroup from the metadata note."""
    text = tool(readobj, "--notes", path)
    for part in re.split(r"\n  - ", text):
        if re.search(rf"\.name:\s+{re.escape(kernel)}\s", part):
            number = lambda key: int(re.search(rf"\.{key}:\s+(\d+)", part)[1])
            return {
                "vgprs": number("vgpr_count"),
                "agprs": number("agpr_count"),
                "lds": number("group_segment_fixed_size"),
                "workgroup": number("max_flat_workgroup_size"),
                "spills": number("vgpr_spill_count") + number("sgpr_spill_count"),
            }
    sys.exit(f"{path} does not describe {kernel}")


def profile(xtask, path, kernel, body, launch, arguments, least_flops):
    """Counts of a run on the simulator: LDS passes that conflicts add, in the main loop and in all, and
    matrix FLOPs for each instruction that a wave executed. `launch` has workgroups, lanes and dynamic LDS."""
    workgroups, lanes, dynamic_lds = launch
    report = json.loads(tool(
        *xtask, "sim", "profile", path, "--format", "json", "--fast", "--kernel", kernel,
        "--grid", str(workgroups), "--workgroup", str(lanes), "--lds", str(dynamic_lds), *arguments))
    if report["findings"]:
        sys.exit(f"{path}: {report['findings'][0]['kind']}: {report['findings'][0]['what']}")
    if report["matrix_flops"] < least_flops:
        sys.exit(f"{path}: {report['matrix_flops']} matrix FLOPs, and {least_flops} are needed")
    addresses = {item[0] for item in body}
    rows = [row for row in report["instructions"] if row["address"] in addresses]
    in_loop = sum(flops(row["instruction"]) * row["count"] for row in rows)
    if not in_loop:
        sys.exit(f"{path}: the main loop did not run")
    executed = sum(row["count"] for row in report["instructions"])
    return {
        "loop_conflicts_per_mflop": sum(row["lds_conflicts"] for row in rows) / in_loop * 1e6,
        "conflicts_per_mflop": report["lds_conflicts"] / report["matrix_flops"] * 1e6,
        "passes_per_mflop": report["lds_passes"] / report["matrix_flops"] * 1e6,
        "flops_per_executed_instruction": report["matrix_flops"] / executed,
    }


def module_of(directory, name, source):
    """Triton reads a kernel's text from its file."""
    import importlib.util
    path = os.path.join(directory, f"{name}.py")
    with open(path, "w") as file:
        file.write(source)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def triton_object(path, function, types, constants, divisible, arch, options):
    """Compiles for an architecture without a GPU; the bytes of LDS, which are set at launch and not in the object.
    Those named `divisible` are multiples of 16."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    signature = {name: "constexpr" if name in constants else types(name) for name in function.arg_names}
    attributes = {(place,): [["tt.divisibility", 16]]
                  for place, name in enumerate(function.arg_names) if divisible(name)}
    source = ASTSource(fn=function, signature=signature, constexprs=constants, attrs=attributes)
    compiled = triton.compile(source, target=GPUTarget("hip", arch, 64), options=options)
    with open(path, "wb") as file:
        file.write(compiled.asm["hsaco"])
    return compiled.metadata.shared
