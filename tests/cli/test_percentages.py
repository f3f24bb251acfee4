"""Fractions of a plan are in percent on a terminal, and as they are everywhere else."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.catalog.registry import load_catalog, registry_folder
from sandtable.cli.percentages import fraction_columns, in_percent
from sandtable.cli.turn import ShownAnswer
from sandtable.cli.turn_show import show_turn
from sandtable.engines.duckdb.types import column_type

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


def test_shares_and_relative_changes_are_fractions() -> None:
    assert fraction_columns(PLAN, NAMES) == {3, 4}


def test_a_metric_that_the_dataset_declares_in_percent_is_one() -> None:
    shop = load_catalog(registry_folder(), column_type).get("ecommerce")
    select = [{"column": "category"}, {"metric": "return_rate"}, {"metric": "revenue"}]
    plan = {"dataset_id": "ecommerce", "table": "order_items", "select": select}
    names = ("category", "return_rate", "revenue")
    assert fraction_columns(plan, names, shop) == {1}
    assert fraction_columns(plan, names) == frozenset()
    assert fraction_columns(plan, ("a", "b", "c"), shop) == frozenset(), "another result than the plan's"


@pytest.mark.parametrize(
    "plan", [None, {}, {**PLAN, "select": [{"column": "*"}]}], ids=["SQL", "none", "all columns"]
)
def test_what_no_plan_says_is_a_plain_number(plan: dict[str, Any] | None) -> None:
    assert fraction_columns(plan, NAMES) == frozenset()


def test_other_cells_stay_as_they_are() -> None:
    row = ("2024-02-01", 0.5, None, 0.15625, "0.25")
    assert in_percent(row, frozenset({3, 4})) == ["2024-02-01", 0.5, None, "15.6 %", "25 %"]
    assert in_percent((None, "NaN"), frozenset({0, 1})) == [None, "NaN"]


def test_the_table_of_an_answer_says_percent_as_its_sentence_does(capsys: pytest.CaptureFixture[str]) -> None:
    columns = tuple((name, "DATE" if name == "month" else "DOUBLE") for name in NAMES)
    rows = (("2024-01-01", 100.0, None, None, 0.4), ("2024-02-01", 150.0, 50.0, -0.156, 0.6))
    show_turn(
        ShownAnswer("answered", "Revenue fell by 15.6 %.", columns=columns, rows=rows, row_count=2, plan=PLAN)
    )
    last = next(line for line in capsys.readouterr().out.splitlines() if "2024-02-01" in line)
    assert last.split() == ["2024-02-01", "150", "50", "−15.6", "%", "60", "%"]
