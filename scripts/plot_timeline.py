#!/usr/bin/python3
"""Draws one GPU of a timeline, mode above mode: the WGs that compute, and its communication.

    weft run configs/scenarios/embedding_a2a_2_nodes.yaml --mode bulk --mode fused \\
      --trace two_nodes.json.gz --trace-detail all
    scripts/plot_timeline.py two_nodes.json.gz -o docs/timeline_bulk_fused.png

Each mode has two rows on one time axis. Above: WGs of compute or fused kernels at work, as a share
of their maximum. Below: how busy the busiest link is on which the GPU sends (or the link that
--link names), red while the GPU computes nothing. The dashed lines are the ends of the modes. The
trace needs --trace-detail all. Needs scripts/setup --plots.

--stages 0,8,16,24 draws a pipeline instead, for which --trace-detail kernels is enough: a row for a
GPU of each stage, with forwards, gradients of inputs and of weights, the optimiser, and a thin line
below for every send that it takes part in.
"""

import argparse
import bisect
import gzip
import json
import sys

COMPUTING, HIDDEN, EXPOSED = "#56B4E9", "#009E73", "#D55E00"  # as in scripts/plot.py, and reports


# What a kernel of a model is for, by how its operator's name ends; anything else is a forward.
PIPELINE = {"forward": "#56B4E9", "gradients of inputs": "#E69F00",
            "gradients of weights": "#009E73", "optimiser": "#999999"}
SEND = "#CC79A7"


class Mistake(Exception):
    """What the user can fix."""


