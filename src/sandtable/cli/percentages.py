"""Columns that hold fractions, printed in percent as in the answer's sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandtable.plan.units import FRACTION
from sandtable.runs.described import DescribedColumn
from sandtable.wording.figures import number_of, shown


def in_percent(row: Sequence[Any], columns: Sequence[DescribedColumn]) -> list[Any]:
    """The row with the numbers of fractions as text: 0.156 is `15.6 %`."""
    return [
        _percent(value) if column.is_fraction else value for value, column in zip(row, columns, strict=True)
    ]


def _percent(value: Any) -> Any:
    number = number_of(value)
    return shown(number, FRACTION) if number is not None else value
