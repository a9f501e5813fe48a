#!/usr/bin/python3
"""The claims about concurrent computation and communication, from configs/reproduce/c3.yaml: run,
compare, draw.

Started by scripts/reproduce, which installs what this needs. Writes cases.csv, alone.csv, claims.md
and figures into -o.
"""
import csv
import math

import reproduce_common as common

plt = common.pyplot()

CUS = 304             # MI300X
WG_THREADS = 256


def rounds(wgs, tile, per_cu):
    """Time of so many WGs on all CUs, in elements of a tile that a CU makes one after another."""
    return math.ceil(wgs / (CUS * per_cu)) * per_cu * tile


def compute_tile(gemm, rule):
    best = None
    for rows in rule["sides"]:
        for columns in rule["sides"]:
            tiles = math.ceil(gemm["m"] / rows) * math.ceil(gemm["n"] / columns)
            cost = (rounds(tiles, rows * columns, rule["wgs_per_cu"]), -rows * columns)
            if best is None or cost < best[0]:
                best = (cost, {"tile_m": rows, "tile_n": columns})
    return best[1]


def memory_tile(gemm, rule):
    best = None
    for columns in rule["columns"]:
        for split in rule["split_k"]:
            if gemm["k"] % split:
                continue
            wgs = math.ceil(gemm["n"] / columns) * split
            cost = (rounds(wgs, columns / split, rule["wgs_per_cu"]), split, -columns)
            if best is None or cost < best[0]:
                best = (cost, {"tile_m": gemm["m"], "tile_n": columns, "split_k": split})
    return best[1]


def settings_of(what, gemm, op):
    memory_bound = gemm["name"].startswith("mb")
    rule = what["tiles"]["memory" if memory_bound else "compute"]
    tile = memory_tile(gemm, rule) if memory_bound else compute_tile(gemm, rule)
    settings = {f"workload.gemm.{key}": gemm[key] for key in "mnk"}
    settings.update({f"workload.gemm.{key}": value for key, value in tile.items()})
    settings["workload.gemm.wg.registers_per_thread"] = rule["registers_per_thread"]
    settings["workload.gemm.wg.lds"] = rule["lds"]
    settings["workload.communication.op"] = op
    settings["workload.communication.bytes"] = gemm["bytes"]
    return settings


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def points(ours, paper):
    return f"{ours - paper:+.1f} points"


def best_swept(what, summary):
    tried = summary["c3"]["strategies"]["best"]["tried"]
    swept = [size for size in tried if size["cus"] in what["sweep"]]
    return min(swept, key=lambda size: size["together_us"])["cus"]


def run_cases(runner, what):
    """[(gemm, op, summary)], partition and priority+partition with the best size of the sweep."""
    of_size = ["partition", "priority+partition"]
    strategies = [name for name in what["strategies"] if name not in of_size]
    cases = [(gemm, op) for gemm in what["gemms"] for op in what["collectives"]]
    settings = [settings_of(what, gemm, op) for gemm, op in cases]
    found = runner.all([(what["scenario"], of, ["serial", *strategies]) for of in settings])
    again = runner.all([(what["scenario"], {**of, "c3.partition_cus": best_swept(what, summary)},
                         of_size) for of, summary in zip(settings, found)])
    for summary, sized in zip(found, again):
        summary["c3"]["strategies"].update(sized["c3"]["strategies"])
    return [(gemm, op, summary) for (gemm, op), summary in zip(cases, found)]


def value(case, strategy, field="fraction_of_ideal"):
    """Of a strategy; the paper takes CUs beside copy engines from memory-bound GEMMs only."""
    gemm, _, summary = case
    if strategy == "dma+partition" and not gemm["name"].startswith("mb"):
        strategy = "dma"
    return summary["c3"]["strategies"][strategy][field]


def write_cases(what, cases, path):
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["gemm", "what", "collective", "bytes", "balance", "compute_us",
                         "communicate_us", "ideal_speedup", "partition_cus", "best_cus",
                         "lookup_cus"]
                        + [f"{name}_percent_of_ideal" for name in what["strategies"]])
        for case in cases:
            gemm, op, summary = case
            c3 = summary["c3"]
            writer.writerow([gemm["name"], gemm["what"], op, gemm["bytes"], c3["balance"],
                             f"{c3['compute_us']:.1f}", f"{c3['communicate_us']:.1f}",
                             f"{c3['ideal_speedup']:.3f}",
                             c3["strategies"]["partition"]["partition_cus"],
                             c3["strategies"]["best"]["partition_cus"],
                             c3["strategies"]["lookup"]["partition_cus"]]
                            + [f"{100 * value(case, name):.1f}" for name in what["strategies"]])


