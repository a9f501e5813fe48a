#!/usr/bin/env bash
# Peak of memory and CPU seconds of whole runs on one core; the median of RUNS.
#
#   tests/bench/memory.sh [RUNS] [WEFT] [OTHER]        # 3, build/release/sim/weft
#
# With OTHER, the binary of another version, the two run in alternation, and it stops if their results differ.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 - "$folder" "${1:-3}" "${2:-build/release/sim/weft}" ${3:+"$3"} <<'PYTHON'
import json
import pathlib
import resource
import statistics
import subprocess
import sys

RUNS = {
    "embedding_a2a_128_nodes": ["--mode", "fused"],
    "embedding_a2a_1024_gpus": ["--mode", "fused"],
    "peers_torus_1024": [],
    "models/llama3_70b_training": ["--mode", "fused"],
}
# Steps that are exported as Chakra's traces and read again: the model, the cluster, and what fuses. The last is for
# programs that read a model's blocks (model_block).
TRACES = {
    "dlrm": ("models/dlrm_128_nodes", "torus_128_mi210", "auto"),
    "dlrm, none": ("models/dlrm_128_nodes", "torus_128_mi210", "none"),
    "llama": ("models/llama3_70b_training", "nodes_16x_8x_h100", "auto"),
}
OF_THE_MACHINE = ("wall_s", "events_per_s", "peak_rss_bytes")

folder, runs, *programs = sys.argv[1:]
folder = pathlib.Path(folder)


def exported(name, model, cluster, fuse):
    """A scenario of the traces of this model."""
    traces = folder / model.replace("/", "_")
    source = f"configs/scenarios/{model}.yaml"
    if not traces.is_dir():
        traces.mkdir()
        subprocess.run([programs[0], "export", source, "--chakra", traces / "rank"], check=True, capture_output=True)
    scenario = folder / f"{name.replace(', ', '_')}.yaml"
    scenario.write_text(f"name: {name}\ncluster: {{base: clusters/{cluster}}}\nmodes: [bulk]\n"
                        f"workload: {{kind: chakra, path: {traces / 'rank'}, fuse: {fuse}}}\n", encoding="utf-8")
    return scenario


def ran(program, scenario, options):
    """Megabytes, CPU seconds, and all that the machine does not decide."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = subprocess.run([program, "run", scenario, "--quiet", "--json", "--known", "none", "-j", "1",
                           *options],
                          check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    summary = json.loads(text)
    megabytes = summary["engine"]["peak_rss_bytes"] / 1e6
    for key in OF_THE_MACHINE:
        del summary["engine"][key]
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return megabytes, seconds, summary


def compare(name, scenario, options=()):
    of_all = [[] for _ in programs]
    for _ in range(int(runs)):
        for program, made in zip(programs, of_all):
            made.append(ran(program, scenario, options))
    if any(made[2] != of_all[0][0][2] for of_one in of_all for made in of_one):
        sys.exit(f"{name}: results differ")
    cells = [f"{statistics.median(m[0] for m in made):9.1f}{statistics.median(m[1] for m in made):8.2f}" for made in of_all]
    print(f"{name:<44}" + "".join(cells), flush=True)


print(f"{'run':<44}" + "".join(f"{'MB':>9}{'CPU s':>8}" for _ in programs))
for name, options in RUNS.items():
    compare(" ".join([name, *options]), f"configs/scenarios/{name}.yaml", options)
for name, of in TRACES.items():
    compare(f"traces: {name}", exported(name, *of))
PYTHON
