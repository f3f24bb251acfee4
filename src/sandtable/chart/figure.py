"""From a result and its question to one Plotly figure, or none.

Invariant: pure. Every value in the figure is a cell of the rows, and every row that can be drawn is:
chart and table cannot disagree. A chart that would leave rows out or cannot be read is not made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from sandtable.chart.asked import Asked, wished
from sandtable.chart.bars import bars, horizontal, stacked, stacked_shares, upright
from sandtable.chart.heat import clock, heatmap
from sandtable.chart.layout import Figure
from sandtable.chart.lines import area, line
from sandtable.chart.points import histogram, scatter
from sandtable.chart.reference import with_references
from sandtable.chart.rules import FIRST_MAKER, MAKER
from sandtable.chart.shape import NO_WORDS, Shape, Words, shape_of
from sandtable.chart.shares import pie
from sandtable.chart.single import single
from sandtable.chart.wishes import kinds_of
from sandtable.plan.model import ChartKind, QueryPlan

MOST_BYTES = 256 << 10

FigureKind = Literal[
    "column",
    "horizontal_bar",
    "stacked_bar",
    "stacked_share",
    "line",
    "area",
    "scatter",
    "pie",
    "heatmap",
    "histogram",
]
"""What a person can choose to see rows as, in the order in which it is offered."""
KINDS: tuple[FigureKind, ...] = get_args(FigureKind)

Draw = Callable[[Shape, Asked, bool], Figure | None]

BY_NAME: dict[ChartKind | FigureKind, Draw] = {
    "bar": bars,
    "column": upright,
    "horizontal_bar": horizontal,
    "stacked_bar": stacked,
    "stacked_share": stacked_shares,
    "line": line,
    "area": area,
    "scatter": scatter,
    "histogram": histogram,
    "pie": pie,
    "heatmap": heatmap,
}
BY_SHAPE: tuple[Draw, ...] = (scatter, histogram, pie, clock, line, bars, heatmap)
"""Tried in this order: the first that fits the result is drawn."""


def chart_of(
    columns: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[Any]],
    *,
    question: str = "",
    plan: QueryPlan | None = None,
    truncated: bool = False,
    words: Words = NO_WORDS,
    maker: str = MAKER,
) -> Figure | None:
    """The figure (`data` and `layout` in Plotly's schema) that shows these rows best; None if no chart fits.

    Columns are names with DuckDB types; cells are as the sandbox sends them. `truncated`: the query had more rows.
    `words`: the plan in words, for the title. `maker`: the version of the rules, one of `MAKERS`.
    """
    asked = wished(question, plan.chart if plan is not None else None, current=maker == MAKER)
    if asked.nothing or len(rows) < (1 if maker == MAKER else 2):
        return None
    known = NO_WORDS if maker == FIRST_MAKER else words
    shape = shape_of(columns, rows, asked, plan, truncated, known, maker)
    if shape is None:
        return None
    made = _best(shape, asked) if len(rows) > 1 else single(shape)
    if made is None:
        return None
    if maker == MAKER:
        made = _finished(
            made, shape, question, len(rows) if truncated and not _limited(plan, len(rows)) else 0
        )
    made["layout"]["meta"] = maker
    return made if _size(made) <= MOST_BYTES else None


def _limited(plan: QueryPlan | None, rows: int) -> bool:
    """Whether the plan itself asks for no more rows."""
    return plan is not None and plan.limit is not None and plan.limit <= rows


def _finished(made: Figure, shape: Shape, question: str, cut_at: int) -> Figure:
    """With its reference lines; and with a word about the rows that are missing, where it shows the first of more."""
    if cut_at:
        made["layout"]["title"]["subtitle"] = {"text": f"The first {cut_at:,} rows; there may be more"}
    return with_references(made, shape, question)


def _best(shape: Shape, asked: Asked) -> Figure | None:
    made = BY_NAME[asked.kind](shape, asked, True) if asked.kind else None
    for draw in BY_SHAPE:
        made = made or draw(shape, asked, False)
    return made


def charts_of(
    columns: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[Any]],
    *,
    question: str = "",
    plan: QueryPlan | None = None,
    truncated: bool = False,
    words: Words = NO_WORDS,
) -> dict[FigureKind, Figure]:
    """One figure for each kind that can show these rows, in the order of `KINDS`. What is given is as for `chart_of`,
    and so is the measure that they are about."""
    asked = wished(question, plan.chart if plan is not None else None)
    shape = shape_of(columns, rows, asked, plan, truncated, words) if len(rows) > 1 else None
    if shape is None:
        return {}
    cut_at = len(rows) if truncated and not _limited(plan, len(rows)) else 0
    drawn: dict[FigureKind, Figure] = {}
    for kind in KINDS:
        made = BY_NAME[kind](shape, asked, True)
        if made is not None:
            made = _finished(made, shape, question, cut_at)
        if made is not None and _size(made) <= MOST_BYTES:
            drawn[kind] = made
    return drawn


def kind_of(figure: Mapping[str, Any] | None) -> FigureKind | None:
    """Which of `KINDS` a figure of `chart_of` is."""
    return next((name for name in kinds_of(figure) if name in KINDS), None)


def _size(made: Figure) -> int:
    return len(json.dumps(made))
