#!/usr/bin/python3
"""Whole models on 8 to 1,024 nodes, with a slow GPU or cable, and under several networks.

Started by scripts/reproduce, which installs what this needs. Runs configs/sweeps/scaling_*,
what_if_* and fabrics_* with `weft sweep`; each continues where an earlier one stopped. Writes into
-o: a folder per sweep (results.csv, results.jsonl), scaling.png, what_if.png, fabrics.png, and
summary.md with every point. --update writes the tables into docs/models.md; --check ends with
status 1 if they differ.
"""
import argparse
import csv
import os
import pathlib
import subprocess
import sys

import reproduce_common as common

plt = common.pyplot()
BEGIN = "<!-- scale: scripts/reproduce scaling --update -->"
END = "<!-- end of scale -->"
MODELS = {"dlrm": "DLRM", "llama3_70b": "Llama 3 70B", "mixtral": "Mixtral 8x7B",
          "deepseek_v3": "DeepSeek-V3 prefill"}


def read(folder):
    with open(folder / "results.csv", newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def seconds(row, mode):
    return float(row[f"{mode}_time_us"]) / 1e6


def saved(row):
    """By how many per cent fusing shortens the step."""
    return 100 * (1 - seconds(row, "fused") / seconds(row, "bulk"))


def draw_scaling(sweeps, path):
    """One column per model, rows weak and strong: time by nodes, and what fusing saves."""
    models = sorted({name.rsplit("_", 1)[0] for name in sweeps})
    figure, axes = plt.subplots(2, len(models), figsize=(4.2 * len(models), 6.4), squeeze=False)
    for column, model in enumerate(models):
        for line, kind in enumerate(("weak", "strong")):
            axis = axes[line][column]
            rows = sweeps[f"{model}_{kind}"]
            nodes = [int(row["nodes"]) for row in rows]
            for mode, colour in common.colours("bulk", "fused").items():
                axis.plot(nodes, [seconds(row, mode) for row in rows], "o-", color=colour,
                          label=mode)
            for x, row in zip(nodes, rows):
                axis.annotate(f"{-saved(row):+.1f} %", (x, seconds(row, "bulk")), fontsize=7,
                              ha="center", xytext=(0, 6), textcoords="offset points")
            axis.set_xscale("log", base=2)
            axis.set_xticks(nodes, nodes)
            if kind == "strong":
                axis.set_yscale("log")
            else:
                axis.set_ylim(0, 1.15 * max(seconds(row, "bulk") for row in rows))
            axis.margins(x=0.1, y=0.15)
            axis.set_title(f"{model}, {kind}", fontsize=10)
            axis.set_xlabel("nodes")
            axis.set_ylabel("time of a step, s")
    axes[0][0].legend()
    common.save(figure, path)


def case(row, column):
    """What this point is called: its network, with the speed where that varies too."""
    speed = row.get("bandwidth_gbps") or row.get("link_bandwidth_gbps")
    return f"{row[column]}, {float(speed):g} Gb/s" if speed else row[column]


def draw_bars(sweeps, column, title, path):
    """One panel per model, one bar per case; 1 is the time of the first case in bulk."""
    figure, axes = plt.subplots(1, len(sweeps), figsize=(5 * len(sweeps), 3.6), squeeze=False)
    for axis, (name, rows) in zip(axes[0], sorted(sweeps.items())):
        one = seconds(rows[0], "bulk")
        for shift, (mode, colour) in zip((-0.2, 0.2), common.colours("bulk", "fused").items()):
            values = [seconds(row, mode) / one for row in rows]
            places = [i + shift for i in range(len(rows))]
            axis.barh(places, values, 0.38, color=colour, label=mode)
            for place, value in zip(places, values):
                axis.text(value, place, f" {value:.2f}", va="center", fontsize=7)
        axis.set_yticks(range(len(rows)), [case(row, column) for row in rows], fontsize=8)
        axis.invert_yaxis()
        axis.margins(x=0.15)
        axis.set_title(name, fontsize=10)
        axis.set_xlabel("time of a step / bulk of the first case")
    axes[0][0].legend(fontsize=8)
    figure.suptitle(title, fontsize=10)
    common.save(figure, path)


def write_summary(kinds, path):
    """Every point of every sweep, as a table."""
    head = ["sweep", "case", "bulk, s", "fused, s", "saved"]
    lines = [head, ["---"] * len(head)]
    for kind, sweeps, column in kinds:
        for name, rows in sorted(sweeps.items()):
            lines += [[f"{kind}, {name}", case(row, column), f"{seconds(row, 'bulk'):.4g}",
                       f"{seconds(row, 'fused'):.4g}", f"{saved(row):.1f} %"] for row in rows]
    path.write_text("".join(f"| {' | '.join(line)} |\n" for line in lines), encoding="utf-8")


def shown(time):
    """With a unit that fits."""
    return f"{time:.3g} s" if time >= 1 else f"{1e3 * time:.3g} ms"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def by_case(sweeps, column, cell):
    """One row per case, one column per model; `cell` gets a row and its sweep's first one."""
    names = sorted(sweeps, key=list(MODELS).index)
    cases = list(dict.fromkeys(case(row, column) for name in names for row in sweeps[name]))
    cells = {(name, case(row, column)): cell(row, sweeps[name][0])
             for name in names for row in sweeps[name]}
    return table(["", *(MODELS[name] for name in names)],
                 [[one, *(cells.get((name, one), "") for name in names)] for one in cases])


def longer(row, whole):
    """Than without a slow part, bulk and fused."""
    if row is whole:
        return f"{shown(seconds(row, 'bulk'))}, {shown(seconds(row, 'fused'))}"
    parts = [100 * (seconds(row, mode) / seconds(whole, mode) - 1) for mode in ("bulk", "fused")]
    return ", ".join(f"{part:+.0f} %" for part in parts)


def time_and_saved(row, _=None):
    return f"{shown(seconds(row, 'bulk'))}, {saved(row):.1f} %"


def tables(scaling, what_if, fabrics):
    """The block of docs/models.md."""
    nodes = sorted({int(row["nodes"]) for rows in scaling.values() for row in rows})
    names = sorted(scaling, key=lambda name: (list(MODELS).index(name.rsplit("_", 1)[0]), name))
    cells = {(name, int(row["nodes"])): time_and_saved(row)
             for name in names for row in scaling[name]}
    text = "A step in bulk, and what fusing saves of it:\n\n"
    text += table(["nodes", *(f"{MODELS[name.rsplit('_', 1)[0]]}, {name.rsplit('_', 1)[1]}"
                              for name in names)],
                  [[f"{n:,}", *(cells.get((name, n), "") for name in names)] for n in nodes])
    text += "\nOne slower part: a step in bulk and fused, and how much longer it takes:\n\n"
    text += by_case(what_if, "what_if", longer)
    text += "\nNetworks: a step in bulk, and what fusing saves of it:\n\n"
    return text + by_case(fabrics, "fabric", time_and_saved)


def with_block(document, block):
    before, rest = document.split(BEGIN)
    return f"{before}{BEGIN}\n{block}{END}{rest.split(END)[1]}"


def run_sweeps(kind, jobs, out):
    """By name: the rows of every sweep of this kind."""
    sweeps = {}
    for file in sorted((common.ROOT / "configs/sweeps").glob(f"{kind}_*.yaml")):
        folder = out / file.stem
        subprocess.run([common.WEFT, "sweep", file, "-o", folder, "-j", str(jobs)], check=True)
        sweeps[file.stem.removeprefix(f"{kind}_")] = read(folder)
    return sweeps


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="concurrent runs")
    parser.add_argument("-o", "--output", type=pathlib.Path,
                        default=common.ROOT / "results/reproduce_scaling",
                        help="folder for results")
    parser.add_argument("--update", action="store_true", help="write the tables of docs/models.md")
    parser.add_argument("--check", action="store_true", help="status 1 if they differ")
    arguments = parser.parse_args()
    out = arguments.output
    out.mkdir(parents=True, exist_ok=True)
    fabrics = run_sweeps("fabrics", arguments.jobs, out)
    draw_bars(fabrics, "fabric", "the same model under several networks", out / "fabrics.png")
    what_if = run_sweeps("what_if", arguments.jobs, out)
    draw_bars(what_if, "what_if", "what if one part is slower", out / "what_if.png")
    scaling = run_sweeps("scaling", arguments.jobs, out)
    draw_scaling(scaling, out / "scaling.png")
    write_summary([("scaling", scaling, "nodes"), ("what if", what_if, "what_if"),
                   ("fabrics", fabrics, "fabric")],
                  out / "summary.md")
    print((out / "summary.md").read_text(encoding="utf-8"), end="")
    print(f"\nresults: {out}/")
    document = common.ROOT / "docs/models.md"
    old = document.read_text(encoding="utf-8")
    new = with_block(old, tables(scaling, what_if, fabrics))
    if arguments.update:
        document.write_text(new, encoding="utf-8")
    if arguments.check and old != new:
        sys.exit("docs/models.md differs: scripts/reproduce scaling --update")


if __name__ == "__main__":
    main()
