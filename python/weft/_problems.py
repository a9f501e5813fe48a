"""What goes wrong, as exceptions."""

from __future__ import annotations

from typing import NamedTuple, Optional

from weft import _weft


class Problem(NamedTuple):
    """A mistake in a file or a text. Lines and columns count from 1; 0: it has none."""

    file: str
    line: int
    column: int
    path: str
    message: str
    severity: str = "error"
    source_line: str = ""


class Error(Exception):
    """There are no results."""


class ScenarioError(Error):
    """All mistakes of a scenario, a sweep or measurements; str() is what `weft` prints."""

    def __init__(self, text: str, problems: tuple[Problem, ...]) -> None:
        super().__init__(text, problems)
        self.problems = problems

    def __str__(self) -> str:
        return str(self.args[0])


class RunError(Error):
    """A run that did not end; `exit_code` is that of `weft run`."""

    def __init__(self, why: str, exit_code: int) -> None:
        super().__init__(why, exit_code)
        self.exit_code = exit_code

    def __str__(self) -> str:
        return str(self.args[0])


def in_order(problems: _weft.Problems) -> tuple[Problem, ...]:
    """By file, line and column, as in the text."""
    return tuple(sorted((Problem(*one) for one in problems.all), key=lambda one: one[:3]))


def warnings_or_raise(problems: _weft.Problems) -> tuple[Problem, ...]:
    """Raises what is an error; else returns the warnings."""
    if problems.has_errors:
        raise ScenarioError(problems.text.rstrip("\n"), in_order(problems))
    return in_order(problems)


def raise_failure(failure: Optional[_weft.Failure]) -> None:
    if failure is not None:
        raise RunError(failure.why, failure.exit_code)
