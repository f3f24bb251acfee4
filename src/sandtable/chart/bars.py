"""Bars: one per row for one key, groups of bars for two keys or for measures of like size.

Invariant: bars stand in the order of the rows, and there is one for every row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandtable.chart.amounts import TICKS, amount
from sandtable.chart.asked import Asked
from sandtable.chart.cells import drawn, label
from sandtable.chart.layout import (
    MOST_SERIES,
    PALETTE,
    Axis,
    Figure,
    Trace,
    category_axis,
    figure,
    moment_format,
    time_axis,
    value_axis,
)
from sandtable.chart.shape import Field, Shape, alike, axes, pivot, same_thing
from sandtable.chart.shares import adds_up
from sandtable.chart.spans import spoken, texts
from sandtable.chart.words import LONGEST_TICK, axis_title, capital, escape, series_words, title

MOST_BARS = 40
MOST_GROUPED = 48
MOST_MOMENTS = 120
MOST_IN_GROUP = 6
MOST_SIDE_BY_SIDE = 12
LONG_LABEL = 14
MANY_LABELS = 10
MUCH_TEXT = 60


def bars(shape: Shape, asked: Asked, wished: bool) -> Figure | None:
    return _bars(shape, None)


def upright(shape: Shape, asked: Asked, wished: bool) -> Figure | None:
    return _bars(shape, False)


def horizontal(shape: Shape, asked: Asked, wished: bool) -> Figure | None:
    return _bars(shape, True)


def _bars(shape: Shape, lying: bool | None) -> Figure | None:
    """`lying`: whether the bars are horizontal; None decides by their labels."""
    found = axes(shape)
    if not shape.measures or shape.rows < 2:
        return None
    if len(found) == 1:
        return _one_key(shape, found[0], lying)
    return _two_keys(shape, *found, lying) if len(found) == 2 else None


def stacked(shape: Shape, asked: Asked, wished: bool) -> Figure | None:
    """One bar for each value of one key, made of parts for the other: only where the parts add up to something."""
    found = axes(shape)
    if len(found) != 2 or not shape.measures or not _stacks(shape.measures[0]):
        return None
    along, series = sorted(found, key=lambda key: (not key.ordered, -_spread(key)))
    most = MOST_MOMENTS if along.ordered else MOST_BARS
    if _spread(along) > most or _spread(series) > MOST_SERIES:
        return None
    made = _pivoted(shape, along, series, False if along.ordered else None)
    made["layout"]["barmode"] = "stack"
    if "height" in made["layout"]:
        made["layout"]["height"] = _height(_spread(along))
    return _of_one_height(made) if asked.parts and along.current else made


def stacked_shares(shape: Shape, asked: Asked, wished: bool) -> Figure | None:
    """The same with bars of one height, so that parts can be compared. The values stay the cells of the rows."""
    made = stacked(shape, asked, wished)
    return _of_one_height(made) if made is not None else None


def _of_one_height(made: Figure) -> Figure:
    """Plotly computes the places of the parts; a bar of nothing has none."""
    layout = made["layout"]
    values = layout["xaxis" if "height" in layout else "yaxis"]
    for part in TICKS:
        values.pop(part, None)
    values |= {"ticksuffix": "%", "title": {"text": "Share"}}
    layout["barnorm"] = "percent"
    return made


def _stacks(measure: Field) -> bool:
    return adds_up(measure) and all(value >= 0 for value in measure.column.numbers)


def _one_key(shape: Shape, key: Field, lying: bool | None) -> Figure | None:
    on_time = key.role == "time" and _in_order(key.column.cells)
    if shape.rows > (MOST_MOMENTS if on_time else MOST_BARS):
        return None
    measures = _side_by_side(shape)
    places = list(key.column.cells) if on_time else texts(key)
    sideways = lying if lying is not None else not on_time and _sideways(key)
    traces = [
        _trace(places, [drawn(cell) for cell in field.column.cells], field, key, sideways, on_time)
        | {"name": escape(capital(series_words(field, shape.reading))), "marker": {"color": PALETTE[n]}}
        for n, field in enumerate(measures)
    ]
    values = value_axis(measures[0], shape.reading, measures)
    if len(measures) > 1:
        values["title"] = {"text": ""}
    along = time_axis(key) if on_time else category_axis(key, places, ticks=_ticks(key, sideways))
    heading = title(list(measures), [key], shape.reading)
    return _figure(traces, heading, along, values, sideways, legend=len(measures) > 1)


def _side_by_side(shape: Shape) -> tuple[Field, ...]:
    measures = alike(shape.measures)
    compared = any(same_thing(measures[0], other) for other in measures[1:])
    if compared and shape.rows * len(measures) <= MOST_GROUPED:
        return measures
    return measures if shape.rows <= MOST_SIDE_BY_SIDE else shape.measures[:1]


def _two_keys(shape: Shape, one: Field, other: Field, lying: bool | None) -> Figure | None:
    along, series = (one, other) if _spread(one) >= _spread(other) else (other, one)
    if _spread(series) > min(MOST_IN_GROUP, MOST_SERIES) or _spread(along) * _spread(series) > MOST_GROUPED:
        return None
    return _pivoted(shape, along, series, lying)


def _pivoted(shape: Shape, along: Field, series: Field, lying: bool | None) -> Figure:
    """A group of bars for each value of `along`, one bar in it for each value of `series`."""
    measure = shape.measures[0]
    on_time = along.current and along.role == "time" and lying is False
    places = spoken(along) if on_time else texts(along, spoken(along))
    names = spoken(series)
    cells = pivot(along, series, measure)
    sideways = _sideways(along) if lying is None else lying
    traces = [
        _trace(
            places, [cells.get((place, name)) for place in spoken(along)], measure, along, sideways, on_time
        )
        | {"name": escape(text), "marker": {"color": PALETTE[n]}}
        for n, (name, text) in enumerate(zip(names, texts(series, names), strict=True))
    ]
    heading = title([measure], [along, series], shape.reading)
    made = _figure(
        traces,
        heading,
        time_axis(along) if on_time else category_axis(along, places, ticks=_ticks(along, sideways)),
        value_axis(measure, shape.reading),
        sideways,
        legend=True,
    )
    made["layout"]["legend"] = {"title": {"text": axis_title(series)}}
    return made


def _trace(
    places: list[Any], values: list[Any], field: Field, key: Field, sideways: bool, on_time: bool
) -> Trace:
    x, y = (values, places) if sideways else (places, values)
    value, at = ("x", "y") if sideways else ("y", "x")
    # Places on an axis of names are written in words already.
    written = moment_format(key) if key.role == "time" and (on_time or not key.current) else ""
    shown = f"%{{{at}{written or ''}}}"
    trace: Trace = {"type": "bar", "x": x, "y": y}
    if written is None:
        trace["customdata"] = texts(key, [label(cell) for cell in places])
        shown = "%{customdata}"
    elif any(isinstance(place, str) and len(place) > LONGEST_TICK for place in places):
        trace["customdata"] = [escape(str(place)) for place in places]
        shown = "%{customdata}"
    if sideways:
        trace["orientation"] = "h"
    trace["hovertemplate"] = f"{shown}<br>{amount(field, value)}"
    return trace


def _figure(
    traces: list[Trace], heading: str, along: Axis, values: Axis, sideways: bool, *, legend: bool
) -> Figure:
    if not sideways:
        made = figure(traces, heading, xaxis=along, yaxis=values)
    else:
        # The first row at the top, as in the table.
        made = figure(traces, heading, xaxis=values, yaxis=along | {"autorange": "reversed"})
        bars_drawn = sum(len(trace["x"]) for trace in traces)
        made["layout"]["height"] = _height(bars_drawn)
    if len(traces) > 1:
        made["layout"] |= {"barmode": "group", "showlegend": legend}
    else:
        for trace in traces:
            del trace["name"]
            trace["hovertemplate"] += "<extra></extra>"
    return made


def _height(lines: int) -> int:
    return max(320, 120 + 22 * lines)


def _ticks(key: Field, sideways: bool) -> list[str]:
    """Beside a lying bar there is room for a whole name."""
    return texts(
        key, spoken(key) if len(key.column.distinct) < len(key.column.cells) else None, short=not sideways
    )


def _sideways(key: Field) -> bool:
    if key.role == "period":
        return False
    lengths = [len(text) for text in _ticks(key, False)]
    return len(lengths) > MANY_LABELS or max(lengths) > LONG_LABEL or sum(lengths) > MUCH_TEXT


def _spread(key: Field) -> int:
    return len(key.column.distinct)


def _in_order(cells: Sequence[Any]) -> bool:
    """Whether the rows are sorted, in either direction; any other order is part of the answer and must stay."""
    ordered = sorted(cells)
    return list(cells) in (ordered, ordered[::-1])
