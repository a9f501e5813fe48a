"""weft.tune: the best of many configurations, with few simulations."""

from __future__ import annotations

import json
from concurrent.futures import Executor
from typing import Any, Optional, Sequence, Union

from weft import _weft
from weft._configs import Folders, PathLike, folders
from weft._known import known_folder
from weft._problems import RunError, warnings_or_raise
from weft._source import Overrides, Scenario, sets_of, source_of
from weft._sweep import Rows, outcomes_of


Columns = Union[None, str, Sequence[str]]


class Tuned:
    """What was found: `answer` is tune.json (docs/tuning.md), `scenario` the best one as YAML,
    `rows` the points that were simulated; as text it is what `weft tune` prints."""

    def __init__(self, answer: _weft.TuneAnswer, rows: Rows) -> None:
        self.answer: dict[str, Any] = json.loads(answer.json)
        self.scenario = answer.best
        self.rows = rows
        self._text = answer.text

    @property
    def best(self) -> dict[str, Any]:
        """"value", "mode", "values" of the knobs."""
        return self.answer["best"]

    @property
    def front(self) -> list[dict[str, Any]]:
        """Points that no other beats in all that is wanted; of one objective: in it and memory."""
        return self.answer.get("front", [])

    def __str__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        text = self._text.replace("&", "&amp;").replace("<", "&lt;")
        return f"<pre>{text}</pre>"


def tune(file_or_dict: Scenario, executor: Optional[Executor] = None, overrides: Overrides = None,
         *, minimize: Columns = None, maximize: Columns = None, points: int = 200,
         tie: float = 0.03, config_dirs: Folders = None,
         known: Optional[PathLike] = None) -> Tuned:
    """Looks among the points of a sweep for the best: a dict, a path, or text in YAML.

    `minimize` or `maximize` is a column of results.csv, or a field that every mode has, then of
    the best mode; without either the smallest time_us. With several, those of `minimize` first, the
    first says what is best, and `front` has what no other beats in all. At most `points` are
    simulated, by `executor` and with `known` as those of weft.sweep. Raises ScenarioError with all
    mistakes of the sweep file, RunError where no point has a result.
    """
    source, _ = source_of(file_or_dict, "a sweep")
    wanted = _wanted(minimize, False) + _wanted(maximize, True) or [("time_us", False)]
    named = [column for column, _ in wanted]
    for column in named:
        if named.count(column) > 1:
            raise ValueError(f"minimize, maximize: {column!r} is given twice")
    search = _weft.Tune(source, sets_of(overrides), folders(config_dirs), wanted, points)
    warnings_or_raise(search.problems)
    folder = known_folder(known)

    def run(sets: list[list[str]]) -> list[tuple[str, str]]:
        return list(outcomes_of([(search.scenario, each, search.folders, folder) for each in sets],
                                executor))
    (summary, error), = run([search.start()])
    search.tell_start(summary, error)
    while asked := search.ask():
        for (point, _), (summary, error) in zip(asked, run([sets for _, sets in asked])):
            search.tell(point, summary, error)
    defaults = search.defaults()
    if defaults is not None:
        search.tell_defaults(*run([defaults])[0])
    answer = search.answer(tie)
    if not answer.text:
        columns = " and a ".join(repr(column) for column, _ in wanted)
        raise RunError(error or f"no point has a {columns} above 0", 1)
    return Tuned(answer, Rows(search.table(), search.info()))


def _wanted(columns: Columns, larger_is_better: bool) -> list[tuple[str, bool]]:
    each = [columns] if isinstance(columns, str) else list(columns or [])
    return [(column, larger_is_better) for column in each]
