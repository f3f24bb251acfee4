"""Heat maps: two keys and one measure, when there are too many pairs for bars or lines."""

from __future__ import annotations

from sandtable.chart.amounts import amount, ticks
from sandtable.chart.asked import Asked
from sandtable.chart.layout import SCALE, Figure, Trace, category_axis, figure
from sandtable.chart.shape import Field, Shape, axes, pivot
from sandtable.chart.spans import spoken, texts
from sandtable.chart.words import axis_title, title

MOST_ACROSS = 60
MOST_DOWN = 40
LEAST_FILLED = 0.3


def heatmap(shape: Shape, asked: Asked, wished: bool) -> Figure | None:
    found = axes(shape)
    if len(found) != 2 or not shape.measures:
        return None
    across, down = _across_and_down(*found)
    xs, ys = spoken(across), spoken(down)
    if not (2 <= len(xs) <= MOST_ACROSS and 2 <= len(ys) <= MOST_DOWN):
        return None
    if shape.rows < LEAST_FILLED * len(xs) * len(ys):
        return None
    measure = shape.measures[0]
    cells = pivot(across, down, measure)
    said_x, said_y = texts(across, xs), texts(down, ys)
    trace: Trace = {
        "type": "heatmap",
        "x": said_x,
        "y": said_y,
        "z": [[cells.get((x, y)) for x in xs] for y in ys],
        "colorscale": SCALE,
        "xgap": 1,
        "ygap": 1,
        "hoverongaps": False,
        "colorbar": {"title": {"text": axis_title(measure, shape.reading)}},
        "hovertemplate": f"%{{x}}<br>%{{y}}<br>{amount(measure, 'z')}<extra></extra>",
    }
    trace["colorbar"] |= ticks(measure)
    return figure(
        [trace],
        title([measure], [down, across], shape.reading),
        xaxis=category_axis(across, said_x),
        yaxis=category_axis(down, said_y) | {"autorange": "reversed"},
    )


def _across_and_down(one: Field, other: Field) -> tuple[Field, Field]:
    """Time goes across; otherwise what has more values."""
    if (one.role == "time") != (other.role == "time"):
        return (one, other) if one.role == "time" else (other, one)
    longer = len(one.column.distinct) >= len(other.column.distinct)
    return (one, other) if longer else (other, one)


def clock(shape: Shape, asked: Asked, wished: bool) -> Figure | None:
    """Day of the week by hour of the day is read as a map, not as seven lines."""
    grains = {key.grain for key in axes(shape) if key.grain is not None}
    return heatmap(shape, asked, wished) if grains == {"day_of_week", "hour_of_day"} else None
