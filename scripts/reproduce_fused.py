#!/usr/bin/python3
"""The claims about fused kernels, from configs/reproduce/fused.yaml: run, compare, draw.

Started by scripts/reproduce, which installs what this needs. Writes cases.csv, claims.md and
figures into -o.
"""
import csv
import itertools

import reproduce_common as common

plt = common.pyplot()


def points(sweep):
    """The settings of every combination of the axes. An axis of several keys is zipped."""
    axes = []
    for keys, values in sweep["axes"].items():
        names = keys.split(",")
        rows = [value if isinstance(value, list) else [value] for value in values]
        axes.append([dict(zip(names, row)) for row in rows])
    for combination in itertools.product(*axes):
        settings = dict(sweep["set"])
        for part in combination:
            settings.update(part)
        label = " | ".join("x".join(str(v) for v in part.values()) for part in combination)
        yield label, settings


def reductions(runner, sweep):
    """(label, bulk us, kernel us, fused us, reduction in per cent) of each case."""
    cases = list(points(sweep))
    results = runner.all([(sweep["scenario"], settings, []) for _, settings in cases])
    rows = []
    for (label, _), summary in zip(cases, results):
        time = {mode: of["time_us"] for mode, of in summary["modes"].items()}
        reduction = 100 * (1 - time["fused"] / time["bulk"])
        rows.append((label, time["bulk"], time["kernel"], time["fused"], reduction))
    return rows


def draw_sweep(sweep, rows, path):
    figure, axis = plt.subplots(figsize=(9, 3.6))
    places = range(len(rows))
    axis.bar([p - 0.2 for p in places], [row[2] / row[1] for row in rows], 0.4, label="kernel")
    axis.bar([p + 0.2 for p in places], [row[3] / row[1] for row in rows], 0.4, label="fused")
    axis.axhline(1, color="black", linewidth=0.8)
    mean = 1 - sweep["paper"]["mean"] / 100
    axis.axhline(mean, color="tab:red", linestyle="--", linewidth=1, label="paper: mean of fused")
    axis.set_xticks(list(places), [row[0] for row in rows], rotation=35, ha="right", fontsize=8)
    axis.set_xlabel(" | ".join(sweep["label"]))
    axis.set_ylabel("time / bulk")
    axis.set_title(sweep["name"])
    axis.legend(fontsize=8, loc="lower right")
    common.save(figure, path)


def sweeps(runner, what, out):
    """Rows of the claims' table, and all cases as CSV."""
    claims = []
    with open(out / "cases.csv", "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["sweep", "case", "bulk_time_us", "kernel_time_us", "fused_time_us",
                         "reduction_percent"])
        for sweep in what["sweeps"]:
            rows = reductions(runner, sweep)
            for row in rows:
                writer.writerow([sweep["name"], *row])
            draw_sweep(sweep, rows, out / f"{common.file_name(sweep['name'])}.png")
            gains = [row[4] for row in rows]
            paper = sweep["paper"]
            mean = sum(gains) / len(gains)
            claims.append([sweep["name"] + ": mean", f"{paper['mean']} %", f"{mean:.1f} %",
                           f"{mean - paper['mean']:+.1f} points", paper["tag"]])
            claims.append([sweep["name"] + ": largest", f"{paper['max']} %", f"{max(gains):.1f} %",
                           f"{max(gains) - paper['max']:+.1f} points", paper["tag"]])
    return claims


def orders(runner, what, out):
    study = what["orders"]
    results = runner.all([(study["scenario"], {"fused.order": order}, ["fused"])
                          for order in study["orders"]])
    skews = [100 * summary["modes"]["fused"]["gpu_end_skew"] for summary in results]
    figure, axis = plt.subplots(figsize=(5, 3))
    axis.bar(study["orders"], skews)
    axis.set_ylabel("last end / first end - 1, %")
    axis.set_title("skew of the nodes' end times by order of destinations")
    common.save(figure, out / "skew.png")
    claims = []
    for order, skew in zip(study["orders"], skews):
        claimed = study["paper"].get(order)
        if claimed is not None:
            claims.append([f"skew, {order}", f"{claimed} %", f"{skew:.1f} %",
                           f"{skew - claimed:+.1f} points", study["paper"]["tag"]])
    return claims


def occupancy(runner, what, out):
    study = what["occupancy"]
    counts = study["wgs_per_cu"]
    results = runner.all([(study["scenario"], {"fused.max_wgs_per_cu": n,
                                               "fused.extra_registers_per_thread": 0}, ["fused"])
                          for n in counts])
    times = [summary["modes"]["fused"]["time_us"] for summary in results]
    figure, axis = plt.subplots(figsize=(5, 3))
    axis.plot(counts, [t / 1000 for t in times], marker="o")
    axis.set_xlabel("resident WGs of the fused kernel per CU")
    axis.set_ylabel("time, ms")
    axis.set_title("occupancy, 128 nodes")
    common.save(figure, out / "occupancy.png")
    best = counts[times.index(min(times))]
    return [["occupancy at which fused is fastest, 128 nodes", study["paper"]["text"],
             f"{best} of {counts[-1]} WGs per CU", "holds" if best < counts[-1] else "DIFFERS",
             study["paper"]["tag"]]]


def main():
    runner, what, out = common.start("fused", __doc__)
    claims = sweeps(runner, what, out)
    claims += orders(runner, what, out)
    claims += occupancy(runner, what, out)
    common.write_claims(claims, out)


if __name__ == "__main__":
    main()
