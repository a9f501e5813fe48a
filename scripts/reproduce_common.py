"""What the reproductions share: runs of weft in parallel, tables, figures."""
import argparse
import concurrent.futures
import csv
import functools
import json
import os
import pathlib
import re
import subprocess
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
WEFT = ROOT / "build/release/sim/weft"


def pyplot():
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot
    return matplotlib.pyplot


@functools.cache
def colours(*modes):
    """Colours of modes, as in every other picture."""
    printed = subprocess.run([WEFT, "schema", "results"], check=True, stdout=subprocess.PIPE)
    catalogue = json.loads(printed.stdout)
    return {mode: catalogue["modes"][mode]["colour"] for mode in modes}


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def ninth_decile(values):
    """As weft validate: the smallest that 90 % do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-9 * len(ordered) // 10) - 1)]


def file_name(text):
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    pyplot().close(figure)


def in_parallel(work, items, jobs):
    """{item: work(item)}, so many at a time."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return dict(zip(items, pool.map(work, items)))


def summary_of(scenario, *arguments):
    """The summary of a run. One that fails ends the program with its message."""
    command = [WEFT, "run", scenario, "--json", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{result.stderr}")
    return json.loads(result.stdout)


def write_csv(path, rows):
    """Rows are dicts with the same keys."""
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)


class Runner:
    """Runs scenarios, several at a time. A run that fails ends the program with its message."""

    def __init__(self, jobs):
        self.jobs = jobs
        self.done = 0

    def one(self, job):
        scenario, settings, modes = job
        arguments = []
        for key, value in settings.items():
            arguments += ["--set", f"{key}={value}"]
        for mode in modes:
            arguments += ["--mode", mode]
        return summary_of(ROOT / "configs" / f"{scenario}.yaml", *arguments)

    def all(self, jobs):
        """The summaries of (scenario, {key: value}, [mode]) in their order."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            results = []
            for summary in pool.map(self.one, jobs):
                results.append(summary)
                self.done += 1
                print(f"\r{self.done} runs", end="", file=sys.stderr, flush=True)
        return results


def start(what, description):
    """The runner, the content of the file in configs/reproduce/, and the folder for results."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="concurrent runs")
    parser.add_argument("-o", "--output", type=pathlib.Path,
                        default=ROOT / "results" / f"reproduce_{what}", help="folder for results")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    with open(ROOT / "configs/reproduce" / f"{what}.yaml", encoding="utf-8") as stream:
        return Runner(arguments.jobs), yaml.safe_load(stream), arguments.output


def write_claims(rows, out):
    """claims.md and the same on the terminal: claim, paper, weft, difference, tag."""
    head = ["claim", "paper", "weft", "difference", "tag of the claim"]
    text = "| " + " | ".join(head) + " |\n|" + "---|" * len(head) + "\n"
    text += "".join("| " + " | ".join(row) + " |\n" for row in rows)
    (out / "claims.md").write_text(text, encoding="utf-8")
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    print(file=sys.stderr)
    for row in [head, *rows]:
        print("   ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    print(f"\nresults: {out}/")
