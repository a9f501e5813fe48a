#!/usr/bin/python3
"""A pipeline of two GPUs as a graph that weft runs (docs/traces.md, "Graph"): a generator.

    scripts/pipeline_graph.py [MICROBATCHES] > pipeline.json
    weft run SCENARIO      # of two GPUs, with workload: {kind: graph, path: pipeline.json}

Each microbatch passes two layers, one on each GPU; at the end gradients are summed.
"""

import json
import sys

TOKENS, HIDDEN, SENDS, SUMS = 4096, 8192, 1, 2  # the last two are streams
microbatches = int(sys.argv[1]) if len(sys.argv) > 1 else 4
activations = f"{TOKENS * HIDDEN * 2} B"
operators = []


def add(name, gpus, shape, after=(), stream=0):
    operators.append({"id": len(operators), "name": name, "gpus": gpus, "stream": stream, **shape})
    if after:
        operators[-1]["after"] = list(after)
    return operators[-1]["id"]


for _ in range(microbatches):
    layer = {"gemm": {"m": TOKENS, "n": HIDDEN, "k": HIDDEN}}
    first = add("layer 0", [0], layer)
    send = add("send", [0, 1], {"collective": {"op": "point_to_point", "bytes": activations}},
               [first], SENDS)
    last = add("layer 1", [1], layer, [send])
add("gradients", [0, 1], {"collective": {"op": "all_reduce", "bytes": f"{HIDDEN * HIDDEN * 2} B"}},
    [first, last], SUMS)
json.dump({"gpus": 2, "operators": operators}, sys.stdout, indent=1)
