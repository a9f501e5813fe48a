"""What the numbers of the GPUs in configs/gpus rest on: counted by the tags behind them."""
import pathlib
import re

GPUS = pathlib.Path(__file__).resolve().parent.parent / "configs/gpus"
TAGS = {"M": "measured", "P": "published", "S": "published", "D": "derived", "BG": "unverified"}
KINDS = ("measured", "published", "derived", "unverified")
LINE = re.compile(r"(?P<indent> *)(?P<item>- )?(?P<key>[\w]+)?:?(?P<rest>.*)")
TAG = re.compile(r"\[(M|P|S|D|BG)\]")


def numbers_of(name):
    """The tag of each number that the file itself gives, by its path; and its base."""
    tags, path, base = {}, [], None
    for at, line in enumerate((GPUS / f"{name}.yaml").read_text(encoding="utf-8").splitlines()):
        text = line.split("#")[0].rstrip()
        if not text:
            continue
        found = LINE.match(text)
        depth = len(found["indent"])
        path = [(d, key) for d, key in path if d < depth] + [(depth, found["key"] or str(at))]
        where = ".".join(key for _, key in path)
        if where == "base":
            base = text.split(":")[1].strip()
        tag = TAG.search(line)
        if tag and text.split(":", 1)[-1].strip():
            tags[where] = TAGS[tag[1]]
    return tags, base


def counts(tags):
    return [sum(kind == tag for tag in tags.values()) for kind in KINDS]


def table():
    lines = ["| GPU | measured | published | derived | unverified "
             "| taken over: from, numbers, of them measured |", "|---|---|---|---|---|---|"]
    for file in sorted(GPUS.glob("*.yaml")):
        own, base = numbers_of(file.stem)
        if not own:
            continue
        over, bases = {}, []
        while base:
            bases.append(base)
            given, base = numbers_of(base)
            over = {**given, **over}
        over = {where: tag for where, tag in over.items()
                if not any(f"{where}.".startswith(f"{key}.") or key.startswith(f"{where}.")
                           for key in own)}
        taken = (f"{', '.join(bases)}, {len(over)}, {counts(over)[0]}" if bases else "")
        lines.append(f"| {file.stem} | {' | '.join(map(str, counts(own)))} | {taken} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
