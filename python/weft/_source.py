"""What a caller gives, as the compiled half takes it: a file or a text, and PATH=VALUE."""

from __future__ import annotations

import json
import os
from typing import Any, Iterable, Mapping, Optional, Union

from weft import _weft
from weft._configs import PathLike

Scenario = Union[Mapping[str, Any], PathLike]
Overrides = Optional[Mapping[str, Any]]
Modes = Union[None, str, Iterable[str]]


def source_of(given: Scenario, what: str) -> tuple[_weft.Source, PathLike]:
    """The source, and its name in messages; a TypeError about `what` for other types."""
    if isinstance(given, Mapping):
        return _weft.Source("<dict>", _json(given, indent=2)), "<dict>"
    if isinstance(given, os.PathLike):
        return _weft.Source(given), given
    if not isinstance(given, str):
        raise TypeError(f"{what} is a dict, a path or text in YAML, not {type(given).__name__}")
    if _is_text(given):
        return _weft.Source("<text>", given), "<text>"
    return _weft.Source(given), given


def sets_of(overrides: Overrides, modes: Modes = None) -> list[str]:
    """As --set takes them, modes last."""
    sets = [f"{path}={_value(value)}" for path, value in (overrides or {}).items()]
    if modes is not None:
        names = [modes] if isinstance(modes, str) else list(modes)
        sets.append(f"modes=[{', '.join(names)}]")
    return sets


def _is_text(given: str) -> bool:
    """The name of a file has neither ends of lines nor `key: value`."""
    return "\n" in given or ": " in given or given.lstrip().startswith("{")


def _value(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Any, indent: Optional[int] = None) -> str:
    """JSON, which YAML includes; maps, paths and NumPy's numbers and arrays may be in it."""
    return json.dumps(value, indent=indent, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a scenario cannot hold a {type(value).__name__}")