def strategy_claims(what, cases):
    claims = []
    for name, of in what["strategies"].items():
        ours = 100 * mean(value(case, name) for case in cases)
        paper = of.get("paper")
        claims.append([f"{of.get('text', name)}: fraction of ideal, mean",
                       f"{paper} %" if paper else "-", f"{ours:.0f} %",
                       points(ours, paper) if paper else "-", of.get("tag", "-")])
    most = max(value(case, what["most"]["strategy"], "speedup") for case in cases)
    claims.append([f"{what['most']['strategy']}: largest speed-up", f"{what['most']['paper']}x",
                   f"{most:.2f}x", f"{most - what['most']['paper']:+.2f}x", what["most"]["tag"]])
    ideal = mean(case[2]["c3"]["ideal_speedup"] for case in cases)
    claims.append(["ideal speed-up, mean", "1.62x", f"{ideal:.2f}x", f"{ideal - 1.62:+.2f}x",
                   "[D] 13 % faster is 21 % of ideal"])
    return claims


def slow_downs(cases, kind, cus):
    """Per cent that GEMMs of this kind take longer with so many CUs less."""
    for gemm, _, summary in cases:
        if not gemm["name"].startswith(kind):
            continue
        for size in summary["c3"]["strategies"]["lookup"]["tried"]:
            if size["cus"] == cus:
                yield 100 * (size["compute_us"] / summary["c3"]["compute_us"] - 1)


def cu_claims(what, cases):
    claims = []
    taken = what["cus_taken"]
    for cus in (32, 64):
        ours = mean(slow_downs(cases, "cb", cus))
        claims.append([f"compute-bound GEMM with {cus} fewer CUs: slower by", f"{taken[cus]} %",
                       f"{ours:.1f} %", points(ours, taken[cus]), taken["tag"]])
    few = what["memory_bound_cus_taken"]
    ours = min(slow_downs(cases, "mb", 8))
    claims.append(["memory-bound GEMM with 8 fewer CUs, best case", f"{few[8]} %",
                   f"{ours:+.1f} %", points(ours, few[8]), few["tag"]])
    return claims


def on_cus(runner, what):
    """{op: {cus: us}} of the collective alone."""
    rule = what["saturation"]
    gemm = {**what["gemms"][0], "bytes": rule["bytes"]}
    jobs = [(what["scenario"], settings_of(what, gemm, op), ["lookup"])
            for op in what["collectives"]]
    return {op: {size["cus"]: size["communicate_us"]
                 for size in summary["c3"]["strategies"]["lookup"]["tried"]}
            for op, summary in zip(what["collectives"], runner.all(jobs))}


def saturation_claims(what, times):
    rule = what["saturation"]
    claims = []
    for op, of in times.items():
        least = min(of.values())
        ours = min(cus for cus, time in of.items()
                   if time <= least * (1 + rule["within_percent"] / 100))
        claims.append([f"{op} gains nothing beyond", f"{rule[op]} CUs", f"{ours} CUs",
                       f"{ours - rule[op]:+d} CUs", rule["tag"]])
    return claims


def by_engines(runner, what):
    """[(MiB, op, kernel us, engines us)]"""
    rule = what["engines"]
    cases = [(size, op) for size in rule["sizes_mib"] for op in what["collectives"]]
    jobs = [(what["scenario"],
             settings_of(what, {**what["gemms"][0], "bytes": f"{size} MiB"}, op),
             ["comm_alone", "comm_alone_dma"]) for size, op in cases]
    return [(size, op, summary["modes"]["comm_alone"]["time_us"],
             summary["modes"]["comm_alone_dma"]["time_us"])
            for (size, op), summary in zip(cases, runner.all(jobs))]


