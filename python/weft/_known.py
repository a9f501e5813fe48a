"""Where what is simulated is kept, for other calls and processes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional

from weft._configs import PathLike


def known_folder(known: Optional[PathLike]) -> Optional[Path]:
    """The one given, or else that of WEFT_KNOWN; "none": none, as on the command line.

    Made here, so that one that cannot be is an OSError before anything is simulated.
    """
    name = os.fspath(known) if known is not None else os.environ.get("WEFT_KNOWN", "")
    if not name or name == "none":
        return None
    folder = Path(name).absolute()  # executors' processes may be in another
    folder.mkdir(parents=True, exist_ok=True)
    return folder
