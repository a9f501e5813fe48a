#!/usr/bin/env python3
"""Packs the built module as a wheel, with the configs and what reports are drawn with.

    make_wheel.py PACKAGE VERSION CONFIGS HTML VEGA -o FOLDER

PACKAGE is the folder `weft` of a build. The wheel is for this Python and this machine's kind, and
wants the shared libraries that the module was linked with (those of Debian 12). Equal files make
equal bytes. CMake calls this: cmake --build BUILD --target weft_wheel.
"""

import argparse
import base64
import hashlib
import pathlib
import sys
import sysconfig
import zipfile

LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest time of a zip file
METADATA = """Metadata-Version: 2.1
Name: weft
Version: {version}
Summary: Simulator of GPU clusters, work-group by work-group
Requires-Python: >={python}
Provides-Extra: frames
Requires-Dist: numpy; extra == "frames"
Requires-Dist: pandas; extra == "frames"
"""
WHEEL = """Wheel-Version: 1.0
Generator: weft
Root-Is-Purelib: false
Tag: {tag}
"""


def tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{python}-{platform}"


def files_below(folder, suffix=""):
    return sorted(path for path in folder.rglob(f"*{suffix}")
                  if path.is_file() and "__pycache__" not in path.parts)


def content(options):
    """{name in the wheel: bytes}"""
    files = {f"weft/{path.relative_to(options.package)}": path.read_bytes()
             for path in files_below(options.package)}
    shared = {"configs": files_below(options.configs), "html": files_below(options.html),
              "vega": files_below(options.vega, ".min.js")}
    roots = {"configs": options.configs, "html": options.html, "vega": options.vega}
    for name, paths in shared.items():
        if not paths:
            sys.exit(f"make_wheel.py: {roots[name]}: no files for share/weft/{name}")
    for name, paths in shared.items():  # PREFIX/share/weft/NAME, as `cmake --install` has it
        for path in paths:
            below = path.relative_to(roots[name])
            files[f"weft-{options.version}.data/data/share/weft/{name}/{below}"] = path.read_bytes()
    info = f"weft-{options.version}.dist-info"
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    files[f"{info}/METADATA"] = METADATA.format(version=options.version, python=python).encode()
    files[f"{info}/WHEEL"] = WHEEL.format(tag=tag()).encode()
    return files


def record_of(files, name):
    lines = []
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}\n")
    return "".join([*lines, f"{name},,\n"]).encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=pathlib.Path)
    parser.add_argument("version")
    for folder in ("configs", "html", "vega"):
        parser.add_argument(folder, type=pathlib.Path)
    parser.add_argument("-o", type=pathlib.Path, required=True, metavar="FOLDER")
    options = parser.parse_args()
    files = content(options)
    record = f"weft-{options.version}.dist-info/RECORD"
    files[record] = record_of(files, record)
    options.o.mkdir(parents=True, exist_ok=True)
    wheel = options.o / f"weft-{options.version}-{tag()}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, data)
    print(wheel)


if __name__ == "__main__":
    main()