def engine_claims(what, rows):
    rule = what["engines"]
    small = [engines / kernel for size, _, kernel, engines in rows if size < 32]
    above = mean(engines / kernel for size, _, kernel, engines in rows if size > 32)
    return [[f"copy engines below {rule['below']}, time / kernel's: largest, mean of 1 to 16 MiB",
             f"{rule['paper_below']}x", f"{max(small):.1f}x, {mean(small):.1f}x",
             f"{max(small) - rule['paper_below']:+.1f}x, {mean(small) - rule['paper_below']:+.1f}x",
             rule["tag"]],
            ["copy engines above, time / kernel's", f"{rule['paper_above']}x", f"{above:.2f}x",
             f"{above - rule['paper_above']:+.2f}x", rule["tag"]]]


def draw_cases(what, cases, path):
    figure, axis = plt.subplots(figsize=(12, 4))
    shown = ["base", "comm_first", "partition", "dma", "dma+partition"]
    width = 0.8 / len(shown)
    for i, name in enumerate(shown):
        axis.bar([p + (i - 2) * width for p in range(len(cases))],
                 [value(case, name, "speedup") for case in cases], width, label=name)
    axis.plot(range(len(cases)), [case[2]["c3"]["ideal_speedup"] for case in cases], "k_",
              markersize=10, label="ideal")
    short = {"all_gather": "AG", "all_to_all": "A2A"}
    axis.set_xticks(range(len(cases)),
                    [f"{gemm['name']} {short[op]} {gemm['bytes']}" for gemm, op, _ in cases],
                    rotation=60, ha="right", fontsize=7)
    axis.set_ylim(bottom=0.8)
    axis.set_ylabel("speed-up over serial")
    axis.legend(fontsize=7, ncol=6)
    common.save(figure, path)


def draw_means(what, cases, path):
    figure, axis = plt.subplots(figsize=(6, 3.6))
    named = [name for name, of in what["strategies"].items() if "paper" in of]
    axis.bar([p - 0.2 for p in range(len(named))],
             [what["strategies"][name]["paper"] for name in named], 0.4, label="paper")
    axis.bar([p + 0.2 for p in range(len(named))],
             [100 * mean(value(case, name) for case in cases) for name in named], 0.4, label="weft")
    axis.set_xticks(range(len(named)), named, rotation=20, ha="right", fontsize=8)
    axis.set_ylabel("fraction of ideal, per cent")
    axis.legend(fontsize=8)
    common.save(figure, path)


def draw_alone(times, rows, path):
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
    for op, of in times.items():
        left.plot(list(of), [time / min(of.values()) for time in of.values()], "o-", label=op)
    left.set_xscale("log", base=2)
    left.set_xlabel("CUs of the collective")
    left.set_ylabel("time / shortest time")
    left.legend(fontsize=8)
    for op in times:
        sizes = [(size, engines / kernel) for size, o, kernel, engines in rows if o == op]
        right.plot([size for size, _ in sizes], [ratio for _, ratio in sizes], "o-", label=op)
    right.set_xscale("log", base=2)
    right.axhline(1, color="black", linewidth=0.8)
    right.set_xlabel("MiB")
    right.set_ylabel("copy engines' time / kernel's")
    right.legend(fontsize=8)
    common.save(figure, path)


def write_alone(times, rows, path):
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["what", "collective", "cus_or_mib", "time_us", "engines_time_us"])
        for op, of in times.items():
            for cus, time in of.items():
                writer.writerow(["on so many CUs", op, cus, f"{time:.1f}", ""])
        for size, op, kernel, engines in rows:
            writer.writerow(["kernel and engines", op, size, f"{kernel:.1f}", f"{engines:.1f}"])


def main():
    runner, what, out = common.start("c3", __doc__.splitlines()[0])
    cases = run_cases(runner, what)
    times = on_cus(runner, what)
    rows = by_engines(runner, what)
    write_cases(what, cases, out / "cases.csv")
    write_alone(times, rows, out / "alone.csv")
    draw_cases(what, cases, out / "speedups.png")
    draw_means(what, cases, out / "fractions.png")
    draw_alone(times, rows, out / "alone.png")
    common.write_claims(strategy_claims(what, cases) + cu_claims(what, cases)
                        + saturation_claims(what, times) + engine_claims(what, rows), out)


if __name__ == "__main__":
    main()