def read(path):
    try:
        with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
            return json.load(file)["traceEvents"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Mistake(f"{path}: not a timeline of weft run --trace: {error}") from error


def processes(events):
    """By mode: the process of the cluster, and that of each GPU."""
    modes = {}
    for event in events:
        if event["name"] == "process_name":
            mode, _, what = event["args"]["name"].partition(": ")
            if what.startswith("GPU ") and what[4:].isdigit():
                modes[mode]["gpus"][int(what[4:])] = event["pid"]
            else:
                modes[mode] = {"cluster": event["pid"], "gpus": {}}
    return modes


def steps_of(changes):
    """(times, values) of a quantity that starts at 0 and changes by so much at those times."""
    times, values, now = [0.0], [0], 0
    for at in sorted(changes):
        now += changes[at]
        times.append(at)
        values.append(now)
    return times, values


def computing_wgs(events, pid):
    """WGs of the GPU's compute and fused kernels that are at work, over time."""
    kernels = {e["name"] for e in events
               if e.get("pid") == pid and e.get("cat") in ("compute", "fused")}
    changes = {}
    for event in events:
        if event["ph"] != "X" or event["pid"] != pid:
            continue
        # Waits of a WG are slices of their own, after that of the work.
        if event["cat"] == "wg" and event["name"] in kernels:
            end = event["ts"] + event["dur"]
            changes[event["ts"]] = changes.get(event["ts"], 0) + 1
            changes[end] = changes.get(end, 0) - 1
    if not changes:
        raise Mistake("no WGs of this GPU are in the timeline; record it with --trace-detail all")
    return steps_of(changes)


def links_of(events, pid):
    """Counters of single links: their names end in the link's, such as 'nic_send nic0 send'."""
    counters = {}
    for event in events:
        if event["ph"] == "C" and event["pid"] == pid and " mean" not in event["name"]:
            counters.setdefault(event["name"], []).append((event["ts"], event["args"]["%"]))
    return {name: tuple(zip(*sorted(points))) for name, points in counters.items()
            if not name.startswith(("CU busy", "HBM busy"))}


def sends_of(gpu, counters):
    names = [name for name in counters
             if name.endswith(f" nic{gpu} send") or f" {gpu}->" in name]
    if not names:
        raise Mistake(f"no links of GPU {gpu} are in the timeline: {', '.join(counters)}; "
                      "choose one with --link")
    return max(names, key=lambda name: max(counters[name][1]))


def end_of(events, pids):
    return max(e["ts"] + e["dur"] for e in events if e["ph"] == "X" and e["pid"] in pids)


def value_at(series, at):
    times, values = series
    i = bisect.bisect_right(times, at)
    return values[i - 1] if i else 0


def pieces(series, wgs, end):
    """(start, length, height, exposed) wherever the link, or whether anything computes, changes."""
    cuts = sorted({t for t in (*series[0], *wgs[0], end) if t <= end})
    result = []
    for start, stop in zip(cuts, cuts[1:]):
        height = value_at(series, start)
        exposed = value_at(wgs, start) == 0
        if result and result[-1][2:] == (height, exposed):
            result[-1] = (result[-1][0], stop - result[-1][0], height, exposed)
        else:
            result.append((start, stop - start, height, exposed))
    return [piece for piece in result if piece[2] > 0]


def thinned(series, length):
    """The same within a pixel: means over intervals of that length."""
    times, values = series
    means, at, i, now = [], 0.0, 0, 0
    while i < len(times):
        until, area, last = at + length, 0.0, at
        while i < len(times) and times[i] < until:
            area += now * (times[i] - last)
            last, now, i = times[i], values[i], i + 1
        means.append((at, (area + now * (until - last)) / length))
        at = until
    means.append((at, 0))
    return tuple(zip(*means))


def draw(events, options):
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "weft", "font.size": 9})
    from matplotlib import pyplot

    modes = processes(events)
    ends = {mode: end_of(events, one["gpus"].values()) / 1000 for mode, one in modes.items()}
    figure, rows = pyplot.subplots(2 * len(modes), 1, sharex=True, figsize=(8.0, 1.9 * len(modes)),
                                   facecolor="white")
    most = None
    for (mode, one), work, wire in zip(modes.items(), rows[::2], rows[1::2]):
        if options.gpu not in one["gpus"]:
            raise Mistake(f"there is no GPU {options.gpu} in the timeline")
        pid = one["gpus"][options.gpu]
        wgs = computing_wgs(events, pid)
        counters = links_of(events, one["cluster"])
        link = options.link or sends_of(options.gpu, counters)
        if link not in counters:
            raise Mistake(f"no link '{link}'; links: {', '.join(counters)}")
        most = most or max(wgs[1])
        smooth = thinned(wgs, max(ends.values()) * 1000 / 400)
        work.fill_between([t / 1000 for t in smooth[0]], [100 * v / most for v in smooth[1]],
                          step="post", color=COMPUTING, lw=0)
        work.set_ylabel("WGs", rotation=0, ha="right", va="center")
        work.set_title(f"{mode}, {ends[mode]:.2f} ms", loc="left", fontsize=10, weight="bold",
                       pad=3)
        for start, length, height, exposed in pieces(counters[link], wgs, ends[mode] * 1000):
            wire.bar(start / 1000, height, length / 1000, align="edge", lw=0,
                     color=EXPOSED if exposed else HIDDEN)
        wire.set_ylabel("sends", rotation=0, ha="right", va="center")
        for axes in (work, wire):
            axes.set(ylim=(0, 108), yticks=[0, 100], yticklabels=["0", "100 %"])
            axes.spines[["top", "right"]].set_visible(False)
            axes.axvline(ends[mode], color="0.2", lw=1, ls="--")
    first, last = list(modes)[0], list(modes)[-1]
    if ends[last] < ends[first]:
        saved = ends[first] - ends[last]
        rows[-2].annotate("", (ends[last], 50), (ends[first], 50),
                          arrowprops={"arrowstyle": "<->", "color": "0.2"})
        rows[-2].text((ends[first] + ends[last]) / 2, 58, ha="center", va="bottom",
                      s=f"saved: {saved:.2f} ms, {100 * saved / ends[first]:.0f} %",
                      bbox={"fc": "white", "ec": "none", "alpha": 0.8, "pad": 1})
        for axes in rows[-2:]:
            axes.axvline(ends[first], color="0.2", lw=1, ls="--")
    rows[-1].set(xlim=(0, max(ends.values()) * 1.01), xlabel="time, ms")
    figure.align_ylabels(rows)
    patches = [matplotlib.patches.Patch(color=colour, label=label) for colour, label in
               ((COMPUTING, "WGs computing"), (HIDDEN, "link busy while the GPU computes"),
                (EXPOSED, "link busy, nothing computes: exposed communication"))]
    figure.legend(handles=patches, loc="lower center", ncols=3, frameon=False, fontsize=8)
    figure.tight_layout(rect=(0, 0.04, 1, 1), h_pad=0.4)
    figure.savefig(options.output, dpi=130,
                   metadata={"Date": None} if options.output.endswith(".svg") else None)


