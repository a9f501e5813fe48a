"""What keys mean, and what a scenario can name."""

from __future__ import annotations

from typing import Optional

from weft import _weft
from weft._configs import Folders, folders_for


def explain(key: str = "") -> str:
    """What `weft explain` prints of a key and those inside it; without a key, of all."""
    text, why_not = _weft.explain(key)
    if why_not:
        raise ValueError(why_not)
    return text


def list_things(what: Optional[str] = None, *, config_dirs: Folders = None) -> list[dict[str, str]]:
    """What `weft list` prints, as dicts: name, title, and of things figures and folder."""
    things = _weft.things()
    if what is None:
        return [{"name": name, "title": title} for name, title in things]
    if what not in dict(things):
        raise ValueError(f"nothing to list: {what!r}; known: {', '.join(dict(things))}")
    rows = _weft.listed(what, folders_for("here.yaml", config_dirs))
    return [{"name": name, "title": title, "figures": figures, "folder": folder}
            for folder, name, title, figures in rows]
