#!/usr/bin/python3
"""How well weft replays recorded steps, and what it predicts of the fused run from the bulk one.

    scripts/reproduce traces [-o DIR]

The steps are those of calibration/measurements/traces, recorded on two H100; steps.jsonl says how
each is replayed. With the host's time (host: recorded) that is compared with the whole recorded
step, else with the device's time: the step less what the GPU waited for the host.

Where they are tensor parallel, each GEMM next to a reduce-scatter or an all-gather is a pair that
weft would fuse. Pairs of the same sizes were measured by themselves on such GPUs
(calibration/measurements/h100-x2-torch.jsonl): in bulk, fused work-group by work-group (Triton),
and by PyTorch's own operators (pipelined). Nothing is fitted to either.
"""
import argparse
import csv
import json
import pathlib
import re
import statistics
import subprocess

import yaml

import reproduce_common as common

TRACES = common.ROOT / "calibration/measurements/traces"
LINES = common.ROOT / "calibration/measurements/h100-x2-torch.jsonl"
# A pattern's kind of line; a column of fusions.csv and who measured the same.
KINDS = {"gemm_reduce_scatter": "gemm_rs", "all_gather_gemm": "ag_gemm"}
MODES = {"bulk": ("bulk_us", "bulk"), "fused": ("fused_us", "triton"),
         "pipelined": ("pipelined_us", "pytorch")}
SIZES = re.compile(r"(\d+)x(\d+)x(\d+)")


def measured_lines():
    """Microseconds by kind, m, n, k and who did it."""
    lines = {}
    for text in LINES.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        if line["kind"] in KINDS.values():
            key = (line["kind"], line["m"], line["n"], line["k"])
            lines.setdefault(key, {})[line["by"]] = line["us"]
    return lines


def scenario_of(trace, how, modes):
    kind = "nsys" if trace.suffix == ".gz" else "pytorch"
    return {"name": trace.name,
            "cluster": {"base": "clusters/node_8x_h100", "gpus_per_node": 2,
                        "gpu": {"collective": {"algorithms": ["ring", "tree"]}}},
            "workload": {"kind": kind, "path": str(trace), **how},
            "modes": modes}


def written(scenario, folder):
    path = folder / f"{scenario['name']}.yaml"
    path.write_text(yaml.safe_dump(scenario), encoding="utf-8")
    return path


