"""weft.validate: measured lines compared with simulations of the same cases."""

from __future__ import annotations

import json
import os
from concurrent.futures import Executor
from functools import cached_property
from typing import Any, Iterable, Optional, Sequence

from weft import _tables, _weft
from weft._configs import Folders, PathLike, folders_for
from weft._known import known_folder
from weft._problems import warnings_or_raise
from weft._source import Overrides, sets_of
from weft._sweep import results_of

_PARTS = 64  # that an executor's workers share; neighbouring lines take alike, so each has some


class Validation:
    """How far predictions are from what was measured; errors are fractions of measured times."""

    def __init__(self, validated: _weft.Validated) -> None:
        self.json: str = validated.json  # what `weft validate --json` writes
        self.notes: list[str] = validated.notes  # what makes it a comparison of two machines
        self.skipped: dict[str, int] = validated.skipped  # lines that cannot be simulated, by kind
        self.without_kernel: dict[str, int] = validated.without_kernel  # by the missing file

    @property
    def outcomes(self) -> list[dict[str, Any]]:
        """The simulated lines: their fields, measured_us, predicted_us, error."""
        return self._all["cases"]

    @property
    def by_kind(self) -> dict[str, dict[str, float]]:
        """Errors by kind, then of "all": cases, median, p90, worst, bias."""
        return self._all["error_by_kind"]

    @property
    def ratios(self) -> list[dict[str, Any]]:
        """Fused over bulk of cases that have both, measured and predicted."""
        return self._all["fused_over_bulk"]

    @property
    def ratios_by_kind(self) -> dict[str, dict[str, float]]:
        """Differences of fused over bulk by kind, then of "all"."""
        return self._all["fused_over_bulk_difference_by_kind"]

    def frame(self) -> Any:
        """The outcomes as a DataFrame of pandas."""
        return _tables.frame_of(self.outcomes)

    def _repr_html_(self) -> str:
        shares = ("median", "p90", "worst", "bias")
        rows = [[kind, str(errors["cases"]), *(f"{errors[one]:.1%}" for one in shares)]
                for kind, errors in self.by_kind.items()]
        return _tables.html_table(["kind", "cases", *shares], rows)

    @cached_property
    def _all(self) -> dict[str, Any]:
        return json.loads(self.json)


def validate(measured: PathLike, cluster: PathLike, kernels: Optional[PathLike] = None,
             sets: "Iterable[str] | Overrides" = (), *, executor: Optional[Executor] = None,
             config_dirs: Folders = None, jobs: int = 0,
             known: Optional[PathLike] = None) -> Validation:
    """Simulates every measured line on this cluster, as `weft validate` does.

    `sets` has PATH=VALUE for all cases, or values by path. `executor` is any of concurrent.futures,
    whose processes see the same files; without one `jobs` simulations run at a time; 0: as many as
    there are cores. `known` is as weft.run's. Raises ScenarioError with all mistakes.
    """
    given = sets_of(sets) if isinstance(sets, dict) else list(sets or ())
    folders, known_in = folders_for(cluster, config_dirs), known_folder(known)

    def elsewhere(count: int) -> list[_weft.Case]:
        assert executor is not None
        parts = [list(range(first, count, _PARTS)) for first in range(min(count, _PARTS))]
        cases: list[Optional[_weft.Case]] = [None] * count
        done = results_of([executor.submit(_simulate_cases, measured, cluster, kernels or "", given,
                                        folders, known_in, part) for part in parts])
        for part, simulated in zip(parts, done):
            for number, case in zip(part, simulated):
                cases[number] = case
        whole = [case for case in cases if case is not None]
        if len(whole) < count:
            raise RuntimeError(f"the executor's workers simulated {len(whole)} of {count} cases")
        return whole

    validated = _weft.validate(measured, cluster, kernels or "", given, folders,
                               jobs or os.cpu_count() or 1, known_in,
                               elsewhere if executor is not None else None)
    warnings_or_raise(validated.problems)
    return Validation(validated)


def _simulate_cases(measured: PathLike, cluster: PathLike, kernels: PathLike, sets: list[str],
                    where: Sequence[PathLike], known: Optional[PathLike],
                    which: list[int]) -> list[_weft.Case]:
    """In whatever process or thread the executor has."""
    return _weft.simulate_cases(measured, cluster, kernels, sets, where, known, which)
