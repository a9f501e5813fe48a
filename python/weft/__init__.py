"""weft, a simulator of GPU clusters, from Python (docs/python.md).

    >>> import weft
    >>> result = weft.run({"name": "mine", "base": "scenarios/embedding_a2a_4_gpus"})
    >>> result.time_us("fused")
"""

from weft import _weft
from weft._configs import config_path
from weft._help import explain, list_things as list
from weft._problems import Error, Problem, RunError, ScenarioError
from weft._report import Report
from weft._result import Result
from weft._run import run
from weft._sweep import Rows, sweep
from weft._tables import Columns
from weft._tune import Tuned, tune
from weft._validate import Validation, validate

version: str = _weft.version
__version__: str = version

__all__ = [  # without list, which `import *` must not replace
    "Columns", "Error", "Problem", "Report", "Result", "Rows", "RunError", "ScenarioError", "Tuned",
    "Validation", "config_path", "explain", "run", "sweep", "tune", "validate", "version",
]
