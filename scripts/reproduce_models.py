#!/usr/bin/python3
"""Whole models, from configs/reproduce/models.yaml: run, compare, draw.

Started by scripts/reproduce, which installs what this needs. Writes cases.csv, claims.md and
figures into -o: where the time of the 128-node recommendation model goes, and by how much fusing
shortens its step over a range of the unknown sizes.
"""
import csv

import reproduce_common as common

plt = common.pyplot()


def reduction(summary):
    time = {mode: of["time_us"] for mode, of in summary["modes"].items()}
    return 100 * (1 - time["fused"] / time["bulk"])


def draw_parts(summary, path):
    """One bar per mode: parts that compute, parts that are waited for (hatched), idle."""
    figure, axis = plt.subplots(figsize=(7, 3.2))
    modes = list(summary["modes"])
    names = sorted({name for of in summary["modes"].values() for name in of["parts"]})
    colours = dict(zip(names, plt.get_cmap("tab20").colors))
    left = [0.0] * len(modes)
    most = max(of["time_us"] for of in summary["modes"].values()) / 1000

    def add(label, values, **style):
        if max(values) > 0.005 * most:
            axis.barh(modes, values, left=left, label=label, **style)
        for i, value in enumerate(values):
            left[i] += value

    for kind, hatch in (("computing", None), ("exposed", "///")):
        for name in names:
            values = [of["parts"].get(name, {}).get(f"{kind}_us", 0) / 1000
                      for of in summary["modes"].values()]
            add(name + (", exposed" if hatch else ""), values, color=colours[name], hatch=hatch,
                edgecolor="white")
    add("idle", [of["idle_us"] / 1000 for of in summary["modes"].values()], color="lightgrey")
    axis.invert_yaxis()
    axis.set_xlabel("time of a step, ms; mean over GPUs")
    axis.set_title(summary["scenario"])
    axis.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.22), ncol=4)
    common.save(figure, path)


def draw_region(study, panels, path):
    """A map of reductions for each panel; what lies within the paper's range is framed."""
    (row_key, rows), (column_key, columns) = study["axes"].items()
    low, high = study["paper"]["low"], study["paper"]["high"]
    figure, axes = plt.subplots(1, len(panels), figsize=(4.2 * len(panels), 3.4), squeeze=False)
    most = max(max(map(max, grid)) for grid in panels.values())
    for axis, (title, grid) in zip(axes[0], panels.items()):
        axis.imshow(grid, cmap="cividis", vmin=0, vmax=most, aspect="auto")
        for i, line in enumerate(grid):
            for j, value in enumerate(line):
                axis.text(j, i, f"{value:.0f} %", ha="center", va="center",
                          color="black" if value > most / 2 else "white")
                if low <= value <= high:
                    axis.add_patch(plt.Rectangle((j - 0.46, i - 0.46), 0.92, 0.92, fill=False,
                                                 edgecolor="red", linewidth=2))
        axis.set_xticks(range(len(columns)), columns)
        axis.set_yticks(range(len(rows)), rows)
        axis.set_xlabel(column_key)
        axis.set_ylabel(row_key)
        axis.set_title(title, fontsize=9)
    figure.suptitle(f"time that fusing saves; red: {low} to {high} %", fontsize=10)
    common.save(figure, path)


def region(runner, study, out):
    (row_key, rows), (column_key, columns) = study["axes"].items()
    (panel_key, panels), = study["panels"].items()
    cases = [(panel, row, column) for panel in panels for row in rows for column in columns]
    results = runner.all([(study["scenario"], {panel_key: panel, row_key: row, column_key: column},
                           ["bulk", "fused"]) for panel, row, column in cases])
    reductions = dict(zip(cases, map(reduction, results)))
    with open(out / "cases.csv", "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([panel_key, row_key, column_key, "bulk_time_us", "fused_time_us",
                         "reduction_percent"])
        for case, summary in zip(cases, results):
            writer.writerow([*case, summary["modes"]["bulk"]["time_us"],
                             summary["modes"]["fused"]["time_us"], reductions[case]])
    draw_region(study, {f"{panel_key}: {panel}": [[reductions[(panel, row, column)]
                                                   for column in columns] for row in rows]
                        for panel in panels}, out / "region.png")
    return list(reductions.values())


def main():
    runner, what, out = common.start("models", __doc__)
    study = what["dlrm"]
    summary, = runner.all([(study["scenario"], {}, [])])
    draw_parts(summary, out / "parts.png")
    all_cases = region(runner, study, out)
    paper = study["paper"]
    within = [value for value in all_cases if paper["low"] <= value <= paper["high"]]
    ours = reduction(summary)
    common.write_claims([
        ["a step of DLRM, 128 nodes, fused: the scenario",
         f"{paper['high']} % (v1: {paper['low']} %)",
         f"{ours:.1f} %", f"{ours - paper['high']:+.1f} points", paper["tag"]],
        ["the same over a range of the unknown sizes", f"{paper['low']} to {paper['high']} %",
         f"{min(all_cases):.1f} to {max(all_cases):.1f} %",
         f"{len(within)} of {len(all_cases)} cases within", paper["tag"]]], out)


if __name__ == "__main__":
    main()
