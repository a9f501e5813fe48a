#!/usr/bin/python3
"""Runs the training steps that the torchtitan team published and prints how far weft is off:
tokens per second and GPU, and the memory of the fullest GPU (configs/reproduce/torchtitan.yaml).

Started by scripts/reproduce, which installs what this needs.
"""
import statistics

import yaml

import reproduce_common as common

STEP = ("sequences", "sequence_length")
PUBLISHED = ("tps", "gib", "mode")


def name_of(group, line):
    told = (f"{key} {line[key]}" for key in ("sequence_length", "schedule", "mode") if key in line)
    return ", ".join([group["name"], *told])


def scenario_of(study, group, line):
    of_line = {key: value for key, value in line.items() if key not in PUBLISHED}
    step = {key: of_line.pop(key) for key in STEP if key in of_line}
    workload = {**study["workload"], **group["workload"], **step}
    workload["parallel"] = {**study["workload"]["parallel"],
                            **group["workload"].get("parallel", {}), **of_line}
    if of_line.get("context") == 1:
        workload["parallel"].pop("context_exchange")
    parallel = workload["parallel"]
    gpus = parallel["data"]
    for key in ("tensor", "context", "pipeline"):
        gpus *= parallel.get(key, 1)
    cluster = {**study["cluster"], "nodes": gpus // 8}
    if gpus == 8:
        cluster.update(scale_out=None, nic=None)
    return {"name": name_of(group, line), "cluster": cluster, "workload": workload,
            "modes": [line.get("mode", group.get("mode", "bulk"))],
            "run": {"beyond_memory": "warn", "max_time": "1000 s"}}


def main():
    runner, study, out = common.start("torchtitan", __doc__)
    lines = [(group, line) for group in study["groups"] for line in group["lines"]]
    paths = []
    (out / "scenarios").mkdir(parents=True, exist_ok=True)
    for group, line in lines:
        scenario = scenario_of(study, group, line)
        path = out / "scenarios" / f"{common.file_name(scenario['name'])}.yaml"
        path.write_text(yaml.safe_dump(scenario, sort_keys=False), encoding="utf-8")
        paths.append(path)
    summaries = common.in_parallel(common.summary_of, paths, runner.jobs)
    rows = []
    for (group, line), path in zip(lines, paths):
        summary = summaries[path]
        (mode,) = summary["modes"].values()
        tps = mode["tokens_per_s_per_gpu"]
        gib = mode["memory_of_fullest_gpu_bytes"] / 2**30
        rows.append({"name": name_of(group, line), "published_tokens_per_s_per_gpu": line["tps"],
                     "weft_tokens_per_s_per_gpu": tps, "error": tps / line["tps"] - 1,
                     "published_gib": line["gib"], "weft_gib": gib})
        print(f"{rows[-1]['name']:76} published {line['tps']:5} tokens/s   weft {tps:7.1f}   "
              f"{100 * rows[-1]['error']:+6.1f} %   {line['gib']} GiB, {gib:.1f}")
    common.write_csv(out / "torchtitan.csv", rows)
    off = [abs(row["error"]) for row in rows]
    print(f"{len(rows)} steps: median {100 * statistics.median(off):.1f} %, worst "
          f"{100 * max(off):.1f} %")
    print(f"results: {out}/")


if __name__ == "__main__":
    main()
