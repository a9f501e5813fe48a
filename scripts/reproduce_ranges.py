"""Measured times over predicted ones, by GPU and law: what configs/gpus say in `errors`.

Each time belongs to one half of its law's by a hash of its case. What 80 % of one half lie between,
some 80 % of the other half should, too.
"""
import csv
import json
import math
import re
import statistics
import zlib

import yaml

import reproduce_common as common

GPUS = common.ROOT / "configs/gpus"
LEAST = 10  # times of a half
NEAR = 0.021  # of a file's number to the one found, which files round
LAWS = {  # of weft (sim/gpu_model/law.h): the kinds of measured lines that one of them predicts
    "gemm": r"library\.(gemm|gemm_fp8|grouped_gemm|grouped_gradient)$",
    "attention": r"library\.(attention|attention_both|prompt_layer)$",
    "decoding": r"library\.decoding_layer$",
    "lookup": r"emb\.compute$",
    "collective": r"(micro\.nccl_\w+|engine\.all_reduce|.*\.comm)$",
    "fused": r"(\w+\.fused\w*|torch\.\w+\.(hip|triton|triton_engine|pytorch))$",
}


def law_of(kind, file):
    if file.startswith("public_nodes_"):
        return "between_nodes"
    return next((law for law, kinds in LAWS.items() if re.match(kinds, kind)), None)


def tenths(values):
    """Below which a tenth of them are, half, and nine tenths."""
    deciles = statistics.quantiles(values, n=10, method="inclusive")
    return [deciles[0], deciles[4], deciles[8]]


def factors(files):
    """{(GPU, law): [(half, measured / predicted)]} of these CSV files of `weft validate`."""
    found = {}
    for file in sorted(files):
        gpu = file.stem.rsplit("_", 1)[1]
        with open(file, newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                law = law_of(row["kind"], file.stem)
                if law is None:
                    continue
                half = zlib.crc32((row["kind"] + row["case"]).encode()) & 1
                factor = float(row["measured_us"]) / float(row["predicted_us"])
                found.setdefault((gpu, law), []).append((half, factor))
    return found


def errors_of(gpu):
    """What the GPU's file, and those that it builds on, say."""
    file = yaml.safe_load((GPUS / f"{gpu}.yaml").read_text(encoding="utf-8"))
    errors = errors_of(file["base"]) if "base" in file else {}
    return {**errors, **file.get("errors", {})}


def within(values, low, high):
    return sum(low <= value <= high for value in values) / len(values)


def table(files):
    """Lines of a table, and what of it is not as the files say."""
    lines = ["| GPU | law | times | a tenth below, half, nine tenths | its file "
             "| in the range of the other half |",
             "|---|---|---|---|---|---|"]
    differ = []
    for (gpu, law), times in sorted(factors(files).items()):
        all_of_them = [factor for _, factor in times]
        found = tenths(all_of_them)
        said = errors_of(gpu)[law]
        said = [said[of] for of in ("low", "median", "high")]
        halves = [[factor for half, factor in times if half == which] for which in (0, 1)]
        held_out = "few"
        if min(map(len, halves)) >= LEAST:
            fitted = tenths(halves[1])
            held_out = f"{100 * within(halves[0], fitted[0], fitted[2]):.0f} %"
        found_text = ", ".join(f"{value:.2f}" for value in found)
        said_text = ", ".join(f"{value:g}" for value in said)
        lines.append(f"| {gpu} | {law} | {len(times)} | {found_text} | {said_text} | {held_out} |")
        if any(abs(a - b) > NEAR for a, b in zip(found, said)):
            differ.append(f"configs/gpus/{gpu}.yaml: errors.{law}")
    return lines, differ


# What does not tell one shape from another: how it is done, what came out, in which program.
OF_NO_SHAPE = {"kind", "measured_us", "predicted_us", "error", "launch", "kernel", "wgs",
               "rows_per_wg", "slice_wgs", "split_k", "tile_m", "tile_n", "ctas", "channels", "cus",
               "occupancy", "loads_in_flight"}


def shape_of(kind, values):
    kept = {key: str(value) for key, value in values.items() if key not in OF_NO_SHAPE}
    return kind.rpartition(".")[0], tuple(sorted(kept.items()))


def ratio_range(predicted, share, law, errors):
    """Of fused / bulk as sim/report/time_range.h has it, of a pair whose kernel is this share of
    bulk's time and its collective the rest: no operator is in both modes."""
    parts = {law: share, "collective": 1 - share}
    middle = sum(part * errors[name]["median"] for name, part in parts.items())
    shares = {name: -part * errors[name]["median"] / middle for name, part in parts.items()}
    below = above = 0
    for name, part in {**shares, "fused": 1}.items():
        longer = part * math.log(errors[name]["high"] / errors[name]["median"])
        shorter = part * math.log(errors[name]["median"] / errors[name]["low"])
        above += (longer if part > 0 else shorter) ** 2
        below += (shorter if part > 0 else longer) ** 2
    ratio = predicted * errors["fused"]["median"] / middle
    return ratio * math.exp(-math.sqrt(below)), ratio * math.exp(math.sqrt(above))


def ratios_within(file):
    """How many measured fused / bulk of a JSON file of `weft validate` are in their 80 % range, of
    those whose bulk was measured in its halves, too."""
    found = json.loads(file.read_text(encoding="utf-8"))
    errors = errors_of(file.stem.rsplit("_", 1)[1])
    halves = {}
    for case in found["cases"]:
        how = case["kind"].rpartition(".")[2]
        halves.setdefault(shape_of(case["kind"], case), {}).setdefault(how, case["predicted_us"])
    inside = []
    for ratio in found.get("fused_over_bulk", []):
        values = dict(word.rsplit(" ", 1) for word in ratio["case"].split(", "))
        of_shape = halves.get(shape_of(ratio["kind"], values), {})
        if not {"compute", "bulk"} <= of_shape.keys():
            continue
        law = "lookup" if ".emb" in "." + ratio["kind"] else "gemm"
        low, high = ratio_range(ratio["predicted"], min(1, of_shape["compute"] / of_shape["bulk"]),
                                law, errors)
        inside.append(low <= ratio["measured"] <= high)
    return inside
