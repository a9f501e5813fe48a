"""CSV tables as columns, rows, and DataFrames of pandas."""

from __future__ import annotations

import csv
import importlib
import io
from typing import Any, Callable, Sequence, Union

Columns = dict[str, Any]  # a NumPy array or a list each
Value = Union[int, float, str]

_ALWAYS_TEXT = ("point", "fingerprint", "status", "error")  # a hash may look like a number


def columns_of(text: str) -> dict[str, list[Value]]:
    """Whole columns of integers or numbers become such; an empty cell among numbers is a NaN."""
    header, *lines = csv.reader(io.StringIO(text, newline=""))
    cells = zip(*lines) if lines else ([] for _ in header)
    return {name: _typed(name, list(column)) for name, column in zip(header, cells)}


def arrays_of(columns: dict[str, list[Value]]) -> Columns:
    """NumPy's arrays; lists, if it is not installed."""
    try:
        numpy = importlib.import_module("numpy")
    except ImportError:
        return dict(columns)
    return {name: numpy.asarray(column) for name, column in columns.items()}


def frame_of(columns: dict[str, list[Value]]) -> Any:
    """A DataFrame; pandas' ImportError, if it is not installed."""
    return importlib.import_module("pandas").DataFrame(columns)


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> str:
    """For notebooks."""
    from html import escape

    def line(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    caption = f"<caption>{escape(title)}</caption>" if title else ""
    body = "".join(line("td", row) for row in rows)
    return f"<table>{caption}<thead>{line('th', header)}</thead><tbody>{body}</tbody></table>"


def _typed(name: str, cells: list[str]) -> list[Value]:
    if name.endswith(_ALWAYS_TEXT) or not any(cells):
        return list(cells)
    return _all(int, cells) or _all(_number, cells) or list(cells)


def _all(to: Callable[[str], Value], cells: list[str]) -> list[Value]:
    """Nothing unless all of them are such."""
    try:
        return [to(cell) for cell in cells]
    except ValueError:
        return []


def _number(cell: str) -> float:
    return float(cell) if cell else float("nan")
