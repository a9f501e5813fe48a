#!/usr/bin/env python3
"""What a point costs from Python beside its simulation: milliseconds of CPU of weft.run in a loop
and of a point of weft.sweep, all-reduces of about 1 KiB on eight H100. `in modes` is the simulation
(engine.wall_s of the summaries). The least of RUNS: a shared machine adds to each. After
cmake --build of a build with -DWEFT_PYTHON=ON:

    PYTHONPATH=build/release/python tests/bench/python.py [RUNS [POINTS]]     # 5, 200
"""

import json
import pathlib
import sys
import tempfile
import time

import weft

TINY = {"name": "tiny", "cluster": {"base": "clusters/node_8x_h100"}, "modes": ["bulk"],
        "workload": {"kind": "collective", "op": "all_reduce", "bytes": "1 KiB"}}
KEY = "workload.bytes"


def runs_ms(sizes, **how):
    """Of all runs in turn, and of their modes."""
    begin = time.process_time()
    results = [weft.run(TINY, {KEY: size}, **how) for size in sizes]
    total = 1000 * (time.process_time() - begin)
    return total, 1000 * sum(r.summary["engine"]["wall_s"] for r in results)


def sweep_ms(sizes, scenario):
    begin = time.process_time()
    rows = weft.sweep({"name": "tiny", "scenario": scenario,
                       "axes": [{"key": KEY, "values": sizes}]})
    total = 1000 * (time.process_time() - begin)
    if rows.failed:
        sys.exit(rows.failed[0]["error"])
    return total


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    points = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    sizes = [f"{1024 + 16 * i} B" for i in range(points)]
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        scenario = pathlib.Path(folder, "tiny.yaml")
        scenario.write_text(json.dumps(TINY))  # which YAML includes
        for _ in range(runs):
            for name, how in (("weft.run", {}), ("weft.run, tables=False", {"tables": False})):
                total, modes = runs_ms(sizes, **how)
                times.setdefault(name, []).append((total, modes))
            times.setdefault("weft.sweep", []).append((sweep_ms(sizes, str(scenario)), modes))
    print("| a point of | ms of CPU | in modes | beside |\n|---|---|---|---|")
    for name, of_runs in times.items():
        total, modes = (min(values) / points for values in zip(*of_runs))
        print(f"| `{name}` | {total:.2f} | {modes:.2f} | {total - modes:.2f} |")


if __name__ == "__main__":
    main()
