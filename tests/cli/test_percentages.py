"""Fractions of a plan are in percent on a terminal, and as they are everywhere else."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.cli.percentages import in_percent
from sandtable.cli.turn import ShownAnswer
from sandtable.cli.turn_show import show_turn
from sandtable.runs.described import DescribedColumn, described
from sandtable.sandbox.job import ResultColumn

PLAN: dict[str, Any] = {
    "dataset_id": "shop",
    "table": "orders",
    "select": [{"bucket": "month", "as": "month"}, {"agg": "sum", "column": "total", "as": "revenue"}],
    "derive": [
        {"change": "revenue", "along": "month", "as": "change"},
        {"change": "revenue", "along": "month", "kind": "percent", "as": "growth"},
        {"share_of_total": "revenue", "as": "share"},
    ],
}
NAMES = ("month", "revenue", "change", "growth", "share")


def _columns(plan: dict[str, Any] | None) -> tuple[DescribedColumn, ...]:
    types = {"month": "DATE"}
    return described([ResultColumn(name=name, type=types.get(name, "DOUBLE")) for name in NAMES], plan)


def test_only_fractions_are_in_percent() -> None:
    row = ("2024-02-01", 0.5, None, 0.15625, "0.25")
    assert in_percent(row, _columns(PLAN)) == ["2024-02-01", 0.5, None, "15.6 %", "25 %"]
    assert in_percent(row, _columns(None)) == list(row), "a column of SQL is a plain number"
    assert in_percent((None, None, None, None, "NaN"), _columns(PLAN))[-1] == "NaN"


def test_the_table_of_an_answer_says_percent_as_its_sentence_does(capsys: pytest.CaptureFixture[str]) -> None:
    rows = (("2024-01-01", 100.0, None, None, 0.4), ("2024-02-01", 150.0, 50.0, -0.156, 0.6))
    show_turn(
        ShownAnswer("answered", "Revenue fell by 15.6 %.", columns=_columns(PLAN), rows=rows, row_count=2)
    )
    last = next(line for line in capsys.readouterr().out.splitlines() if "2024-02-01" in line)
    assert last.split() == ["2024-02-01", "150", "50", "−15.6", "%", "60", "%"]
