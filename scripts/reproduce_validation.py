#!/usr/bin/python3
"""Runs `weft validate` on the times in calibration/measurements and writes how far it is off.

    scripts/reproduce validation [--update | --check] [-j N] [-o DIR]

Figures and CSV files go to results/reproduce_validation/. --update writes the tables into README.md
and docs/accuracy.md; --check ends with status 1 if they differ.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

import yaml

import reproduce_common as common
import reproduce_ranges
import reproduce_sources

ROOT = pathlib.Path(__file__).resolve().parent.parent
WEFT = ROOT / "build/release/sim/weft"
BEGIN = "<!-- errors: scripts/reproduce validation --update -->"
END = "<!-- end of errors -->"
CSV_FILES = set()  # that this run has written


def validate(measured, out, jobs, name=None):
    """What `weft validate` finds in one set; its CSV and figure stay in `out`."""
    name = name or measured.get("name") or "_on_".join(
        pathlib.Path(measured[of]).stem for of in ("measured", "cluster"))
    files = {end: out / f"{name}.{end}" for end in ("json", "csv", "svg")}
    CSV_FILES.add(files["csv"])
    command = [WEFT, "validate", measured["measured"], "--cluster", measured["cluster"],
               "--kernels", measured.get("kernels", "configs/validation"),
               "--json", files["json"], "--csv", files["csv"], "-q", "-j", str(jobs)]
    for change in measured.get("set", []):
        command += ["--set", change]
    subprocess.run(command, cwd=ROOT, check=True)
    plot = [ROOT / "scripts/plot_validation", files["csv"], "-o", files["svg"]]
    subprocess.run(plot, check=True)
    return json.loads(files["json"].read_text(encoding="utf-8"))


def percent(value):
    return f"{100 * value:.1f} %"


def family_of(case):
    return case["kind"].split(".")[0]


def summary_rows(title, found, families):
    """Rows of the short table: a family's times, and what fusing brings."""
    rows = []
    for family, words in families.items():
        errors = [case["error"] for case in found["cases"] if family_of(case) == family]
        if not errors:
            continue
        worst = max(errors, key=abs)
        errors = [abs(error) for error in errors]
        ratios = [abs(case["predicted"] - case["measured"]) for case in found["fused_over_bulk"]
                  if family_of(case) == family]
        fused = ""
        if ratios:
            fused = f"{statistics.median(ratios):.3f}, {common.ninth_decile(ratios):.3f}"
        rows.append(f"| {title} | {words} | {len(errors)} | {percent(statistics.median(errors))} | "
                    f"{percent(common.ninth_decile(errors))} | {100 * worst:+.1f} % | {fused} |")
    return rows


def short_table(sets, found, families):
    lines = ["| measured | what | times | median error | 90 % within | worst "
             "| fused / bulk off by: median, 90 % |", "|---|---|---|---|---|---|---|"]
    for measured, result in zip(sets, found):
        lines += summary_rows(measured["title"], result, families)
    return "\n".join(lines)


def long_tables(sets, found):
    text = []
    for measured, result in zip(sets, found):
        kernels = measured["kernels"]
        text += [f"## {measured['title'][0].upper()}{measured['title'][1:]}", "",
                 f"    weft validate {measured['measured']} \\",
                 f"      --cluster {measured['cluster']} --kernels {kernels}"
                 + "".join(f" --set '{change}'" for change in measured.get("set", [])), "",
                 "| kind | times | median error | 90 % within | worst | bias |",
                 "|---|---|---|---|---|---|"]
        for kind, e in result["error_by_kind"].items():
            text.append(f"| {kind} | {e['cases']} | {percent(e['median'])} | {percent(e['p90'])} | "
                        f"{100 * e['worst']:+.1f} % | {100 * e['bias']:+.1f} % |")
        text.append("")
        if not result["fused_over_bulk"]:
            continue
        text += ["| fused / bulk, difference | cases | median | 90 % within | worst | bias |",
                 "|---|---|---|---|---|---|"]
        for kind, e in result["fused_over_bulk_difference_by_kind"].items():
            text.append(f"| {kind} | {e['cases']} | {e['median']:.3f} | {e['p90']:.3f} | "
                        f"{e['worst']:+.3f} | {e['bias']:+.3f} |")
        text.append("")
    return "\n".join(text)


