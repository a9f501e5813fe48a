#!/usr/bin/python3
"""Other fused kernels as published, beside modes fused, role_split and copy_fed: claims.md; and
what each way of overlapping brings over bulk, pair by pair of two models: pairs.csv.

Started by scripts/reproduce, which installs what this needs.
"""
import collections
import csv
import itertools
import json
import statistics
import subprocess

import reproduce_common as common

UNFUSED = ["chunked", "pipelined"]
FUSED = ["fused", "role_split", "copy_fed"]


def time_us(summary, mode):
    return summary["modes"][mode]["time_us"]


def difference(value, paper):
    return f"{100 * (value / paper - 1):+.1f} %"


def times(runner, study):
    """GEMMs alone and with their reduce-scatter; what fusing brings over bulk."""
    runs = runner.all([(study["scenario"], {study["key"]: value}, ["bulk", "fused"])
                       for value in study["values"]])
    claims = []
    for value, gemm, fused, run in zip(study["values"], study["gemm"], study["fused"], runs):
        for what, paper, us in [("GEMM", gemm, run["modes"]["bulk"]["computing_us"]),
                                ("GEMM + reduce-scatter, fused", fused, time_us(run, "fused"))]:
            claims.append([f"{study['name']}, {what}, k {value}", f"{paper} ms",
                           f"{us / 1000:.3f} ms", difference(us / 1000, paper), study["tag"]])
    gains = [time_us(run, "bulk") / time_us(run, "fused") for run in runs]
    low, high = study["over_bulk"]
    claims.append([f"{study['name']}, fused over bulk", f"{low} to {high}x",
                   f"{min(gains):.2f} to {max(gains):.2f}x", "", study["tag"]])
    return claims


def roles(runner, study):
    runs = runner.all([(study["scenario"], {"fused.sending_cus": cus}, ["fused", "role_split"])
                       for cus in study["sending_cus"]])
    split = [time_us(run, "role_split") for run in runs]
    ratio = min(split) / time_us(runs[0], "fused")
    best = study["sending_cus"][split.index(min(split))]
    return [[f"{study['name']}, time of role_split over fused", f"{study['paper']}x",
             f"{ratio:.2f}x ({best} CUs send)", difference(ratio, study["paper"]), study["tag"]]]


def gains(runner, study):
    runs = runner.all([(study["scenario"], {**study["set"], study["key"]: value},
                        ["bulk", study["mode"]]) for value in study["values"]])
    found = [time_us(run, "bulk") / time_us(run, study["mode"]) for run in runs]
    mean = sum(found) / len(found)
    low, high = study["paper"]
    paper = f"{low} to {high}x" if low != high else f"{low}x"
    off = "within" if low <= mean <= high else difference(mean, min(max(mean, low), high))
    return [[study["name"], paper, f"{min(found):.2f} to {max(found):.2f}x, mean {mean:.2f}x", off,
             study["tag"]]]


def hidden(runner, study):
    run, = runner.all([(study["scenario"], study["set"], ["bulk", "copy_fed"])])
    exposed = [run["modes"][mode]["exposed_comm_us"] for mode in ("bulk", "copy_fed")]
    share = 100 * (1 - exposed[1] / exposed[0])
    return [[study["name"], f"up to {study['paper']} %", f"{share:.0f} %",
             f"{share - study['paper']:+.0f} points", study["tag"]]]


