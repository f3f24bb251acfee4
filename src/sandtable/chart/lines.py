"""Lines along time or ordered periods, one per group; where a period is missing the line is broken."""

from __future__ import annotations

from typing import Any

from sandtable.chart.amounts import amount
from sandtable.chart.asked import Asked
from sandtable.chart.cells import drawn, label
from sandtable.chart.layout import (
    MOST_SERIES,
    PALETTE,
    SYMBOLS,
    Axis,
    Figure,
    Trace,
    category_axis,
    figure,
    moment_format,
    number_axis,
    time_axis,
    value_axis,
)
from sandtable.chart.panels import MOST_LINES, MOST_MEASURES, MOST_PANELS, Panel, panelled
from sandtable.chart.shape import Field, Shape, alike, axes, tell_apart
from sandtable.chart.spans import IN_WORDS, sort_points, spoken, texts, with_gaps
from sandtable.chart.words import axis_title, capital, escape, series_words, shortened, title

MOST_POINTS = 4000
MOST_MARKED = 60
FEW_PERIODS = 12
LONGEST_NAME = 80


def line(shape: Shape, asked: Asked, wished: bool) -> Figure | None:
    if shape.reading.current and len(shape.keys) == 3 and not any(key.unique for key in shape.keys):
        return multiples(shape)
    found = axes(shape)
    if not shape.measures or not found or not 2 <= shape.rows <= MOST_POINTS:
        return None
    along, series = _along(found)
    if not along.ordered and not (wished and len(along.column.distinct) <= MOST_MARKED):
        return None
    if len(along.column.distinct) < 2 or (not wished and _picked(shape)):
        return None
    if series is None:
        return _measure_panels(shape, along) or _measures(shape, along)
    return _groups(shape, along, series) or _group_panels(shape, along, series) if along.ordered else None


def multiples(shape: Shape) -> Figure | None:
    """Of three keys: a panel for each value of one, in it a line for each value of another."""
    if not shape.measures or not 2 <= shape.rows <= MOST_POINTS:
        return None
    along, *others = sorted(shape.keys, key=lambda key: (not key.ordered, _is_year(key), key.role != "time"))
    panel, series = sorted(others, key=lambda key: len(key.column.distinct))
    few = len(panel.column.distinct) <= MOST_PANELS and len(series.column.distinct) <= MOST_SERIES
    if not along.ordered or not few or not tell_apart(*shape.keys):
        return None
    measure, names, rows = shape.measures[0], spoken(series), range(shape.rows)
    said = texts(series, names)
    panels: list[Panel] = []
    named: set[str] = set()
    for text, heading in zip(spoken(panel), texts(panel, spoken(panel)), strict=True):
        traces: list[Trace] = []
        for n, name in enumerate(names):
            here = [i for i in rows if panel.column.labels[i] == text and series.column.labels[i] == name]
            points = [(along.column.cells[i], drawn(measure.column.cells[i])) for i in here]
            if points:
                shown = {"name": escape(said[n]), "legendgroup": str(n), "showlegend": name not in named}
                traces.append(_trace(n, along, points, measure) | shown)
                named.add(name)
        panels.append(Panel(escape(shortened(heading, LONGEST_NAME)), traces, measure))
    heading = title([measure], [along, series, panel], shape.reading)
    legend = {"title": {"text": axis_title(series)}}
    return panelled(panels, heading, _axis(along), shape.reading, showlegend=True, legend=legend)


def area(shape: Shape, asked: Asked, wished: bool) -> Figure | None:
    """A line with the area below it filled. Several areas would hide each other."""
    made = line(shape, asked, wished)
    if made is None or len(made["data"]) > 1 or made["layout"]["xaxis"]["type"] == "category":
        return None
    made["data"][0]["fill"] = "tozeroy"
    return made


def _along(found: tuple[Field, ...]) -> tuple[Field, Field | None]:
    along, *rest = sorted(found, key=lambda key: (not key.ordered, _is_year(key), key.role != "time"))
    return along, rest[0] if rest else None


def _is_year(key: Field) -> bool:
    """Of a year and a month, the month is the axis and each year a line."""
    if key.grain is not None:
        return key.grain in ("year", "fiscal_year")
    name = key.name.lower()
    return name.endswith("year") and not name.endswith("of_year")


def _picked(shape: Shape) -> bool:
    """Whether the rows are a ranking of a few periods, not a time series: their order is the answer."""
    order = shape.reading.order_by.lower()
    few = shape.reading.cut or shape.rows <= FEW_PERIODS
    return few and order in (field.name.lower() for field in shape.measures)


def _measures(shape: Shape, along: Field) -> Figure:
    measures = alike(shape.measures)
    traces = [
        _trace(n, along, list(zip(along.column.cells, map(drawn, field.column.cells), strict=True)), field)
        | {"name": escape(capital(series_words(field, shape.reading)))}
        for n, field in enumerate(measures)
    ]
    made = figure(
        traces,
        title(list(measures), [along], shape.reading),
        xaxis=_axis(along),
        yaxis=value_axis(measures[0], shape.reading, measures),
        showlegend=len(measures) > 1,
    )
    if len(measures) > 1:
        made["layout"]["yaxis"]["title"] = {"text": ""}
    else:
        del traces[0]["name"]
        traces[0]["hovertemplate"] += "<extra></extra>"
    return made


