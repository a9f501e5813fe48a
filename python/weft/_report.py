"""Results as the page that `weft report` makes, with its charts."""

from __future__ import annotations

import tempfile
from html import escape
from pathlib import Path
from typing import Mapping

from weft import _weft
from weft._configs import PathLike, installed
from weft._problems import warnings_or_raise

HEIGHT = 700  # of the page in a notebook, in pixels


class Report:
    """A page of Vega charts and tables that loads nothing from elsewhere: `html`. A notebook shows
    it; elsewhere save() it and open the file."""

    def __init__(self, html: str) -> None:
        self.html = html

    def save(self, path: PathLike) -> None:
        """Writes the page as one file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<weft.Report of {len(self.html)} characters>"

    def _repr_html_(self) -> str:
        # In a frame of its own, whose scripts reach nothing of the notebook.
        return (f'<iframe sandbox="allow-scripts allow-downloads" width="100%" height="{HEIGHT}"'
                f' style="border: 0" srcdoc="{escape(self.html)}"></iframe>')


def report_of(files: Mapping[str, str], *, of_sweep: bool) -> Report:
    """Of the files that `weft run -o` or `weft sweep -o` writes, by name."""
    with tempfile.TemporaryDirectory(prefix="weft_report_") as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8", newline="")
        paged = _weft.page(folder, of_sweep, _dirs("html", _weft.source_html),
                           _dirs("vega", _weft.vega))
    warnings_or_raise(paged.problems)
    return Report(paged.html)


def _dirs(name: str, otherwise: str) -> list[Path]:
    return [*installed(name), Path(otherwise)]