def purpose(name):
    if name.endswith("optimizer"):
        return "optimiser"
    if name.endswith(("weight_gradient", "embedding_backward")):
        return "gradients of weights"
    if name.endswith(("_gradient", "_backward")):
        return "gradients of inputs"
    return "forward"


def stage_rows(events, pid):
    """By purpose (start, length) of the GPU's compute kernels; and of its sends."""
    rows = {what: [] for what in (*PIPELINE, "send")}
    for event in events:
        if event["ph"] != "X" or event["pid"] != pid:
            continue
        if event["cat"] in ("compute", "fused"):
            rows[purpose(event["name"])].append((event["ts"], event["dur"]))
        elif event["cat"] == "collective" and event["name"].startswith("send_"):
            rows["send"].append((event["ts"], event["dur"]))
    return rows


def draw_pipeline(events, options):
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "weft", "font.size": 9})
    from matplotlib import pyplot

    (mode, one), *_ = processes(events).items()
    missing = [gpu for gpu in options.stages if gpu not in one["gpus"]]
    if missing:
        raise Mistake(f"there is no GPU {missing[0]} in the timeline")
    figure, axes = pyplot.subplots(figsize=(11.0, 0.8 + 0.55 * len(options.stages)))
    for row, gpu in enumerate(options.stages):
        found = stage_rows(events, one["gpus"][gpu])
        for what, colour in PIPELINE.items():
            spans = [(start / 1000, length / 1000) for start, length in found[what]]
            axes.broken_barh(spans, (row - 0.4, 0.7), color=colour, lw=0)
        axes.broken_barh([(start / 1000, length / 1000) for start, length in found["send"]],
                         (row + 0.33, 0.1), color=SEND, lw=0)
    end = end_of(events, one["gpus"].values()) / 1000
    axes.set(xlim=(0, end), xlabel="time, ms", yticks=range(len(options.stages)),
             yticklabels=[f"GPU {gpu}" for gpu in options.stages], title=f"{mode}, {end:.2f} ms")
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    patches = [matplotlib.patches.Patch(color=colour, label=label)
               for label, colour in (*PIPELINE.items(), ("send", SEND))]
    figure.tight_layout(rect=(0, 0.09, 1, 1))
    figure.legend(handles=patches, loc="lower center", ncols=5, frameon=False, fontsize=8)
    figure.savefig(options.output, dpi=130,
                   metadata={"Date": None} if options.output.endswith(".svg") else None)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("timeline", help="written by weft run --trace --trace-detail all")
    parser.add_argument("-o", "--output", required=True, help=".png or .svg")
    parser.add_argument("--gpu", type=int, default=0, help="which GPU; default: 0")
    parser.add_argument("--link", help="counter of the link to draw; default: the GPU's busiest")
    parser.add_argument("--stages", type=lambda text: [int(gpu) for gpu in text.split(",")],
                        metavar="GPU,..", help="a pipeline: one GPU of each stage")
    options = parser.parse_args(arguments)
    try:
        (draw_pipeline if options.stages else draw)(read(options.timeline), options)
    except Mistake as mistake:
        sys.exit(f"plot_timeline: {mistake}")


if __name__ == "__main__":
    main()
