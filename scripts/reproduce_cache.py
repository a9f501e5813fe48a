#!/usr/bin/python3
"""Runs the cache model's 17 applications under every policy and compares them with the paper.

    scripts/reproduce cache [--update | --check] [-j N] [-o DIR]

Then memory-bound GEMMs on fewer CUs. Writes cache.csv, cache.json, table.md, claims.md, times.png
and few_cus/ into results/reproduce_cache/.
--update writes the table into docs/cache.md; --check ends with status 1 if it differs.
"""
import argparse
import os
import pathlib
import subprocess
import sys

import yaml

import reproduce_common as common
import reproduce_few_cus as few_cus

plt = common.pyplot()
PAGE = common.ROOT / "docs/cache.md"
PARTS = ("policies", "few_cus")  # of the page, between comments of these names


def run(machine, out, jobs):
    """What `weft cache` finds: {application: {policy: measures}}."""
    command = [common.WEFT, "cache", "--machine", machine, "-q", "-j", str(jobs), "-o", out]
    subprocess.run(command, cwd=common.ROOT, check=True)
    found = {}
    for one in common.read_json(out / "cache.json")["runs"]:
        found.setdefault(one["application"], {})[one["policy"]] = one
    return found


class Study:
    def __init__(self, what, found):
        self.static = what["static"]
        self.policies = what["static"] + what["optimised"]
        self.last = what["optimised"][-1]
        self.found = found
        self.slower = 1 + what["class_percent"] / 100
        self.best = 1 + what["best_percent"] / 100
        self.close = 1 + what["close_percent"] / 100
        self.classes = {name: [] for name in what["classes"]}
        for application in sorted(found):
            self.classes[self.class_of(application)].append(application)
        self.order = [(name, application) for name, members in self.classes.items()
                      for application in members]

    def over(self, application, policy):
        return self.found[application][policy]["over_best_static"]

    def class_of(self, application):
        times = {policy: self.over(application, policy) for policy in self.static}
        uncached = times.pop("uncached")
        if uncached > self.slower:
            return "reuse-sensitive"
        if max(times.values()) > self.slower * uncached:
            return "throughput-sensitive"
        return "memory-insensitive"

    def best_policy(self, application):
        return min(self.static, key=lambda policy: self.over(application, policy))

    def percents(self, application, measure, policies):
        of = self.found[application]
        return ", ".join(f"{100 * of[policy][measure]:.0f}" for policy in policies)


def table(study):
    lines = ["| | class | best static us | " + " | ".join(study.policies) + " | row hits % "
             "| L1, L2 stalled % |", "|---|---|---|" + "---|" * (len(study.policies) + 2)]
    for name, application in study.order:
        of = study.found[application]
        best = of[study.best_policy(application)]["time_us"]
        times = " | ".join(f"{study.over(application, policy):.2f}" for policy in study.policies)
        stalls = ", ".join(f"{100 * of[policy][level]:.0f}"
                           for policy in ("cache_rw", study.last)
                           for level in ("l1_stalled_share", "l2_stalled_share"))
        rows = study.percents(application, "row_hit_rate", ["uncached", "cache_rw", study.last])
        lines.append(f"| {application} | {name} | {best:.1f} | {times} | {rows} | {stalls} |")
    return "\n".join(lines)


def mean(study, measure, policy):
    values = [of[policy][measure] for of in study.found.values()]
    return f"{100 * sum(values) / len(values):.0f} %"


def loss(worst, application):
    return f"{100 * (worst - 1):.1f} % ({application})"


