"""weft.run: one scenario."""

from __future__ import annotations

import os
from typing import Optional

from weft import _weft
from weft._configs import Folders, PathLike, folders_for
from weft._known import known_folder
from weft._problems import raise_failure, warnings_or_raise
from weft._result import Result
from weft._source import Modes, Overrides, Scenario, sets_of, source_of


def run(scenario: Scenario, overrides: Overrides = None, modes: Modes = None, *,
        config_dirs: Folders = None, tables: bool = True, jobs: int = 0,
        known: Optional[PathLike] = None) -> Result:
    """Simulates a scenario: a dict, a path, or text in YAML.

    `overrides` has values by the paths of their keys, as --set of the command line. Without
    `tables` nothing is recorded over time, and the result has its summary only. A large run takes
    `jobs` cores, with the same results; 0: all that there are. What is simulated is taken from
    the folder `known`, and kept there (docs/python.md); default: that of WEFT_KNOWN.
    Raises ScenarioError with all mistakes, RunError if a run does not end.
    """
    if jobs < 0:
        raise ValueError(f"jobs: {jobs} is less than 0; use 0 for all cores")
    source, name = source_of(scenario, "a scenario")
    ran = _weft.run(source, sets_of(overrides, modes), folders_for(name, config_dirs), tables,
                    jobs or os.cpu_count() or 1, known_folder(known))
    warnings = warnings_or_raise(ran.problems)
    raise_failure(ran.failure)
    return Result(dict(ran.files), warnings)