def table_of(study, sets, folder, name):
    """The rows of a table of the study's run."""
    command = [common.WEFT, "run", common.ROOT / f"configs/{study['scenario']}.yaml", "--quiet",
               "-o", folder, *(word for one in sets for word in ("--set", one))]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open(folder / name, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def operators(study, gpus, sequences, folder, more=()):
    """Rows of operators.csv by operator, of so many GPUs that share the experts."""
    sets = [f"cluster.nodes={gpus // 8}", f"workload.sequences={sequences}",
            f"workload.parallel.data={gpus}", f"workload.parallel.expert={gpus}",
            f"cluster.scale_out.endpoints_per_leaf={min(gpus, 32)}"]
    if gpus == 8:
        sets[-1] = "cluster.scale_out=~"
    sets += more
    return {row["operator"]: row for row in table_of(study, sets, folder, "operators.csv")}


def puts(study, out):
    """Dispatch, the mean over GPUs, and combine, on the critical path with its sum."""
    claims = []
    for gpus, dispatch, combine in zip(study["gpus"], study["dispatch"], study["combine"]):
        rows = operators(study, gpus, 128 * gpus, out / f"puts_{gpus}")
        found = [("dispatch", dispatch, float(rows["dispatch"]["mean_us"])),
                 ("combine", combine, float(rows["combine"]["critical_us"]) +
                  float(rows["experts_sum"]["mean_us"]))]
        claims += [[f"{study['name']}, {what}, {gpus} GPUs", f"{paper} us", f"{us:.0f} us",
                    difference(us, paper), study["tag"]] for what, paper, us in found]
    return claims


def us_of_puts(study, shape, folder):
    """Weft's dispatch, and its combine on the critical path with its sum, by the lines' kind."""
    sets = [f"workload.sequences={2 * shape['tokens']}",
            f"workload.microbatch={shape['tokens']}",
            f"workload.model.hidden={shape['hidden']}",
            f"workload.moe.experts={shape['experts']}", f"workload.moe.top_k={shape['top_k']}",
            f"workload.moe.dispatch_dtype={'fp8' if shape['bits'] == 8 else 'model'}"]
    rows = {row["operator"]: row for row in table_of(study, sets, folder, "operators.csv")}
    return {"micro.row_puts": float(rows["dispatch"]["longest_us"]),
            "micro.row_puts_home": float(rows["combine"]["critical_us"]) +
            float(rows["experts_sum"]["mean_us"])}


def measured_puts(study, out):
    """Dispatch and combine of our own kernels on two GPUs: us from the start of the kernel to the
    end of its last WG, by the SM's clock, and weft's."""
    with open(common.ROOT / study["lines"], encoding="utf-8") as stream:
        lines = [row for row in map(json.loads, stream) if row["kind"] != "meta"]
    print(f"\n{study['name']}: measured us, weft, difference")
    found = {}
    errors = collections.defaultdict(list)
    for row in lines:
        shape = {name: row[name] for name in ("tokens", "hidden", "experts", "top_k", "bits")}
        text = ", ".join(f"{name} {value}" for name, value in shape.items())
        if text not in found:
            found[text] = us_of_puts(study, shape, out / "row_puts")
        us = found[text][row["kind"]]
        measured = row["ended_ns"] / 1e3
        errors[row["kind"]].append(us / measured - 1)
        what = "combine" if row["kind"].endswith("home") else "dispatch"
        print(f"  {text}, {what}: {measured:.1f}, {us:.1f}, {difference(us, measured)}")
    for kind, each in errors.items():
        worst = max(each, key=abs)
        print(f"  {kind}: median {100 * statistics.median(map(abs, each)):.1f} %, worst "
              f"{100 * worst:+.1f} %")


def nodes_reached(nodes, study):
    """Of how many nodes a token has experts, the mean: experts in the order in which it likes them,
    each any of those left, count if their node is among the first so many that appear."""
    each = study["experts"] // nodes
    most = min(nodes, study["top_groups"])
    reached = {0: 1.0}
    for taken in range(study["top_k"]):
        then = collections.Counter()
        for seen, chance in reached.items():
            new = (nodes - seen) * each if seen < most else 0
            left = seen * each - taken
            then[seen] += chance * left / (new + left)
            then[seen + 1] += chance * new / (new + left)
        reached = then
    return sum(seen * chance for seen, chance in reached.items())


def once(study, out):
    """Rates as DeepEP's test has them: what comes to a GPU in one node; in several, what its tokens
    are for all nodes, its own too."""
    claims = []
    for i, gpus in enumerate(study["gpus"]):
        nodes = gpus // 8
        groups = [f"workload.moe.groups={nodes}",
                  f"workload.moe.top_groups={min(nodes, study['top_groups'])}"]
        if nodes == 1:
            groups[1] = "workload.moe.top_groups=~"
        rows = operators(study, gpus, gpus, out / f"once_{gpus}", groups)
        tokens = study["tokens"] * (nodes_reached(nodes, study) if nodes > 1 else
                                    nodes_reached(gpus, {**study, "top_groups": gpus}))
        for what in ("dispatch", "combine"):
            rate = tokens * study[f"{what}_row"] / float(rows[what]["longest_us"]) / 1e3
            paper = study[what][i]
            claims.append([f"{study['name']}, {what}, {gpus} GPUs", f"{paper} GB/s",
                           f"{rate:.1f} GB/s", difference(rate, paper), study["tag"]])
    return claims


def experts(study, out):
    """The number of sending CUs with which both pairs of a layer are fastest, and their gain."""
    claims = []
    for split, tokens, published in study["cases"]:
        found = {}
        for cus in study["sending_cus"]:
            sets = [f"workload.parallel.expert_tensor={split}",
                    f"workload.parallel.expert={8 // split}",
                    f"workload.sequence_length={tokens // 8}", f"fused.sending_cus={cus}"]
            rows = [row for row in table_of(study, sets, out / "experts", "fusions.csv")
                    if not row["obstacle"]]
            found[cus] = [sum(float(row[f"{mode}_us"]) for row in rows)
                          for mode in ("role_split", "bulk")]
        best = min(found, key=found.get)
        near = [cus for cus, (us, _) in found.items() if us < 1.02 * found[best][0]]
        name = f"{study['name']}, experts split among {split}, {tokens} tokens"
        claims.append([f"{name}, CUs that send", f"{published} of 132",
                       f"{best}; within 2 %: {min(near)} to {max(near)}", "", study["tag"]])
        gain = found[best][1] / found[best][0]
        low, high = study["gain"]
        claims.append([f"{name}, role_split over bulk", f"{low} to {high}x", f"{gain:.2f}x",
                       "within" if low <= gain <= high else "", study["tag"]])
    return claims


def shown(runner, study):
    runs = runner.all([(study["scenario"], {**study["set"], study["key"]: value},
                        ["bulk", "fused"]) for value in study["values"]])
    print(f"\n{study['name']}: us in bulk, fused")
    for value, run in zip(study["values"], runs):
        print(f"  {value}: {time_us(run, 'bulk'):.1f}, {time_us(run, 'fused'):.1f}")


def gains_of_pairs(study, model, tokens, out):
    """{pair: {way: bulk's time over its}}, from the run's fusions.csv."""
    folder = out / f"{model}_{tokens}"
    sets = [f"workload.base=models/{model}", f"workload.sequence_length={tokens}"]
    return {row["pair"]: {way: float(row["bulk_us"]) / float(row[f"{way}_us"])
                          for way in UNFUSED + FUSED}
            for row in table_of(study, sets, folder, "fusions.csv")}


def pairs(study, out):
    """What each way brings over bulk; what the best fused one brings over the best other one."""
    found = {tokens: [] for tokens in study["tokens"]}
    with open(out / "pairs.csv", "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["model", "tokens", "pair", *UNFUSED, *FUSED])
        for model, tokens in itertools.product(study["models"], study["tokens"]):
            for pair, gain in gains_of_pairs(study, model, tokens, out).items():
                writer.writerow([model, tokens, pair, *(f"{gain[way]:.3f}" for way in gain)])
                found[tokens].append(gain)
    for tokens, each in found.items():
        print(f"\n{study['name']}, {tokens} tokens, {len(each)} pairs: bulk's time over that of")
        for way in UNFUSED + FUSED:
            print(f"  {way:10} {min(g[way] for g in each):.2f} to {max(g[way] for g in each):.2f}")
        over = [max(g[way] for way in FUSED) / max(1, *(g[way] for way in UNFUSED)) for g in each]
        print(f"  best fused over best other: {min(over):.2f} to {max(over):.2f}, "
              f"{sum(ratio > 1 for ratio in over)} of {len(over)} faster")


def main():
    runner, what, out = common.start("overlap", __doc__)
    claims = times(runner, what["times"]) + roles(runner, what["roles"])
    for study in what["gains"]:
        claims += gains(runner, study)
    claims += hidden(runner, what["hidden"])
    claims += puts(what["puts"], out) + once(what["once"], out)
    claims += experts(what["experts"], out)
    common.write_claims(claims, out)
    for study in what["shown"]:
        shown(runner, study)
    pairs(what["pairs"], out)
    measured_puts(what["measured_puts"], out)


if __name__ == "__main__":
    main()
