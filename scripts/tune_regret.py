"""Regret on measured choices: where one shape was measured in several ways, what weft would have
chosen by its predictions, against the best one by its measured time.

A choice is how it is done (bulk, fused, by which library ...) with the knobs below; a shape is all
else that a measured line says.
"""
import collections
import pathlib
import statistics
import subprocess
import tempfile

import yaml

import reproduce_common as common

MEASURED = ("h200-x4-reference", "h200-x4", "h200-x2", "h100-x2-torch")
KNOBS = {"wgs", "rows_per_wg", "slice_wgs", "split_k", "tile_m", "tile_n", "ctas", "channels",
         "cus", "occupancy", "loads_in_flight"}
RESULTS = {"kind", "measured_us", "predicted_us", "error"}
# No way to do the whole: one half of it alone.
HALVES = {"compute", "comm", "hip_compute", "gemm_alone", "comm_alone", "ce_alone",
          "comm_alone_ctas"}


def cases_of(measured):
    """What weft validate says of each line."""
    with tempfile.TemporaryDirectory() as folder:
        found = pathlib.Path(folder) / "cases.json"
        command = [common.WEFT, "validate", common.ROOT / measured["measured"], "--cluster",
                   common.ROOT / measured["cluster"], "--kernels",
                   common.ROOT / measured["kernels"], "--json", found, "-q"]
        for change in measured.get("set", []):
            command += ["--set", change]
        subprocess.run(command, check=True)
        return common.read_json(found)["cases"]


def choices_by_shape(cases):
    shapes = collections.defaultdict(list)
    for case in cases:
        what, _, how = case["kind"].rpartition(".")
        if how in HALVES or what.startswith("micro") or not what:
            continue
        shape = tuple(sorted((key, value) for key, value in case.items()
                             if key not in KNOBS | RESULTS))
        shapes[what, shape].append((case["predicted_us"], case["measured_us"], how))
    return {key: choices for key, choices in shapes.items() if len(choices) > 1}


def regret(choices, chosen):
    return chosen[1] / min(choice[1] for choice in choices) - 1


def by_weft(choices):
    """Its regret: of those that weft predicts to be equally short the mean."""
    least = min(predicted for predicted, _, _ in choices)
    return statistics.mean(regret(choices, choice) for choice in choices if choice[0] == least)


def always(choices, how):
    """Of the choices that are done this way the one measured first; without one, the first."""
    return next((choice for choice in choices if choice[2] == how), choices[0])


def line(title, regrets):
    within = sum(value <= 0.05 for value in regrets) / len(regrets)
    return (f"{title:40} {len(regrets):4} shapes: median {100 * statistics.median(regrets):.1f} %,"
            f" nine of ten within {100 * common.ninth_decile(regrets):.1f} %, worst"
            f" {100 * max(regrets):.1f} %; {100 * within:.0f} % of them within 5 %")


def print_regrets():
    sets = yaml.safe_load((common.ROOT / "configs/reproduce/validation.yaml").read_text())["sets"]
    every = {"by weft": [], "always bulk": [], "always fused, as measured first": []}
    for measured in sets:
        name = measured["measured"].rsplit("/", 1)[-1].removesuffix(".jsonl")
        if name not in MEASURED:
            continue
        by_what = collections.defaultdict(list)
        for (what, _), choices in choices_by_shape(cases_of(measured)).items():
            chosen = by_weft(choices)
            by_what[what].append(chosen)
            every["by weft"].append(chosen)
            every["always bulk"].append(regret(choices, always(choices, "bulk")))
            every["always fused, as measured first"].append(
                regret(choices, always(choices, "fused")))
        for what, regrets in by_what.items():
            print(line(f"  {name} {what}", regrets))
    for how, regrets in every.items():
        print(line(how, regrets))
