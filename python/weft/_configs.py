"""Where bases are looked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Iterable, Optional, Union

from weft import _weft

PathLike = Union[str, "os.PathLike[str]"]
Folders = Optional[Iterable[PathLike]]


def installed(folder: str) -> list[Path]:
    """One of the folders that are installed with weft, below the same prefix; none: it is not."""
    for above in Path(__file__).resolve().parents:
        if (above / "share/weft" / folder).is_dir():
            return [above / "share/weft" / folder]
    return []


def _own() -> list[Path]:
    """The configs that came with weft: installed below the same prefix, or of the source tree."""
    source = Path(_weft.source_configs)
    return installed("configs") or ([source] if source.is_dir() else [])


def folders(config_dirs: Folders = None) -> list[Path]:
    """Those given, those of WEFT_CONFIGS (separated as in PATH), and weft's own."""
    given = [Path(folder) for folder in config_dirs or ()]
    named = os.environ.get("WEFT_CONFIGS", "").split(os.pathsep)
    return given + [Path(folder) for folder in named if folder] + _own()


def folders_for(file: PathLike, config_dirs: Folders = None) -> list[Path]:
    """For this file: first the folders named `configs` above it, as on the command line."""
    return _weft.config_dirs(file, folders(config_dirs))


def config_path(name: str, config_dirs: Folders = None) -> Path:
    """The file of a config, by the name that a base takes: "clusters/node_4x_h200"."""
    where = folders(config_dirs)
    found = _weft.find_base(name, where)
    if not found.name:
        raise FileNotFoundError(_weft.missing_base(name, where))
    return found
