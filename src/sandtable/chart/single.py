"""One row of numbers: each of them large, with the change that the row has.

Invariant: a number and a change are cells of the row. Nothing is computed.
"""

from __future__ import annotations

from typing import Any

from sandtable.chart.amounts import number_format, sign_of
from sandtable.chart.cells import drawn
from sandtable.chart.layout import Figure, Trace, figure
from sandtable.chart.shape import Field, Shape
from sandtable.chart.words import capital, escape, series_words, shortened, title, unit_word

MOST_NUMBERS = 4
LONGEST_LABEL = 80


def single(shape: Shape) -> Figure | None:
    """None for a row of a list, whose numbers are details of one thing."""
    names = len(shape.reading.columns) - len(shape.measures)
    listed = shape.reading.grouped is False or bool(shape.identifiers)
    if shape.rows != 1 or not shape.reading.current or listed or names > len(shape.keys) or names > 1:
        return None
    change = next((field for field in shape.measures if field.compares_columns), None)
    shown = [field for field in _by_column(shape) if field is not change]
    if change is not None:
        shown.sort(key=lambda field: field.name != change.meaning.of)
    if not 1 <= len(shown) <= MOST_NUMBERS or (shape.reading.grouped is None and names):
        return None
    traces = [_number(field, shape, at, len(shown)) for at, field in enumerate(shown)]
    before = next(
        (field for field in shown if change is not None and field.name == change.meaning.earlier), None
    )
    if change is not None and before is not None and shown[0].name == change.meaning.of:
        traces[0] |= _changed(change, before)
    if len(traces) == 1:
        del traces[0]["title"]
    return figure(traces, _heading(shown, shape), height=160)


def _by_column(shape: Shape) -> list[Field]:
    return sorted(shape.measures, key=lambda field: field.column.index)


def _number(field: Field, shape: Shape, at: int, count: int) -> Trace:
    sign, word = sign_of(field), unit_word(field)
    after = sign.after or (f" {escape(word)}" if word and not sign.before else "")
    return {
        "type": "indicator",
        "mode": "number",
        "value": drawn(field.column.cells[0]),
        "title": {"text": escape(capital(series_words(field, shape.reading)))},
        "number": {"prefix": sign.before, "suffix": after, "valueformat": number_format(field)},
        "domain": {"x": [round(at / count, 4), round((at + 1) / count, 4)], "y": [0, 1]},
    }


def _changed(change: Field, before: Field) -> dict[str, Any]:
    """Plotly computes the change from the earlier number; `meta` has it as the row has it."""
    relative = change.fraction
    return {
        "mode": "number+delta",
        "delta": {
            "reference": drawn(before.column.cells[0]),
            "relative": relative,
            "valueformat": ".1%" if relative else number_format(change),
        },
        "meta": {"change": drawn(change.column.cells[0]), "relative": relative},
    }


def _heading(shown: list[Field], shape: Shape) -> str:
    made = title(shown, [], shape.reading)
    if len(shape.reading.columns) == len(shape.measures) or not shape.keys:
        return made
    return f"{escape(shortened(shape.keys[0].column.labels[0], LONGEST_LABEL))}: {made}"
