"""What the numbers of the GPUs in configs/gpus rest on: lines counted by the tags behind them."""
import pathlib
import re

import yaml

GPUS = pathlib.Path(__file__).resolve().parent.parent / "configs/gpus"
TAGS = {"M": "measured", "P": "published", "S": "published", "D": "derived", "BG": "unverified"}
KINDS = ("measured", "published", "derived", "unverified")
TAG = re.compile(r"\[(M|P|S|D|BG)\]")


def paths_of(node, path=()):
    """Each value's path and the line that it begins in. A list replaces a base's whole."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from paths_of(value, (*path, key.value))
    elif isinstance(node, yaml.SequenceNode):
        yield path, node.start_mark.line
        for item in node.value:
            yield (*path, item.start_mark.line), item.start_mark.line
    else:
        yield path, node.start_mark.line


def numbers_of(name):
    """The tags of the lines with numbers, by the first path there; all paths; the base."""
    text = (GPUS / f"{name}.yaml").read_text(encoding="utf-8")
    lines = text.splitlines()
    paths = list(paths_of(yaml.compose(text)))
    tags, seen = {}, set()
    for path, line in paths:
        tag = TAG.search(lines[line])
        says_more = not lines[line].split("#")[0].rstrip().endswith(":")
        if tag and says_more and line not in seen:
            seen.add(line)
            tags[path] = TAGS[tag[1]]
    return tags, {path for path, _ in paths}, yaml.safe_load(text).get("base")


def is_hidden(path, own):
    """Whether the file says something else there, or for all around it."""
    return any(path[:len(other)] == other or other[:len(path)] == path for other in own)


def counts(tags):
    return [sum(kind == tag for tag in tags.values()) for kind in KINDS]


def table():
    lines = ["| GPU | measured | published | derived | unverified "
             "| taken over: from, lines, of them measured |", "|---|---|---|---|---|---|"]
    for file in sorted(GPUS.glob("*.yaml")):
        own, said, base = numbers_of(file.stem)
        if not own:
            continue
        over, bases = {}, []
        while base:
            bases.append(base)
            given, paths, base = numbers_of(base)
            over |= {path: tag for path, tag in given.items() if not is_hidden(path, said)}
            said |= paths
        taken = (f"{', '.join(bases)}, {len(over)}, {counts(over)[0]}" if bases else "")
        lines.append(f"| {file.stem} | {' | '.join(map(str, counts(own)))} | {taken} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
