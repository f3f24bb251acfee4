"""The look of every figure: readable on light and dark pages, without a template, safe for colour-blind eyes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandtable.chart.shape import Field
from sandtable.chart.words import LONGEST_TICK, axis_title, escape, shortened

Figure = dict[str, Any]
Trace = dict[str, Any]
Axis = dict[str, Any]

# Okabe and Ito's colours without black and yellow, which vanish on one of the two backgrounds.
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star")
SCALE = "Cividis"
MOST_SERIES = len(PALETTE)

FIRST_MAKER = "sandtable.chart/1"
"""Titles of these figures consist of column names only. Everything else is unchanged, so they can still be redrawn
when a capsule is verified."""
MAKER = "sandtable.chart/2"
"""The version of the rules that drew a figure. Raised when the same rows would give another figure than before,
so that the figure of an old capsule still verifies."""
MAKERS = (FIRST_MAKER, MAKER)
"""Versions whose figures can be redrawn."""

_CLEAR = "rgba(0,0,0,0)"
_GRID = "rgba(128,128,128,0.25)"
_INK = "#7a7a7a"
_TINY = 1e-4
_MOMENT_FORMATS = {
    "day": "|%d %b %Y", "week": "|%d %b %Y", "month": "|%b %Y", "quarter": "|%b %Y", "year": "|%Y",
    "fiscal_quarter": "|%b %Y", "fiscal_year": "|%b %Y",
}  # fmt: skip


def figure(traces: list[Trace], title: str, **layout: Any) -> Figure:
    if "xaxis" in layout:
        layout["plot_bgcolor"] = _CLEAR
    return {
        "data": traces,
        "layout": {
            "title": {"text": title},
            "paper_bgcolor": _CLEAR,
            "font": {"color": _INK},
            "colorway": list(PALETTE),
            "showlegend": False,
            "margin": {"t": 56, "r": 24, "b": 48, "l": 64},
            "meta": MAKER,
            **layout,
        },
    }


def value_axis(field: Field, table: str) -> Axis:
    axis = _axis(axis_title(field, table), "linear")
    if field.fraction:
        axis["tickformat"] = ".0%" if field.largest >= 0.1 else ".1%"
    return axis


def number_format(field: Field) -> str:
    """For hover labels, in d3's notation."""
    if field.fraction:
        return ".1%"
    if field.column.whole:
        return ",d"
    return ",.6~f" if field.largest >= _TINY else ".4~g"


def time_axis(field: Field) -> Axis:
    axis = _axis(axis_title(field), "date")
    if field.grain == "month":
        axis["tickformat"] = "%b %Y"
    elif field.grain == "year":
        axis["tickformat"] = "%Y"
    return axis


def moment_format(field: Field) -> str:
    return _MOMENT_FORMATS.get(field.grain or "", "")


def category_axis(field: Field, order: Sequence[str], every: bool = False) -> Axis:
    """The labels in `order`, all of them shown if `every`.

    Where Plotly would read HTML or run out of room, tick texts stand for the labels.
    """
    axis = _axis(axis_title(field), "category")
    axis |= {"categoryorder": "array", "categoryarray": list(order)}
    ticks = [escape(shortened(label)) for label in order]
    if every or ticks != list(order):
        # Plotly thins out the ticks of a crowded axis; but every bar needs its label.
        axis |= {"tickmode": "array", "tickvals": list(order), "ticktext": ticks}
    return axis


def number_axis(field: Field, values: Sequence[Any], texts: Sequence[str] | None) -> Axis:
    """For years, hours and the like: every value has its tick, none a thousands separator."""
    axis = _axis(axis_title(field), "linear") | {"tickformat": "d"}
    if len(values) <= LONGEST_TICK:
        axis |= {"tickmode": "array", "tickvals": list(values)}
        if texts is not None:
            axis["ticktext"] = list(texts)
    return axis


def _axis(title: str, kind: str) -> Axis:
    return {
        "title": {"text": title, "standoff": 12},
        "type": kind,
        "automargin": True,
        "gridcolor": _GRID,
        "zerolinecolor": _GRID,
    }