def print_public(sets, out, jobs):
    """The errors of published measurements by kind; a set whose file is absent is named."""
    lines = ["| measured | what | times | median error | 90 % within | worst |",
             "|---|---|---|---|---|---|"]
    for measured in sets:
        if not (ROOT / measured["measured"]).exists():
            print(f"skipped: {measured['title']}: {measured['measured']} is not there")
            continue
        name = "public_" + pathlib.Path(measured["cluster"]).stem
        for kind, e in validate(measured, out, jobs, name)["error_by_kind"].items():
            lines.append(f"| {measured['title']} | {kind} | {e['cases']} | {percent(e['median'])} "
                         f"| {percent(e['p90'])} | {100 * e['worst']:+.1f} % |")
    if len(lines) > 2:
        print("\n".join(lines))


def pages(sets, found, families):
    """Path and text of each page that holds a table."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    before, rest = readme.split(BEGIN)
    after = rest.split(END)[1]
    table = short_table(sets, found, families)
    accuracy = ("# How far predictions are off\n\n"
                "Made by `scripts/reproduce validation --update`; do not edit. The reasons for the "
                "errors are in\n[validation.md](validation.md), what was measured and "
                "how in [calibration/README.md](../calibration/README.md).\n\n"
                + long_tables(sets, found)
                + "\n## What the GPUs' numbers rest on\n\n"
                "Numbers in `configs/gpus`, by the tag behind each: measured, published (or quoted "
                "by others), derived from such, general knowledge that nobody checked.\nWhat error "
                "to expect is in [validation.md](validation.md).\n\n"
                + reproduce_sources.table() + "\n")
    return {ROOT / "README.md": f"{before}{BEGIN}\n{table}\n{END}{after}",
            ROOT / "docs/accuracy.md": accuracy}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="N",
                        help="concurrent simulations")
    parser.add_argument("-o", type=pathlib.Path, default=ROOT / "results/reproduce_validation",
                        metavar="DIR")
    parser.add_argument("--update", action="store_true", help="write the tables into the documents")
    parser.add_argument("--check", action="store_true",
                        help="exit with status 1 if the documents differ")
    options = parser.parse_args()
    what = yaml.safe_load((ROOT / "configs/reproduce/validation.yaml").read_text(encoding="utf-8"))
    options.o.mkdir(parents=True, exist_ok=True)
    out = options.o.resolve()
    found = [validate(measured, out, options.j) for measured in what["sets"]]
    print(short_table(what["sets"], found, what["families"]))
    print()
    print_public(what["public"], out, options.j)
    ranges, files_differ = reproduce_ranges.table(CSV_FILES)
    print("\nMeasured over predicted, by law (`errors` of a GPU's file, for `weft run --range`):\n")
    print("\n".join(ranges))
    inside = [one for file in sorted(CSV_FILES)
              for one in reproduce_ranges.ratios_within(file.with_suffix(".json"))]
    print(f"\nfused / bulk: {sum(inside)} of {len(inside)} measured ones are in their 80 % range")
    if files_differ:
        print("not as measured: " + ", ".join(files_differ))
    print(f"\nCSV files and figures: {options.o}", file=sys.stderr)
    differ = [path for path, text in pages(what["sets"], found, what["families"]).items()
              if not path.exists() or path.read_text(encoding="utf-8") != text]
    if options.update:
        for path, text in pages(what["sets"], found, what["families"]).items():
            path.write_text(text, encoding="utf-8")
    elif options.check and files_differ and all((ROOT / public["measured"]).exists()
                                                for public in what["public"]):
        sys.exit("not as measured: " + ", ".join(files_differ))
    elif options.check and differ:
        sys.exit("out of date (run scripts/reproduce validation --update): "
                 + ", ".join(str(path.relative_to(ROOT)) for path in differ))


if __name__ == "__main__":
    main()
