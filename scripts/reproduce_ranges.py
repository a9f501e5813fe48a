"""Measured times over predicted ones, by GPU and law: what configs/gpus say in `errors`.

Each time belongs to one half of its law's by a hash of its case. What 80 % of one half lie between,
some 80 % of the other half should, too.
"""
import csv
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