def _measure_panels(shape: Shape, along: Field) -> Figure | None:
    """A panel for each measure, where they differ in unit or size."""
    measures = [field for field in shape.measures if not field.derived]
    fits = 2 <= len(measures) <= MOST_MEASURES and not shape.measures[0].derived
    if not shape.reading.current or not fits or len(alike(measures, MOST_MEASURES)) == len(measures):
        return None
    ordered = sorted(measures, key=lambda field: field.column.index)
    panels = [
        Panel(
            axis_title(field, shape.reading),
            [
                _alone(
                    0,
                    along,
                    list(zip(along.column.cells, map(drawn, field.column.cells), strict=True)),
                    field,
                )
            ],
            field,
        )
        for field in ordered
    ]
    return panelled(panels, title(ordered, [along], shape.reading), _axis(along), shape.reading)


def _group_panels(shape: Shape, along: Field, series: Field) -> Figure | None:
    """A panel for each group, where there are too many for one plot."""
    names, measure = spoken(series), shape.measures[0]
    if not shape.reading.current or not MOST_SERIES < len(names) <= MOST_LINES:
        return None
    points = _points(along, series, measure)
    panels = [
        Panel(escape(shortened(text, LONGEST_NAME)), [_alone(0, along, points[name], measure)], measure)
        for name, text in zip(names, texts(series, names), strict=True)
    ]
    return panelled(panels, title([measure], [along, series], shape.reading), _axis(along), shape.reading)


def _alone(n: int, along: Field, points: list[tuple[Any, Any]], field: Field) -> Trace:
    made = _trace(n, along, points, field)
    return made | {"hovertemplate": made["hovertemplate"] + "<extra></extra>"}


def _points(along: Field, series: Field, measure: Field) -> dict[str, list[tuple[Any, Any]]]:
    points: dict[str, list[tuple[Any, Any]]] = {name: [] for name in spoken(series)}
    for name, cell, value in zip(series.column.labels, along.column.cells, measure.column.cells, strict=True):
        points[name].append((cell, drawn(value)))
    return points


def _groups(shape: Shape, along: Field, series: Field) -> Figure | None:
    names = spoken(series)
    if len(names) > MOST_SERIES or any(len(name) > LONGEST_NAME for name in names):
        return None
    measure = shape.measures[0]
    points = _points(along, series, measure)
    traces = [
        _trace(n, along, points[name], measure) | {"name": escape(text)}
        for n, (name, text) in enumerate(zip(names, texts(series, names), strict=True))
    ]
    return figure(
        traces,
        title([measure], [along, series], shape.reading),
        xaxis=_axis(along),
        yaxis=value_axis(measure, shape.reading),
        showlegend=True,
        legend={"title": {"text": axis_title(series)}},
    )


def _trace(n: int, along: Field, points: list[tuple[Any, Any]], field: Field) -> Trace:
    if not along.ordered:
        made = list(zip(along.column.labels, (value for _, value in points), strict=True))
    else:
        made = with_gaps(along, sort_points(along, points))
    broken = any(value is None for _, value in made)
    written = moment_format(along) if along.role == "time" else _written(along)
    trace: Trace = {
        "type": "scatter",
        "mode": "lines+markers" if broken or len(made) <= MOST_MARKED else "lines",
        "x": [cell for cell, _ in made],
        "y": [value for _, value in made],
        "connectgaps": False,
        "line": {"color": PALETTE[n]},
        "marker": {"color": PALETTE[n], "symbol": SYMBOLS[n]},
    }
    if written is None:
        trace["customdata"] = _spoken([cell for cell, _ in made], along)
    shown = "%{customdata}" if written is None else f"%{{x{written}}}"
    return trace | {"hovertemplate": f"{shown}<br>{amount(field, 'y')}"}


def _written(along: Field) -> str | None:
    """None where a period is written in words, which an axis of numbers does not do in hover texts."""
    return None if along.current and along.role == "period" and along.grain in IN_WORDS else ""


def _spoken(cells: list[Any], along: Field) -> list[str]:
    """A gap has no name."""
    placed = [label(cell) for cell in cells if cell is not None]
    names = dict(zip(placed, texts(along, placed), strict=True))
    return ["" if cell is None else names[label(cell)] for cell in cells]


def _axis(along: Field) -> Axis:
    if along.role == "time":
        return time_axis(along)
    labels = spoken(along)
    if not along.ordered:
        return category_axis(along, labels)
    cells = dict(zip(along.column.labels, along.column.cells, strict=True))
    said = texts(along, labels, short=True)
    return number_axis(along, [cells[text] for text in labels], said if said != labels else None)
