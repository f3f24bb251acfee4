"""Rows with two keys as a table of one measure."""

from __future__ import annotations

from typing import Any

from sandtable.chart.cells import drawn
from sandtable.chart.shape import Field


def pivot(one: Field, other: Field, measure: Field) -> dict[tuple[str, str], Any]:
    """The cell at each pair of labels; a pair that no row has, and a cell that is no number, is a gap."""
    return {
        (a, b): drawn(cell)
        for a, b, cell in zip(one.column.labels, other.column.labels, measure.column.cells, strict=True)
    }
