"""The versions of the rules by which figures are drawn.

Invariant: a figure is drawn again by the rules that drew it, byte for byte, so that the figure of an old capsule still
verifies. `MAKER` is raised when the same rows would give another figure than before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

FIRST_MAKER = "sandtable.chart/1"
"""Titles of these figures consist of column names only."""
SECOND_MAKER = "sandtable.chart/2"
"""Titles say what was computed. Units are those that the plan gives, and those at the end of a name."""
MAKER = "sandtable.chart/3"
"""Units are those of the catalog that the run used. Axes and hover texts show them, and periods have names."""
MAKERS = (FIRST_MAKER, SECOND_MAKER, MAKER)
"""Versions whose figures can be drawn again."""

_WORDS = frozenset(
    "title name hovertemplate texttemplate tickformat tickprefix ticksuffix annotations number".split()
)


def without_words(figure: Mapping[str, Any]) -> dict[str, Any]:
    """The figure without what its rules take from the catalog of the dataset: what is left is drawn without it, too."""
    layout = figure.get("layout")
    if not isinstance(layout, dict):
        return dict(figure)
    if cast("dict[str, Any]", layout).get("meta") != MAKER:
        return {**figure, "layout": {**layout, "title": None}}
    return {part: _wordless(value, 0) for part, value in figure.items()}


def _wordless(value: Any, depth: int) -> Any:
    """Only of the parts that these rules nest: a trace, its scale, an axis."""
    if isinstance(value, list) and depth == 0:
        return [_wordless(one, depth) for one in cast("list[Any]", value)]
    if not isinstance(value, dict) or depth > 2:
        return cast("Any", value)
    known = cast("dict[str, Any]", value)
    return {name: _wordless(one, depth + 1) for name, one in known.items() if name not in _WORDS}
