"""Whether a figure is of the kind that was asked for, and the sentence that says why not.

Invariant: pure, and computed from the figure alone, so that the sentence is true of the chart that is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from sandtable.chart.asked import wished
from sandtable.plan.model import ChartKind

_KINDS = frozenset(get_args(ChartKind))
_NAMES: dict[str, str] = {
    "bar": "bars",
    "column": "upright bars",
    "horizontal_bar": "horizontal bars",
    "stacked_bar": "stacked bars",
    "stacked_share": "stacked bars of one height",
    "line": "a line",
    "area": "an area",
    "scatter": "a scatter plot",
    "histogram": "a histogram",
    "pie": "a pie",
    "heatmap": "a heat map",
    "number": "a number",
}
_NEEDS: dict[str, str] = {
    "bar": "there must be one or two groups with few members, and a number for each",
    "column": "there must be one or two groups with few members, and a number for each",
    "horizontal_bar": "there must be one or two groups with few members, and a number for each",
    "stacked_bar": "there must be two groups, and a total or a count for each pair of their members",
    "stacked_share": "there must be two groups, and a total or a count for each pair of their members",
    "line": "there must be a number along time or along one group",
    "area": "there must be one number along time or along an ordered group",
    "scatter": "there must be two numbers in each row, and at least three rows",
    "histogram": "there must be single numbers, not groups",
    "pie": "there must be two to six positive parts that make up a whole",
    "heatmap": "there must be two groups, and a number for each pair of their members",
}


def unmet_wish(question: str, plan: Mapping[str, Any] | None, figure: Mapping[str, Any] | None) -> str:
    """Why the figure is not of the kind that was asked for, as a clause; empty if it is."""
    named = (plan or {}).get("chart")
    asked = wished(question, named if named in _KINDS else None).kind
    if asked is None or asked in kinds_of(figure):
        return ""
    return why_not(asked)


def why_not(kind: str) -> str:
    """Why rows are not shown as this kind of chart, as a clause."""
    return f"these rows cannot be shown as {_NAMES[kind]}, for which {_NEEDS[kind]}"


def shown_instead(figure: Mapping[str, Any] | None) -> str:
    shown = kinds_of(figure)
    return f"the chart shows them as {_NAMES[shown[0]]}" if shown else "there is no chart of them"


def kinds_of(figure: Mapping[str, Any] | None) -> tuple[str, ...]:
    """What a figure can be called, the most usual name first."""
    traces: list[dict[str, Any]] = list((figure or {}).get("data") or ())
    if figure is None or not traces:
        return ()
    first = traces[0]
    match str(first.get("type")):
        case "bar":
            way = "horizontal_bar" if first.get("orientation") == "h" else "column"
            if len(traces) > 1 and figure["layout"].get("barmode") == "stack":
                if figure["layout"].get("barnorm") == "percent":
                    return "stacked_share", "stacked_bar", way, "bar"
                return "stacked_bar", way, "bar"
            return "bar", way
        case "scatter":
            return ("line",) if "lines" in str(first.get("mode")) else ("scatter",)
        case "pie":
            return ("pie",)
        case "histogram":
            return ("histogram",)
        case "heatmap":
            return ("heatmap",)
        case "indicator":
            return ("number",)
        case _:
            return ()