def claims(study):
    everywhere = {policy: max((study.over(application, policy), application)
                              for application in study.found) for policy in study.policies}
    best = {policy: sum(study.over(application, policy) <= study.best
                        for application in study.found) for policy in study.static}
    off = {policy: loss(*everywhere[policy]) for policy in study.policies}
    within = [application for application in study.found
              if study.over(application, study.last) <= study.close]
    one_size = any(everywhere[policy][0] <= study.best for policy in study.static)
    return [
        ["no static policy is best everywhere", "claimed",
         f"best within {100 * (study.best - 1):.0f} %, of {len(study.found)}: "
         + ", ".join(f"{policy} {n}" for policy, n in best.items()),
         "not found" if one_size else "found", "[P] abstract"],
        ["largest loss of a static policy", "unknown",
         ", ".join(f"{policy} {off[policy]}" for policy in study.static), "", "[BG]"],
        ["all optimisations match the best static policy everywhere", "consistently",
         f"within {100 * (study.close - 1):.0f} %: {len(within)} of {len(study.found)}; "
         f"largest loss: {off[study.last]}",
         "found" if len(within) == len(study.found) else "not everywhere", "[P] abstract"],
        ["caching causes stalls: mean share of the time, L1, L2", "claimed",
         "; ".join(f"{policy} {mean(study, 'l1_stalled_share', policy)}, "
                   f"{mean(study, 'l2_stalled_share', policy)}"
                   for policy in ("uncached", "cache_rw", "allocation_bypass", study.last)),
         "", "[S]"],
        ["caching disrupts DRAM rows: mean share of row hits", "claimed",
         "; ".join(f"{policy} {mean(study, 'row_hit_rate', policy)}"
                   for policy in ("uncached", "cache_rw", "cache_rinse")), "", "[S]"]]


def draw(study, path):
    """Bars of each application, those of a class side by side."""
    figure, axis = plt.subplots(figsize=(15, 4.6))
    colours = dict(zip(study.policies, ["#9a9a9a", "#56b4e9", "#0072b2", "#f0e442", "#e69f00",
                                        "#d55e00"]))
    width = 0.8 / len(study.policies)
    places, place, before = [], 0.0, None
    top = max(study.over(application, policy) for application in study.found
              for policy in study.policies)
    for name, application in study.order:
        if before not in (None, name):
            place += 0.6
            axis.axvline(place - 0.8, color="black", linewidth=0.6)
        if before != name:
            axis.text(place - 0.4, top * 1.04, name.replace("-", "-\n"), fontsize=10)
        places.append(place)
        for i, policy in enumerate(study.policies):
            axis.bar(place - 0.4 + (i + 0.5) * width, study.over(application, policy), width,
                     color=colours[policy], edgecolor="white", linewidth=0.3,
                     label=policy if len(places) == 1 else None)
        before = name
        place += 1
    axis.axhline(1, color="black", linewidth=0.8)
    axis.grid(axis="y", linewidth=0.4)
    axis.set_axisbelow(True)
    axis.set_xticks(places, [application for _, application in study.order], rotation=35,
                    ha="right")
    axis.set_xlim(-0.6, place - 0.4)
    axis.set_ylim(0, top * 1.17)
    axis.set_ylabel("time / best static policy")
    axis.legend(ncol=1, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))
    common.save(figure, path)


def page_with(tables):
    page = PAGE.read_text(encoding="utf-8")
    for name, text in zip(PARTS, tables):
        begin, end = f"<!-- {name}: scripts/reproduce cache --update -->", f"<!-- end of {name} -->"
        before, rest = page.split(begin)
        page = f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}"
    return page


def options_of():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="concurrent runs")
    parser.add_argument("-o", "--output", type=pathlib.Path,
                        default=common.ROOT / "results/reproduce_cache", help="folder for results")
    parser.add_argument("--update", action="store_true", help="write the table into docs/cache.md")
    parser.add_argument("--check", action="store_true",
                        help="exit with status 1 if docs/cache.md differs")
    return parser.parse_args()


def main():
    options = options_of()
    text = (common.ROOT / "configs/reproduce/cache.yaml").read_text(encoding="utf-8")
    what = yaml.safe_load(text)
    out = options.output.resolve()
    study = Study(what, run(what["machine"], out, options.jobs))
    few = few_cus.times(what["few_cus"], out / "few_cus", options.jobs)
    tables = [table(study), few_cus.table(what["few_cus"], few)]
    text = "\n\n".join(tables) + "\n"
    (out / "table.md").write_text(text, encoding="utf-8")
    print(text)
    draw(study, out / "times.png")
    common.write_claims(claims(study) + [few_cus.claim(what["few_cus"], few)], out)
    if options.update:
        PAGE.write_text(page_with(tables), encoding="utf-8")
    elif options.check and PAGE.read_text(encoding="utf-8") != page_with(tables):
        sys.exit("docs/cache.md is out of date; run scripts/reproduce cache --update")


if __name__ == "__main__":
    main()
