"""The look of every figure: readable on light and dark pages, without a template, safe for colour-blind eyes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandtable.chart.amounts import ticks as ticks_of
from sandtable.chart.rules import MAKER
from sandtable.chart.shape import Field, Reading
from sandtable.chart.spans import SPOKEN, ticks_along
from sandtable.chart.words import LONGEST_TICK, axis_title, escape, shortened

Figure = dict[str, Any]
Trace = dict[str, Any]
Axis = dict[str, Any]

# Okabe and Ito's colours without black and yellow, which vanish on one of the two backgrounds.
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star")
SCALE = "Cividis"
MOST_SERIES = len(PALETTE)

_CLEAR = "rgba(0,0,0,0)"
_GRID = "rgba(128,128,128,0.25)"
_INK = "#7a7a7a"
_EARLIER_MOMENTS = {
    "day": "|%d %b %Y", "week": "|%d %b %Y", "month": "|%b %Y", "quarter": "|%b %Y", "year": "|%Y",
    "fiscal_quarter": "|%b %Y", "fiscal_year": "|%b %Y",
}  # fmt: skip
_MOMENTS = {"day": "|%d %B %Y", "week": "|%d %B %Y", "month": "|%B %Y", "year": "|%Y"}
_TICKS = {"day": "%d %b\n%Y", "week": "%d %b\n%Y", "month": "%b\n%Y", "year": "%Y"}
"""Plotly writes the second line where it changes."""


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


def value_axis(field: Field, reading: Reading, beside: Sequence[Field] = ()) -> Axis:
    return _axis(axis_title(field, reading), "linear") | ticks_of(field, beside if field.current else ())


def time_axis(field: Field) -> Axis:
    axis = _axis(axis_title(field), "date")
    if field.current:
        return axis | _ticks_of_time(field)
    if field.grain == "month":
        axis["tickformat"] = "%b %Y"
    elif field.grain == "year":
        axis["tickformat"] = "%Y"
    return axis


def _ticks_of_time(field: Field) -> Axis:
    """A few periods, and those that Plotly has no format for, are named one by one."""
    named = ticks_along(field)
    if named:
        return {"tickmode": "array", "tickvals": list(named), "ticktext": list(named.values())}
    given = _TICKS.get(field.grain or "")
    return {"tickformat": given} if given else {}


def moment_format(field: Field) -> str | None:
    """None where a moment is written in words (`texts`)."""
    grain = field.grain or ""
    if not field.current:
        return _EARLIER_MOMENTS.get(grain, "")
    return None if grain in SPOKEN else _MOMENTS.get(grain, "")


def category_axis(field: Field, order: Sequence[str], ticks: Sequence[str] | None = None) -> Axis:
    """The labels in `order`; `ticks` are their names on the axis, where all of them are shown.

    Where Plotly would read HTML or run out of room, tick texts stand for the labels.
    """
    axis = _axis(axis_title(field), "category")
    axis |= {"categoryorder": "array", "categoryarray": list(order)}
    said = [escape(shortened(label)) for label in ticks or order]
    if ticks is not None or said != list(order):
        # Plotly thins out the ticks of a crowded axis; but every bar needs its label.
        axis |= {"tickmode": "array", "tickvals": list(order), "ticktext": said}
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
