#!/usr/bin/python3
"""Runs published training steps as scenarios and prints how far weft is off.

    scripts/reproduce steps [-j N] [-o DIR] [--without-interleaving]

The steps are lines of ../shared/truth/public/steps.jsonl: a model, a cluster, how it is split, the
published time. Each distinct configuration becomes a scenario (DIR/scenarios/) and is run once.
What a line does not say is as Megatron-LM's recipes have it: sequence parallelism, sequences shared
by rings, the optimiser sharded over the copies, nothing recomputed, gradients summed in fp32.
Nothing is fitted to them.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import time

import yaml

import reproduce_common as common

STEPS = common.ROOT.parent / "shared/truth/public/steps.jsonl"
# The published systems' clusters: file, GPUs of a node.
CLUSTERS = {"h100_80gb": ("clusters/nodes_16x_8x_h100", 8)}
SAME_IN_WEFT = ("layers", "hidden", "heads", "kv_heads", "head_dim", "inner", "gated", "vocabulary",
                "positions", "tied")


def read_steps():
    """The published lines and the models that they name."""
    with open(STEPS, encoding="utf-8") as stream:
        lines = [json.loads(line) for line in stream if line.strip()]
    models = {}
    for line in lines:
        models.update(line.get("models", {}))
    return [line for line in lines if "step_s" in line], models


def obstacle(line, models):
    """Why weft cannot run it; empty where it can."""
    if line["model"] not in models:
        return f"its model {line['model']} is not described"
    if line["system"] not in CLUSTERS:
        return f"no cluster stands for {line['system']}"
    return ""


def scenario_of(line, model, interleaves):
    cluster, per_node = CLUSTERS[line["system"]]
    pipeline = line["pp"]
    context = line.get("cp", 1)
    parallel = {"tensor": line["tp"], "context": context, "pipeline": pipeline,
                "data": line["gpus"] // line["tp"] // context // pipeline,
                "sharded_optimizer": True}
    if line["tp"] > 1:
        parallel["sequence"] = True
    if line.get("vp", 1) > 1 and interleaves:
        parallel.update(schedule="interleaved", virtual_stages=line["vp"])
    return {"name": line["name"],
            "cluster": {"base": cluster, "nodes": line["gpus"] // per_node},
            "workload": {"kind": "transformer", "phase": "training",
                         "model": {key: model[key] for key in SAME_IN_WEFT if key in model},
                         "sequences": line["gbs"], "sequence_length": line["seq"],
                         "microbatch": line["mbs"], "parallel": parallel},
            "modes": ["bulk"],
            "run": {"beyond_memory": "warn"}}  # lines do not say what is kept or recomputed


def run(path):
    """Seconds of a step, those in which 80 % of measured ones would be, those of its simulation."""
    start = time.monotonic()
    bulk = common.summary_of(path, "--range")["modes"]["bulk"]
    seconds = {of: bulk[f"time_{of}us"] / 1e6 for of in ("", "low_", "high_")}
    return seconds[""], seconds["low_"], seconds["high_"], time.monotonic() - start


def errors_text(rows):
    errors = [row["error"] for row in rows]
    off = [abs(error) for error in errors]
    worst = max(errors, key=abs)
    return (f"{len(rows)} steps: median {100 * statistics.median(off):.1f} %, 90 % within "
            f"{100 * common.ninth_decile(off):.1f} %, worst {100 * worst:+.1f} %, mean "
            f"{100 * statistics.mean(errors):+.1f} %; "
            f"{sum(row['low_s'] <= row['published_s'] <= row['high_s'] for row in rows)} of "
            f"{len(rows)} within the range that should have 80 %")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    parser.add_argument("-o", "--output", type=pathlib.Path,
                        default=common.ROOT / "results/reproduce_steps", help="folder for results")
    parser.add_argument("--without-interleaving", action="store_true",
                        help="1F1B, whatever the lines say: what virtual stages bring")
    arguments = parser.parse_args()
    if not STEPS.is_file():
        print(f"skipped: {os.path.relpath(STEPS)}, the published steps, is not here")
        return
    lines, models = read_steps()
    folder = arguments.output / "scenarios"
    folder.mkdir(parents=True, exist_ok=True)
    files = {}  # by scenario's text
    jobs = []
    for line in lines:
        problem = obstacle(line, models)
        if problem:
            print(f"skipped: {line['name']}: {problem}")
            continue
        text = yaml.safe_dump(scenario_of(line, models[line["model"]],
                                          not arguments.without_interleaving), sort_keys=False)
        path = folder / f"{common.file_name(line['name'])}.yaml"
        if files.setdefault(text, path) == path:
            path.write_text(text, encoding="utf-8")
        jobs.append((line, files[text]))
    results = common.in_parallel(run, sorted(set(files.values())), arguments.jobs)
    rows = [{"name": line["name"], "published_s": line["step_s"], "weft_s": results[path][0],
             "low_s": results[path][1], "high_s": results[path][2],
             "error": results[path][0] / line["step_s"] - 1, "simulated_in_s": results[path][3],
             "source": line["source"]} for line, path in jobs]
    common.write_csv(arguments.output / "steps.csv", rows)
    for row in rows:
        print(f"{row['name']:24} published {row['published_s']:7.3f} s   "
              f"weft {row['weft_s']:7.3f} s ({row['low_s']:.3f} to {row['high_s']:.3f})   "
              f"{100 * row['error']:+6.1f} %   "
              f"in {row['simulated_in_s']:5.1f} s   {row['source']}")
    print(errors_text(rows))
    for model in dict.fromkeys(line["model"] for line, _ in jobs):
        of_model = [row for row, (line, _) in zip(rows, jobs) if line["model"] == model]
        print(f"{model}: {errors_text(of_model)}")
    print(f"results: {arguments.output}/")


if __name__ == "__main__":
    sys.exit(main())
