#!/usr/bin/env bash
# Wall seconds of whole runs on 1, 2, 4 ... cores, as many as there are.
#
#   tests/bench/cores.sh [WEFT]
#
# WEFT is the binary, build/release/sim/weft unless given. Also prints the peak of memory, and
# stops if the results of two numbers of cores differ.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec python3 - "${1:-build/release/sim/weft}" <<'PYTHON'
import json
import os
import subprocess
import sys
import time

RUNS = [
    ["embedding_a2a_1024_gpus", "--mode", "fused"],
    ["embedding_a2a_128_nodes", "--mode", "fused"],
    ["embedding_a2a_128_nodes", "--mode", "bulk"],
    ["models/dlrm_128_nodes", "--mode", "bulk"],
    ["models/dlrm_128_nodes"],
    ["models/llama3_70b_training"],
    ["models/mixtral_training"],
]
OF_THE_MACHINE = ("wall_s", "events_per_s", "peak_rss_bytes")

weft = sys.argv[1]
most = os.cpu_count() or 1
cores = [2**i for i in range(most.bit_length()) if 2**i <= most]
print(f"{'run':<44}" + "".join(f"{n:>8}" for n in cores) + "    peak MB on each")
for name, *options in RUNS:
    seconds, megabytes, results = [], [], []
    for n in cores:
        start = time.monotonic()
        text = subprocess.run([weft, "run", f"configs/scenarios/{name}.yaml", "--quiet", "--json", "-j", str(n), *options],
                              check=True, capture_output=True, text=True).stdout
        seconds.append(time.monotonic() - start)
        summary = json.loads(text)
        megabytes.append(summary["engine"]["peak_rss_bytes"] / 1e6)
        for key in OF_THE_MACHINE:
            del summary["engine"][key]
        results.append(summary)
    if any(result != results[0] for result in results):
        sys.exit(f"{name}: results differ between {cores} cores")
    print(f"{' '.join([name, *options]):<44}" + "".join(f"{s:8.2f}" for s in seconds) + "    "
          + " ".join(f"{m:.0f}" for m in megabytes), flush=True)
PYTHON
