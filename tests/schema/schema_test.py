#!/usr/bin/python3
"""Files against the JSON Schemas that `weft schema` prints, by Debian's python3-jsonschema.

    tests/schema/schema_test.py WEFT

All of configs/ and the scenarios of the goldens are accepted; broken ones are refused, and for the
right reason. Needs python3-yaml too.
"""

import json
import pathlib
import subprocess
import sys

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Which files are of which kind.
FILES = {
    "scenario": ["configs/scenarios", "tests/golden/runs"],
    "cluster": ["configs/clusters"],
    "gpu": ["configs/gpus"],
    "nic": ["configs/nics"],
    "model": ["configs/models"],
    "sweep": ["configs/sweeps"],
}

CLUSTER = """
name: broken
cluster: {base: clusters/node_4x_mi210%s}
"""
COLLECTIVE = "workload: {kind: collective, op: all_reduce, bytes: 1 MiB}\n"

# What is wrong; a scenario; what an error says, and where.
BROKEN = [
    ("a wrong unit", CLUSTER % ", scale_up: {link: {bandwidth: 400 Gbps}}" + COLLECTIVE,
     "does not match", "cluster.scale_up.link.bandwidth"),
    ("no unit", CLUSTER % ", scale_up: {link: {latency: 700}}" + COLLECTIVE,
     "is not of type 'string'", "cluster.scale_up.link.latency"),
    ("decimal for binary", CLUSTER % ", gpu: {cu: {lds: 64 KB}}" + COLLECTIVE,
     "does not match", "cluster.gpu.cu.lds"),
    ("an unknown key", CLUSTER % ", nods: 4" + COLLECTIVE,
     "Additional properties are not allowed ('nods' was unexpected)", "cluster"),
    ("a wrong word", CLUSTER % "" + COLLECTIVE + "fused: {order: backwards}\n",
     "is not one of", "fused.order"),
    ("a word twice", CLUSTER % "" + COLLECTIVE + "modes: [bulk, bulk]\n",
     "non-unique", "modes"),
    ("out of range", CLUSTER % ", nodes: 0" + COLLECTIVE,
     "less than the minimum", "cluster.nodes"),
    ("a key is missing", CLUSTER % "" + "workload: {kind: collective, op: all_reduce}\n",
     None, None),  # bytes: not always needed (a matrix); the reader says it
    ("no workload", CLUSTER % "", "'workload' is a required property", ""),
    ("no kind", CLUSTER % "" + "workload: {batch: 8}\n",
     "'kind' is a required property", "workload"),
    ("a torus without its sizes",
     CLUSTER % ", scale_out: {shape: torus, link: {bandwidth: 1 GB/s, latency: 1 us}}" + COLLECTIVE,
     None, None),  # the base of the map around it may have them
    ("sizes of a switch", CLUSTER % ", scale_out: {shape: switch, dims: [4, 4]}" + COLLECTIVE,
     "is not of type 'null'", "cluster.scale_out.dims"),
    ("a key of another kind", CLUSTER % "" + COLLECTIVE.replace("}", ", batch: 8}"),
     "is not of type 'null'", "workload.batch"),
    ("a list that is none", CLUSTER % "" + COLLECTIVE + "modes: bulk\n",
     "is not of type 'array'", "modes"),
    ("an element of the base's list", "name: x\nbase: scenarios/models/llama3_70b_pairs\n"
     "workload: {pairs: {'0': {slice_wgs: 4}, '1': ~}}\nmodes: {'0': fused}\n", None, None),
    ("a wrong key of such an element", "name: x\nbase: scenarios/models/llama3_70b_pairs\n"
     "workload: {pairs: {'0': {slice: 4}}}\n",
     "Additional properties are not allowed ('slice' was unexpected)", "workload.pairs.0"),
    ("an element without a number", "name: x\nbase: scenarios/models/llama3_70b_pairs\n"
     "workload: {pairs: {first: {slice_wgs: 4}}}\n",
     "'first' does not match any of the regexes", "workload.pairs"),
    ("a base that is a path", "name: x\ncluster: {base: /etc/passwd}\n" + COLLECTIVE,
     "does not match", "cluster.base"),
]