def recorded_steps():
    text = (TRACES / "steps.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def replays(line, folder):
    """A row for each way in which this trace is replayed."""
    for how in line["replays"]:
        scenario = scenario_of(TRACES / line["trace"], {"fuse": "none", **how}, ["bulk"])
        summary = common.summary_of(written(scenario, folder))
        recorded = summary["recorded"]
        host = how.get("host") == "recorded"
        one = how.get("steps") == "mean" or "step" in how
        yield {"trace": line["trace"],
               "steps": f"step {how['step']}" if "step" in how else how["steps"].replace("_", " "),
               "time": "with the host's" if host else "device",
               "recorded_us": recorded["step_us"] - (0 if host else recorded["unlaunched_us"]),
               "weft_us": summary["modes"]["bulk"]["time_us"],
               "host_us": recorded["unlaunched_us"],
               "unprofiled_us": line.get("us", 0) if one and not host else 0}


def print_replays(rows):
    print(f"{'trace':<27} {'steps':<9} {'time':<16} {'recorded':>11} {'weft':>11} {'error':>8} "
          f"{'host late':>10} {'no profiler':>12}")
    for row in rows:
        error = row["weft_us"] / row["recorded_us"] - 1
        unprofiled = f"{row['unprofiled_us'] / 1000:.2f} ms" if row["unprofiled_us"] else ""
        print(f"{row['trace']:<27} {row['steps']:<9} {row['time']:<16} "
              f"{row['recorded_us'] / 1000:>8.2f} ms {row['weft_us'] / 1000:>8.2f} ms "
              f"{100 * error:>+6.1f} % {row['host_us'] / 1000:>7.2f} ms {unprofiled:>12}".rstrip())
    for time in sorted({row["time"] for row in rows}):
        errors = [abs(row["weft_us"] / row["recorded_us"] - 1) for row in rows
                  if row["time"] == time]
        print(f"{time}: {len(errors)} replays, median error {100 * statistics.median(errors):.1f}"
              f" %, worst {100 * max(errors):.1f} %")


def pairs_of(trace, folder):
    """The rows of fusions.csv of a replay of this trace."""
    path = written(scenario_of(trace, {"steps": "mean"}, ["bulk", "pipelined", "fused"]), folder)
    results = folder / trace.name
    command = [common.WEFT, "run", path, "-o", results]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{result.stderr}")
    with open(results / "fusions.csv", encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def compare(trace, pair, lines):
    """A row for each mode; one without a measured time says what is missing."""
    sizes = SIZES.search(pair["pair"])
    kind = KINDS.get(pair["pattern"])
    key = (kind, *map(int, sizes.groups())) if sizes and kind else None
    for mode, (column, by) in MODES.items():
        row = {"trace": trace.name, "pattern": pair["pattern"], "times": int(pair["times"]),
               "sizes": "x".join(sizes.groups()) if sizes else "", "mode": mode,
               "predicted_us": float(pair[column]), "measured_us": 0, "missing": ""}
        if row["predicted_us"] == 0:
            row["missing"] = pair.get("obstacle", "") or "weft does not run it in this mode"
        elif key not in lines:
            row["missing"] = "nobody measured a pair of these sizes"
        else:
            row["measured_us"] = lines[key][by]
        yield row


def ratios(rows):
    """Predicted and measured time over bulk's, of a mode of one pair."""
    bulk = {(row["trace"], row["pattern"], row["sizes"]): row for row in rows
            if row["mode"] == "bulk" and not row["missing"]}
    for row in rows:
        base = bulk.get((row["trace"], row["pattern"], row["sizes"]))
        if row["missing"] or row["mode"] == "bulk" or not base:
            continue
        yield row, (row["predicted_us"] / base["predicted_us"],
                    row["measured_us"] / base["measured_us"])


def print_rows(rows):
    print(f"{'trace':<16} {'pair':<20} {'m x n x k':<18} {'times':>5} {'mode':<10} "
          f"{'predicted':>10} {'measured':>10} {'error':>8}")
    for row in rows:
        start = (f"{row['trace']:<16} {row['pattern']:<20} {row['sizes']:<18} {row['times']:>5} "
                 f"{row['mode']:<10} ")
        if row["missing"]:
            print(start + row["missing"])
            continue
        error = row["predicted_us"] / row["measured_us"] - 1
        print(f"{start}{row['predicted_us']:>7.1f} us {row['measured_us']:>7.1f} us "
              f"{100 * error:>+6.1f} %")


def print_errors(rows):
    for mode in MODES:
        errors = [abs(row["predicted_us"] / row["measured_us"] - 1) for row in rows
                  if row["mode"] == mode and not row["missing"]]
        if errors:
            print(f"{mode}: {len(errors)} pairs, median error {100 * statistics.median(errors):.1f}"
                  f" %, worst {100 * max(errors):.1f} %")
    for mode in ("fused", "pipelined"):
        both = [pair for row, pair in ratios(rows) if row["mode"] == mode]
        if both:
            off = [abs(predicted - measured) for predicted, measured in both]
            predicted, measured = (statistics.mean(ratio) for ratio in zip(*both))
            print(f"{mode} over bulk: predicted {predicted:.3f}, measured {measured:.3f}, "
                  f"worst off by {max(off):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=pathlib.Path,
                        default=common.ROOT / "results/reproduce_traces")
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    lines = measured_lines()
    steps = [row for line in recorded_steps() for row in replays(line, folder)]
    common.write_csv(folder / "steps.csv", steps)
    print_replays(steps)
    print()
    rows = []
    for trace in sorted(path for path in TRACES.iterdir() if path.is_dir()):
        for pair in pairs_of(trace, folder):
            rows.extend(compare(trace, pair, lines))
    common.write_csv(folder / "pairs.csv", rows)
    print_rows(rows)
    print_errors(rows)


if __name__ == "__main__":
    main()
