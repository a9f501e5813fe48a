"""The results of one run."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from weft import _tables
from weft._problems import Problem
from weft._report import Report, report_of


class Result:
    """What `weft run -o` writes, in memory: `files` has the text of each, by name."""

    def __init__(self, files: dict[str, str], warnings: tuple[Problem, ...] = ()) -> None:
        self.files = files
        self.warnings = warnings

    @cached_property
    def summary(self) -> dict[str, Any]:
        """summary.json (docs/results.md)."""
        return json.loads(self.files["summary.json"])

    @property
    def modes(self) -> dict[str, dict[str, Any]]:
        """What the summary has of each mode: "time_us" and more."""
        return self.summary["modes"]

    def time_us(self, mode: str) -> float:
        """The simulated time of this mode."""
        if mode not in self.modes:
            raise ValueError(f"{mode!r} was not run; there are {', '.join(self.modes)}")
        return self.modes[mode]["time_us"]

    @property
    def tables(self) -> list[str]:
        """The names that table() and frame() take."""
        return [name[:-len(".csv")] for name in self.files if name.endswith(".csv")]

    def table(self, name: str) -> _tables.Columns:
        """A table's columns: arrays if NumPy is installed, else lists."""
        return _tables.arrays_of(self._columns(name))

    def frame(self, name: str) -> Any:
        """A table as a DataFrame of pandas."""
        return _tables.frame_of(self._columns(name))

    def report(self) -> Report:
        """The page of `weft report`, with its charts."""
        if not self.tables:
            raise ValueError("tables=False: a run without tables has no charts")
        return report_of(self.files, of_sweep=False)

    def __repr__(self) -> str:
        times = ", ".join(f"{mode} {self.time_us(mode):g} us" for mode in self.modes)
        return f"<weft.Result {times}>"

    def _repr_html_(self) -> str:
        rows = [[name, f"{mode['time_us']:,.3f}", self._speedup(name)]
                for name, mode in self.modes.items()]
        return _tables.html_table(["mode", "time us", "vs bulk"], rows, self._name())

    def _name(self) -> str:
        return str(self.summary.get("scenario", ""))

    def _speedup(self, mode: str) -> str:
        bulk = self.modes.get("bulk")
        return f"{bulk['time_us'] / self.time_us(mode):.2f}x" if bulk else ""

    def _columns(self, name: str) -> dict[str, list[_tables.Value]]:
        if name not in self.tables:
            raise ValueError(f"no table {name!r}; there are {', '.join(self.tables) or 'none'}")
        return _tables.columns_of(self.files[f"{name}.csv"])
