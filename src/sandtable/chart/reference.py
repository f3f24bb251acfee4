"""Reference lines: a target or an average that the rows have, or a value that the question asks for.

Invariant: a line stands at a cell of the rows or at a number of the question. Nothing is computed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sandtable.chart.amounts import sign_of, written
from sandtable.chart.layout import Figure
from sandtable.chart.shape import Field, Shape
from sandtable.chart.words import capital, escape, series_words, shortened

_LONGEST = 40
_MARGIN = 0.05
_ASKED = re.compile(
    r"\b(?P<what>(?:reference |target |goal |threshold )?line|target|goal|threshold|benchmark) (?:at|of) "
    r"[€$£]?(?P<value>[0-9][0-9,]{0,15}(?:\.[0-9]{1,6})?)(?P<percent> ?(?:%|percent\b|per cent\b))?"
)
_DRAWN_ON = frozenset(("bar", "scatter"))


def with_references(made: Figure, shape: Shape, question: str) -> Figure:
    """Only on one plot with one axis of amounts."""
    layout, traces = made["layout"], made["data"]
    plain = all(trace["type"] in _DRAWN_ON and trace.get("mode") != "markers" for trace in traces)
    if not plain or not shape.measures or "yaxis2" in layout or "barnorm" in layout or "barmode" in layout:
        return made
    lines = [*_of_rows(shape), *_of_question(shape.measures[0], question)]
    if not lines:
        return made
    lying = traces[0].get("orientation") == "h"
    layout["shapes"] = [_line(value, lying) for _, value in lines]
    layout["annotations"] = [_note(text, value, lying) for text, value in lines]
    _seen_whole(layout["xaxis" if lying else "yaxis"], traces, lines, lying)
    return made


def _of_rows(shape: Shape) -> list[tuple[str, Any]]:
    """Of the columns with one value in all rows that are written as the drawn measure is."""
    measure = shape.measures[0]
    return [
        (
            _said(capital(series_words(field, shape.reading)), field, field.column.numbers[0]),
            field.column.cells[0],
        )
        for field in shape.references
        if (field.fraction, field.unit) == (measure.fraction, measure.unit)
    ]


def _of_question(measure: Field, question: str) -> list[tuple[str, Any]]:
    found = _ASKED.search(question[:2000].lower())
    if found is None:
        return []
    value = float(found["value"].replace(",", ""))
    if found["percent"] and measure.fraction:
        value /= 100
    name = "Reference" if found["what"] == "line" else capital(found["what"].removesuffix(" line"))
    return [(_said(name, measure, value), value)]


def _said(name: str, field: Field, value: float) -> str:
    sign = sign_of(field)
    return f"{escape(shortened(name, _LONGEST))}: {sign.before}{written(field, value)}{sign.after}"


def _line(value: Any, lying: bool) -> dict[str, Any]:
    along, across = ("y", "x") if lying else ("x", "y")
    return {
        "type": "line",
        "name": "reference",
        f"{along}ref": "paper",
        f"{along}0": 0,
        f"{along}1": 1,
        f"{across}ref": across,
        f"{across}0": value,
        f"{across}1": value,
        "line": {"dash": "dash", "width": 1.5, "color": "#7a7a7a"},
    }


def _note(text: str, value: Any, lying: bool) -> dict[str, Any]:
    place = (
        {"x": value, "xref": "x", "y": 1, "yref": "paper"} if lying else {"x": 1, "xref": "paper", "y": value}
    )
    return {
        "name": "reference",
        "text": text,
        **place,
        "xanchor": "right" if not lying else "center",
        "yanchor": "bottom",
        "showarrow": False,
    }


def _seen_whole(
    axis: dict[str, Any], traces: Sequence[dict[str, Any]], lines: Sequence[Any], lying: bool
) -> None:
    """Plotly fits an axis to the traces alone."""
    cells = [cell for trace in traces for cell in trace["x" if lying else "y"] if cell is not None]
    placed = [float(cell) for cell in cells]
    marks = [float(value) for _, value in lines]
    if not placed or min(placed) <= min(marks) <= max(marks) <= max(placed):
        return
    zero = [0.0] if traces[0]["type"] == "bar" else []
    low, high = min(*placed, *marks, *zero), max(*placed, *marks, *zero)
    room = (high - low) * _MARGIN
    axis["range"] = [low if zero and low == 0 else low - room, high + room]
