"""Weeks and fiscal years in words: which they are, and which months they have."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.catalog.model import Dataset
from sandtable.wording import answer_of
from sandtable.wording.titles import title_of
from tests.wording.running import CATALOG

SHOP = CATALOG.get("ecommerce")
SUNDAYS = SHOP.model_copy(update={"week_start": "sunday"})
APRIL = SHOP.model_copy(update={"fiscal_month": 4})
FEBRUARY = SHOP.model_copy(update={"fiscal_month": 2})
COUNT = {"agg": "count", "as": "n"}


def plan(*select: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"dataset_id": "ecommerce", "table": "orders", "select": list(select), **more}


TITLES = [
    (APRIL, {"from": "2024-04-01", "to": "2025-03-31"}, "fiscal year 2025 (April 2024 to March 2025)"),
    (APRIL, {"from": "2024-04-01", "to": "2024-06-30"}, "Q2 2024 (fiscal Q1 2025)"),
    (
        FEBRUARY,
        {"from": "2024-11-01", "to": "2025-01-31"},
        "fiscal Q4 2025 (November 2024 to January 2025)",
    ),
    (APRIL, {"from": "2024-01-01", "to": "2024-12-31"}, "2024"),
    (SHOP, {"from": "2024-04-01", "to": "2024-06-30"}, "Q2 2024"),
    (APRIL, {"period": "last_fiscal_year"}, "last fiscal year (April 2024 to March 2025)"),
    (APRIL, {"period": "this_fiscal_quarter"}, "this fiscal quarter (April to June 2025)"),
    (SUNDAYS, {"period": "last_week"}, "last week (22 to 28 June 2025)"),
    (SHOP, {"period": "last_week"}, "last week (16 to 22 June 2025)"),
]


@pytest.mark.parametrize(("dataset", "time", "said"), TITLES)
def test_a_window_names_its_period_and_its_months(dataset: Dataset, time: dict[str, str], said: str) -> None:
    if "period" in time:
        time = {**time, "as_of": "2025-06-29"}
    assert title_of(plan(COUNT, time=time), dataset, 1).endswith(said)


SERIES = [
    (
        SUNDAYS,
        "week",
        ["2025-01-05", "2025-01-12"],
        "week of Sunday 5 January",
        "week of Sunday 12 January 2025",
    ),
    (SHOP, "week", ["2025-01-06", "2025-01-13"], "in the week of 6 January", "week of 13 January 2025"),
    (APRIL, "fiscal_year", ["2023-04-01", "2024-04-01"], "in fiscal year 2024", "in fiscal year 2025"),
    (APRIL, "fiscal_quarter", ["2024-01-01", "2024-04-01"], "fiscal Q4 2024", "in fiscal Q1 2025"),
]


@pytest.mark.parametrize(("dataset", "bucket", "starts", "first", "last"), SERIES)
def test_a_period_of_a_series_is_named(
    dataset: Dataset, bucket: str, starts: list[str], first: str, last: str
) -> None:
    made = plan({"bucket": bucket, "as": "at"}, COUNT)
    rows = [[starts[0], 10], [starts[1], 14]]
    said = answer_of("", made, [("at", "DATE"), ("n", "BIGINT")], rows, dataset, row_count=2)
    assert first in said and last in said


def test_rows_are_fiscal_quarters() -> None:
    rows = [[f"20{year}-{month:02}-01", 10 + month] for year in (23, 24) for month in (1, 4, 7, 10)]
    made = plan({"bucket": "fiscal_quarter", "as": "at"}, COUNT)
    title = title_of(made, APRIL, len(rows))
    assert title == "Number of orders by fiscal quarter"
