#!/usr/bin/env bash
# Whole runs of weft, timed from outside, beside the bare event loop on the same machine.
#
#   tests/bench/whole_runs.sh [--all] [--runs=3] [WEFT]
#
# WEFT is the binary, build/release/sim/weft unless given; bare_loop is looked for beside it, in
# ../tests/bench. Prints the least wall and CPU seconds of the runs, the peak of memory, and the
# ratio of CPU seconds (other work on the machine moves the wall time) to those of bare_loop with
# as many GPUs and messages. --all adds the scenario of 4,096 GPUs. Ends with status 1 if a run
# failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec python3 - "$@" <<'PYTHON'
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SCENARIOS = [  # name, options, size of bare_loop, only with --all
    ("embedding_a2a_128_nodes", ["--mode", "fused"], (16, 8, 16384), False),
    ("embedding_a2a_1024_gpus", ["--mode", "fused"], (32, 32, 2048), False),
    ("peers_torus_1024", [], (32, 32, 1023), False),
    ("embedding_a2a_4096_gpus", ["--mode", "fused"], (64, 64, 4096), True),
]


def timed(command):
    """Exit status, wall seconds, CPU seconds and peak MB of one process, and what it printed."""
    with tempfile.TemporaryFile("w+") as output:
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        return (process.returncode, wall, usage.ru_utime + usage.ru_stime,
                usage.ru_maxrss / 1024, output.read().strip())


def best_of(runs, command):
    """The least of each number, or the first run that failed."""
    results = [timed(command) for _ in range(runs)]
    for result in results:
        if result[0] != 0:
            return result
    return tuple(min(column) for column in zip(*results))


def row(name, wall, cpu, megabytes, ratio):
    print(f"{name:<34}{wall:>10.2f}{cpu:>10.2f}{megabytes:>10.0f}{ratio:>13}", flush=True)


def main():
    options = [a for a in sys.argv[1:] if a.startswith("--")]
    words = [a for a in sys.argv[1:] if not a.startswith("--")]
    runs = 3
    for option in options:
        if option.startswith("--runs=") and option[7:].isdigit() and int(option[7:]) > 0:
            runs = int(option[7:])
        elif option != "--all":
            sys.exit("usage: tests/bench/whole_runs.sh [--all] [--runs=3] [WEFT]")
    weft = pathlib.Path(words[0] if words else "build/release/sim/weft")
    bare = weft.parent.parent / "tests" / "bench" / "bare_loop"
    for program in (weft, bare):
        if not os.access(program, os.X_OK):
            sys.exit(f"{program}: no such program; build it, or name weft's binary")

    print(f"{'run':<34}{'wall s':>10}{'CPU s':>10}{'peak MB':>10}{'x bare loop':>13}")
    failures = 0
    for name, arguments, (x, y, wgs), only_with_all in SCENARIOS:
        if only_with_all and "--all" not in options:
            continue
        yardstick = [str(bare), f"--x={x}", f"--y={y}", f"--wgs={wgs}"]
        status, wall, bare_cpu, megabytes, text = best_of(runs, yardstick)
        if status != 0:
            sys.exit(f"{bare}: exit status {status}\n{text}")
        row(f"bare_loop {x}x{y} x {wgs}", wall, bare_cpu, megabytes, "")
        command = [str(weft), "run", f"configs/scenarios/{name}.yaml", "--quiet", "-j", "1", *arguments]
        status, wall, cpu, megabytes, text = best_of(runs, command)
        if status != 0:
            failures += 1
            print(f"{name:<34} exit status {status}: {text[:200]}", flush=True)
            continue
        row(name, wall, cpu, megabytes, f"{cpu / bare_cpu:.2f}")
    return 1 if failures else 0


sys.exit(main())
PYTHON