SWEEP = "name: broken\nscenario: scenarios/gemm_a2a_4_gpus\n"
BROKEN_SWEEPS = [
    ("an unknown key", SWEEP + "axes: [{key: cluster.nods, values: [1]}]\n",
     "'cluster.nods' is not one of", "axes.0.key"),
    ("elements of lists", SWEEP + "set: {workload.pairs.0.chunks: 2, modes.1: fused}\n"
     "axes: [{key: workload.pairs.1.slice_wgs, values: [1]}, "
     "{key: workload.pairs.0, values: [~]}]\n",
     None, None),
    ("a wrong key of an element", SWEEP + "axes: [{key: workload.pairs.1.slice, values: [1]}]\n",
     "'workload.pairs.1.slice' does not match", "axes.0.key"),
    ("a wrong value of an element", SWEEP + "set: {workload.pairs.1.slice_wgs: much}\n"
     "axes: [{key: modes, values: [a]}]\n", "is not of type", "set.workload.pairs.1.slice_wgs"),
    ("no values at all", SWEEP + "axes: []\n", "too short", "axes"),
    ("half a range", SWEEP + "axes: [{key: workload.batch, from: 1}]\n",
     "'to' is a dependency of 'from'", "axes.0"),
    ("a wrong unit", SWEEP + "set: {run.max_time: 1 h}\naxes: [{key: modes, values: [a]}]\n",
     "does not match", "set.run.max_time"),
    ("a zip with values", SWEEP + "axes: [{zip: [{key: modes, values: [a]}], values: [1]}]\n",
     "Additional properties", "axes.0"),
]


def schema_of(weft, kind):
    printed = subprocess.run([weft, "schema", kind], check=True, stdout=subprocess.PIPE).stdout
    schema = json.loads(printed)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def said(errors):
    return [(".".join(str(part) for part in error.absolute_path), error.message)
            for error in errors]


def refused(validator, kind):
    mistakes = []
    count = 0
    for folder in FILES[kind]:
        for path in sorted((ROOT / folder).rglob("*.yaml")):
            if "library" in path.parts:  # bases of the goldens, of every kind
                continue
            count += 1
            for where, message in said(validator.iter_errors(yaml.safe_load(path.read_text()))):
                mistakes.append(f"{path.relative_to(ROOT)}: {where}: {message}")
    if count == 0:
        mistakes.append(f"no files of kind {kind}")
    print(f"{kind}: {count} files")
    return mistakes


def accepted(validator, broken):
    mistakes = []
    for what, text, message, where in broken:
        errors = said(validator.iter_errors(yaml.safe_load(text)))
        if message is None:
            if errors:
                mistakes.append(f"{what}: only the reader can know that, but {errors}")
        elif not any(at == where and message in saying for at, saying in errors):
            mistakes.append(f"{what}: expected {message!r} at {where!r}, found {errors}")
    return mistakes


GRAPH = "gpus: 2\noperators:\n  - {name: a, gpus: [0, 1], %s}\n"
BROKEN_GRAPHS = [
    ("nothing wrong", GRAPH % "recorded: {time: 12.3 us, computes: {kind: copy, flops: 1 GFLOP}}",
     None, None),
    ("no unit", GRAPH % "recorded: {time: 12}", "is not of type 'string'",
     "operators.0.recorded.time"),
    ("an unknown key", GRAPH % "gemm: {m: 1, n: 1, k: 1, o: 1}", "Additional properties",
     "operators.0.gemm"),
    ("no operators", "gpus: 2\n", "'operators' is a required property", ""),
]


def main():
    weft = sys.argv[1]
    mistakes = []
    for kind in FILES:
        mistakes += refused(schema_of(weft, kind), kind)
    mistakes += accepted(schema_of(weft, "scenario"), BROKEN)
    mistakes += accepted(schema_of(weft, "sweep"), BROKEN_SWEEPS)
    mistakes += accepted(schema_of(weft, "graph"), BROKEN_GRAPHS)
    for mistake in mistakes:
        print(mistake)
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
