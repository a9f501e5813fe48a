"""Memory-bound GEMMs on fewer CUs, in the cache model alone (a part of scripts/reproduce cache).

Taking CUs from a memory-bound GEMM is reported to make it up to 10 % faster (ConCCL, ISPASS 2025).
The GEMMs are those of configs/reproduce/c3.yaml and of configs/reproduce/cache.yaml, the tiles
those that the former's rule chooses; of long ones the first columns are run.
"""
import subprocess

import yaml

import reproduce_c3
import reproduce_common as common

STEP = 64  # of k, two bytes an element: a line of each row


def application(gemm, rule, what):
    """A GEMM of one row of tiles, as the file of an application."""
    tile = reproduce_c3.memory_tile(gemm, rule)
    rows, k, parts, width = gemm["m"], gemm["k"], tile["split_k"], tile["tile_n"]
    columns = min(gemm["n"], what["most_weights_mib"] * 2**20 // (2 * k)) // width
    of_a_cu = what["tflops"] * 1e12 / what["all_cus"]
    step_us = 2 * rows * width * STEP * rule["wgs_per_cu"] / of_a_cu * 1e6

    def operand(array, high, **moves):
        return {"op": "load", "array": array, "rows": high, "row": f"{2 * STEP} B",
                "pitch": f"{2 * k} B", "per_part": f"{2 * k // parts} B",
                "per_step": f"{2 * STEP} B", **moves}

    return {"name": gemm["name"],
            "arrays": [{"name": "A", "size": f"{2 * rows * k} B"},
                       {"name": "B", "size": f"{2 * columns * width * k} B"}],
            "kernels": [{"name": "gemm", "rows": 1, "columns": columns, "parts": parts,
                         "steps": k // parts // STEP, "compute": f"{step_us:.3f} us",
                         "wgs_per_cu": rule["wgs_per_cu"], "in_flight": what["in_flight"],
                         "accesses": [operand("A", rows),
                                      operand("B", width, per_column=f"{2 * k * width} B")]}]}


def times(what, out, jobs):
    """us of each GEMM on each number of CUs."""
    c3 = yaml.safe_load((common.ROOT / "configs/reproduce/c3.yaml").read_text(encoding="utf-8"))
    gemms = [gemm for gemm in c3["gemms"] if gemm["name"].startswith("mb")] + what["gemms"]
    out.mkdir(parents=True, exist_ok=True)
    files = []
    for gemm in gemms:
        files.append(out / f"{gemm['name']}.yaml")
        made = application(gemm, c3["tiles"]["memory"], what)
        files[-1].write_text(yaml.safe_dump(made, sort_keys=False), encoding="utf-8")
    machine = common.ROOT / f"configs/cache/machines/{what['machine']}.yaml"
    found = {gemm["name"]: {} for gemm in gemms}
    for cus in what["cus"]:
        fewer = yaml.safe_load(machine.read_text(encoding="utf-8")) | {"cus": cus}
        file = out / f"machine_{cus}.yaml"
        file.write_text(yaml.safe_dump(fewer, sort_keys=False), encoding="utf-8")
        folder = out / f"cus_{cus}"
        command = [common.WEFT, "cache", *files, "--machine", file, "--policy", "cache_r", "-q",
                   "-j", str(jobs), "-o", folder]
        subprocess.run(command, check=True)
        for one in common.read_json(folder / "cache.json")["runs"]:
            found[one["application"]][cus] = one["time_us"]
    return found


def table(what, found):
    cus = what["cus"]
    lines = ["| | " + " | ".join(f"{n} CUs, us" if n == cus[0] else f"{n}" for n in cus) + " |",
             "|---|" + "---|" * len(cus)]
    for name, of in found.items():
        changes = [f"{100 * (of[n] / of[cus[0]] - 1):+.1f} %" for n in cus[1:]]
        lines.append(f"| {name} | {of[cus[0]]:.1f} | " + " | ".join(changes) + " |")
    return "\n".join(lines)


def claim(what, found):
    base, fewer = what["cus"][0], what["cus"][1]
    change = {name: 100 * (of[fewer] / of[base] - 1) for name, of in found.items()}
    best, worst = min(change.values()), max(change.values())
    faster = sum(one < -0.5 for one in change.values())
    return [f"memory-bound GEMM with {base - fewer} fewer CUs", "up to 10 % faster",
            f"{faster} of {len(change)} faster, from {best:+.1f} to {worst:+.1f} %",
            "sign found" if faster > 0 and worst < 0.5 else "in some cases", "[S]"]
