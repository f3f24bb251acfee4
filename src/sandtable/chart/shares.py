"""Pies, sparingly: a few positive parts that make up a whole, when the question asks for parts.

Plotly's own percentages are left out: the label of a slice is a cell of the table.
"""

from __future__ import annotations

import math
import re

from sandtable.chart.amounts import amount
from sandtable.chart.asked import Asked
from sandtable.chart.cells import drawn
from sandtable.chart.layout import PALETTE, Figure, Trace, figure
from sandtable.chart.shape import Field, Shape, axes
from sandtable.chart.words import escape, shortened, title

MOST_SLICES = 6

_ADDS_UP = frozenset(("count", "sum"))
_DOES_NOT = re.compile(
    r"(?:^|_)(?:avg|average|mean|median|min|max|lowest|highest|p[0-9]{1,2}|stddev|rate|ratio|change|growth|zscore"
    r"|price|age|score|distinct|percent|pct|running_total)(?:_|$)"
)


def pie(shape: Shape, asked: Asked, wished: bool) -> Figure | None:
    found = axes(shape)
    if not (wished or asked.share) or len(found) != 1 or found[0].role != "category":
        return None
    key, measure = found[0], next(iter(shape.measures), None)
    if measure is None or not 2 <= shape.rows <= MOST_SLICES or not _is_whole(shape, measure):
        return None
    said = [escape(shortened(text)) for text in key.column.labels]
    if len(set(said)) < len(said):
        return None
    trace: Trace = {
        "type": "pie",
        "labels": said,
        "values": [drawn(cell) for cell in measure.column.cells],
        "customdata": [escape(text) for text in key.column.labels],
        "sort": False,
        "automargin": True,
        "direction": "clockwise",
        "marker": {"colors": list(PALETTE[: shape.rows])},
        "texttemplate": f"%{{label}}<br>{amount(measure, 'value')}",
        "hovertemplate": f"%{{customdata}}<br>{amount(measure, 'value')}<extra></extra>",
    }
    return figure([trace], title([measure], [key], shape.reading))


def _is_whole(shape: Shape, measure: Field) -> bool:
    values = measure.column.numbers
    if len(values) < shape.rows or min(values) <= 0:
        return False
    if measure.fraction:
        return math.isclose(sum(values), 1.0, rel_tol=1e-6)
    return shape.whole and adds_up(measure)


def adds_up(measure: Field) -> bool:
    """Whether the sum of its values means something: totals and counts do, averages and rates do not."""
    if measure.fraction:
        return measure.meaning.role in ("share_of_total", "share_of_change")
    if measure.meaning.aggregate is not None:
        return measure.meaning.aggregate in _ADDS_UP
    return not measure.derived and not _DOES_NOT.search(measure.name.lower())
