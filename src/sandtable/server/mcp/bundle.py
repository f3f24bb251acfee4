"""The answer card as one page: its modules, and those that draw figures, in one script."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from sandtable.drawing import MODULES
from sandtable.drawing.bundle import script_of

_HERE = Path(__file__).parent / "card"
_CARD = tuple(_HERE / f"{name}.js" for name in ("host", "parts", "card"))


@cache
def bundled() -> str:
    page = (_HERE / "page.html").read_text(encoding="utf-8")
    style = (_HERE / "card.css").read_text(encoding="utf-8")
    return page.replace("/*STYLE*/", style).replace("/*SCRIPT*/", script_of((*MODULES, *_CARD)))
