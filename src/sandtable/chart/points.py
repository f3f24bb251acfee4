"""Scatter plots of two measures, and histograms of one."""

from __future__ import annotations

from sandtable.chart.amounts import TICKS, amount
from sandtable.chart.asked import Asked
from sandtable.chart.cells import drawn
from sandtable.chart.layout import (
    MOST_SERIES,
    PALETTE,
    SYMBOLS,
    Figure,
    Trace,
    figure,
    value_axis,
)
from sandtable.chart.shape import Field, Shape, same_thing
from sandtable.chart.words import axis_title, computed, escape, titled

MOST_POINTS = 4000
MANY_ROWS = 10
SOME_ROWS = 5
FEW_ROWS = 3


def scatter(shape: Shape, asked: Asked, wished: bool) -> Figure | None:
    if len(shape.measures) < 2 or not FEW_ROWS <= shape.rows <= MOST_POINTS:
        return None
    many = shape.rows >= MANY_ROWS
    called_for = wished or asked.related or (asked.versus and (many or not shape.keys))
    if same_thing(*shape.measures[:2]) and not (wished or asked.related):
        return None
    if not (called_for or (many and len(shape.measures) == 2 and not shape.keys)):
        return None
    x, y, *_ = sorted(shape.measures, key=lambda field: (bool(field.derived), field.column.index))
    groups = next((key for key in shape.keys if _groups(key)), None)
    layout = {"xaxis": value_axis(x, shape.reading), "yaxis": value_axis(y, shape.reading)}
    heading = titled(f"{computed(y, shape.reading)} versus {computed(x, shape.reading)}", shape.reading)
    if groups is None:
        trace = _points(0, x, y, range(shape.rows))
        naming = next((key for key in (*shape.keys, *shape.identifiers) if key.unique), None)
        if naming is not None:
            trace["customdata"] = [escape(text) for text in naming.column.labels]
            trace["hovertemplate"] = "%{customdata}<br>" + trace["hovertemplate"]
        trace["hovertemplate"] += "<extra></extra>"
        return figure([trace], heading, **layout)
    traces = [
        _points(n, x, y, [i for i, text in enumerate(groups.column.labels) if text == name])
        | {"name": escape(name)}
        for n, name in enumerate(groups.column.distinct)
    ]
    legend = {"title": {"text": axis_title(groups)}}
    return figure(traces, heading, **layout, showlegend=True, legend=legend)


def _groups(key: Field) -> bool:
    names = key.column.distinct
    return key.role == "category" and 2 <= len(names) <= MOST_SERIES and not key.unique


def _points(n: int, x: Field, y: Field, rows: range | list[int]) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [drawn(x.column.cells[i]) for i in rows],
        "y": [drawn(y.column.cells[i]) for i in rows],
        "marker": {"color": PALETTE[n], "symbol": SYMBOLS[n]},
        "hovertemplate": f"{amount(x, 'x')}<br>{amount(y, 'y')}",
    }


def histogram(shape: Shape, asked: Asked, wished: bool) -> Figure | None:
    """Plotly makes the bins; the figure holds the values themselves."""
    if not shape.measures or shape.keys or shape.rows > MOST_POINTS:
        return None
    called_for = wished or asked.spread
    alone = len(shape.measures) == 1 and not shape.identifiers
    if shape.rows < (SOME_ROWS if called_for else MANY_ROWS) or not (called_for or alone):
        return None
    if not shape.whole:
        # Rows of a plan come sorted: the first of them are no sample.
        return None
    field = shape.measures[0]
    if len(set(field.column.numbers)) < FEW_ROWS:
        return None
    trace: Trace = {
        "type": "histogram",
        "x": [drawn(cell) for cell in field.column.cells],
        "marker": {"color": PALETTE[0]},
        "hovertemplate": "%{x}<br>%{y:,d}<extra></extra>",
    }
    values = value_axis(field, shape.reading)
    rows_axis = values | {"title": {"text": "Number of rows"}}
    for part in TICKS:
        rows_axis.pop(part, None)
    heading = titled(f"distribution of {computed(field, shape.reading)}", shape.reading)
    return figure([trace], heading, xaxis=values, yaxis=rows_axis, bargap=0.05)
