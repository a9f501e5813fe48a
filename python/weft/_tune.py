"""weft.tune: the best of many configurations, with few simulations."""

from __future__ import annotations

import json
from concurrent.futures import Executor
from typing import Any, Optional

from weft import _weft
from weft._configs import Folders, PathLike, folders
from weft._known import known_folder
from weft._problems import RunError, warnings_or_raise
from weft._source import Overrides, Scenario, sets_of, source_of
from weft._sweep import Rows, outcomes_of


class Tuned:
    """What was found: `answer` is tune.json (docs/tuning.md), `scenario` the best one as YAML,
    `rows` the points that were simulated; as text it is what `weft tune` prints."""

    def __init__(self, answer: _weft.TuneAnswer, table: str) -> None:
        self.answer: dict[str, Any] = json.loads(answer.json)
        self.scenario = answer.best
        self.rows = Rows(table)
        self._text = answer.text

    @property
    def best(self) -> dict[str, Any]:
        """"value", "mode", "values" of the knobs."""
        return self.answer["best"]

    def __str__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        text = self._text.replace("&", "&amp;").replace("<", "&lt;")
        return f"<pre>{text}</pre>"


def tune(file_or_dict: Scenario, executor: Optional[Executor] = None, overrides: Overrides = None,
         *, minimize: Optional[str] = None, maximize: Optional[str] = None, points: int = 200,
         tie: float = 0.03, config_dirs: Folders = None,
         known: Optional[PathLike] = None) -> Tuned:
    """Looks among the points of a sweep for the best: a dict, a path, or text in YAML.

    `minimize` or `maximize` is a column of results.csv, or a field that every mode has, then of
    the best mode; without either the smallest time_us. At most `points` are simulated, by
    `executor` and with `known` as those of weft.sweep. Raises ScenarioError with all mistakes of
    the sweep file, RunError where no point has a result.
    """
    if minimize is not None and maximize is not None:
        raise TypeError("minimize or maximize, not both")
    source, _ = source_of(file_or_dict, "a sweep")
    column = maximize if maximize is not None else minimize or "time_us"
    search = _weft.Tune(source, sets_of(overrides), folders(config_dirs), column,
                        maximize is not None, points)
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
    answer = search.answer(tie)
    if not answer.text:
        raise RunError(error or f"no point has a {column!r} above 0", 1)
    return Tuned(answer, search.table())
