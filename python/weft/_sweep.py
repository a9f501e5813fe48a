"""weft.sweep: every point of a sweep file."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import Any, Iterator, Optional, Sequence, TypeVar

from weft import _tables, _weft
from weft._configs import Folders, PathLike, folders
from weft._known import known_folder
from weft._problems import warnings_or_raise
from weft._report import Report, report_of
from weft._source import Overrides, Scenario, sets_of, source_of

Result = TypeVar("Result")
Outcome = tuple[str, str]  # summary.json and "", or "" and what went wrong


class Rows(list[dict[str, _tables.Value]]):
    """The rows of results.csv (docs/results.md), whose text is `csv`; `info` is sweep.json."""

    def __init__(self, text: str, info: str) -> None:
        self.csv = text
        self.info = info
        columns = _tables.columns_of(text)
        super().__init__(dict(zip(columns, row)) for row in zip(*columns.values()))

    @property
    def failed(self) -> list[dict[str, _tables.Value]]:
        """The rows without results; their `error` says why."""
        return [row for row in self if row["status"] != "ok"]

    def table(self) -> _tables.Columns:
        """Columns: arrays if NumPy is installed, else lists."""
        return _tables.arrays_of(_tables.columns_of(self.csv))

    def frame(self) -> Any:
        """A DataFrame of pandas."""
        return _tables.frame_of(_tables.columns_of(self.csv))

    def report(self) -> Report:
        """The page of `weft report`, with its charts."""
        return report_of({"results.csv": self.csv, "sweep.json": self.info}, of_sweep=True)

    def __reduce__(self) -> tuple[type[Rows], tuple[str, str]]:
        return Rows, (self.csv, self.info)

    def _repr_html_(self) -> str:
        columns = list(self[0]) if self else []
        return _tables.html_table(columns, [[str(row[name]) for name in columns] for row in self])


def sweep(file_or_dict: Scenario, executor: Optional[Executor] = None, overrides: Overrides = None,
          *, config_dirs: Folders = None, known: Optional[PathLike] = None) -> Rows:
    """Runs all points of a sweep: a dict, a path, or text in YAML (docs/sweeps.md).

    `executor` is any of concurrent.futures; without one, points are run one after another. Points
    of equal scenarios are run once. A point that fails is a row with status "failed". What points
    have in common is simulated once if there is a folder `known` (as weft.run has).
    Raises ScenarioError with all mistakes of the sweep file.
    """
    source, _ = source_of(file_or_dict, "a sweep")
    points = _weft.Sweep(source, sets_of(overrides), folders(config_dirs))
    warnings_or_raise(points.problems)
    folder = known_folder(known)
    tasks = [(points.scenario, sets, points.folders, folder) for sets in points.points()]
    for number, (summary, error) in enumerate(outcomes_of(tasks, executor)):
        points.finish(number, summary, error)
    return Rows(points.table(), points.info())


# Scenario, --set, folders of bases, the one of what is known.
Task = tuple[PathLike, Sequence[str], Sequence[PathLike], Optional[PathLike]]


def outcomes_of(tasks: Sequence[Task], executor: Optional[Executor]) -> Iterator[Outcome]:
    """In the order of the tasks."""
    if executor is None:
        return (_run_point(*task) for task in tasks)
    return results_of([executor.submit(_run_point, *task) for task in tasks])


def results_of(futures: Sequence[Future[Result]]) -> Iterator[Result]:
    """In their order; what has not begun is cancelled if one of them raises."""
    try:
        for future in futures:
            yield future.result()
    finally:
        for future in futures:
            future.cancel()


def _run_point(scenario: PathLike, sets: Sequence[str], where: Sequence[PathLike],
               known: Optional[PathLike]) -> Outcome:
    """In whatever process or thread the executor has."""
    try:
        ran = _weft.run(_weft.Source(scenario), sets, where, tables=False, cores=1,
                        known=known)
    except MemoryError:
        return "", "out of memory"
    if ran.problems.has_errors:
        return "", ran.problems.line
    if ran.failure is not None:
        return "", ran.failure.why.replace("\n", " ")
    return dict(ran.files)["summary.json"], ""
