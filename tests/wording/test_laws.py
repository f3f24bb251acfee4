"""What holds for every answer: its numbers are the result's, its text is inert, and it never fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandtable.plan.validate import parse_plan
from sandtable.sql.compile import compile_plan
from sandtable.wording import answer_of, reading_of
from tests.hostile import live_in
from tests.plan.shop import SHOP, connect
from tests.plan.strategies import TEXTS, plans
from tests.wording.running import run_sql
from tests.wording.vouching import strangers

REUSED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
LONGEST = 6_000

QUESTIONS = st.sampled_from(
    [
        "",
        "Which is highest?",
        "Is it more than 5?",
        "Are there any?",
        "Did it rise?",
        "top 3",
        "Is A higher than B?",
    ]
)


@pytest.fixture(scope="module")
def shop() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect() as connection:
        yield connection


def check_inert(text: str) -> None:
    """One paragraph of text and code, in which a renderer finds no markup and no address to link."""
    assert text.strip() == text and "\n" not in text and len(text) <= LONGEST
    assert live_in(text) == []


@REUSED
@given(plan=plans(SHOP), question=QUESTIONS)
def test_every_number_comes_from_the_result(
    plan: dict[str, Any], question: str, shop: duckdb.DuckDBPyConnection
) -> None:
    columns, rows = run_sql(shop, compile_plan(parse_plan(plan), SHOP).sql)
    text = answer_of(question, plan, columns, rows, SHOP, row_count=len(rows))
    assert strangers(text, question, plan, columns, rows, SHOP, len(rows)) == []
    assert answer_of(question, plan, columns, rows, SHOP, row_count=len(rows)) == text
    check_inert(text)


@given(plans(SHOP))
def test_every_plan_can_be_read(plan: dict[str, Any]) -> None:
    text = reading_of(plan, SHOP)
    assert text and not text.endswith(".") and "\n" not in text
    assert reading_of(json.loads(json.dumps(plan)), SHOP) == text


def test_an_invented_number_is_found() -> None:
    plan = {"dataset_id": "shop", "table": "orders", "select": [{"column": "region"}], "limit": 4}
    said = "North has 20 of 28.1 pieces (71.2 %), 8 more than South, on 3 March 2024."
    rows = [["North", 20, 0.7124, "2024-03-03"], ["South", 8, 0.28, "2024-03-05"]]
    columns = [("region", "VARCHAR"), ("n", "BIGINT"), ("share", "DOUBLE"), ("day", "DATE")]
    assert [str(n) for n in strangers(said, "", plan, columns, rows, SHOP, 2)] == ["28.1"]
    assert [str(n) for n in strangers("12 rows, 2025", "", plan, columns, rows, SHOP, 2)] == ["12", "2025"]


_CELLS: dict[str, st.SearchStrategy[Any]] = {
    "VARCHAR": TEXTS,
    "DOUBLE": st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(["NaN", "Infinity"]),
    "BIGINT": st.integers(-(2**53), 2**53),
    "HUGEINT": st.integers(2**60, 2**100).map(str),
    "DECIMAL(38,2)": st.decimals(-(10**20), 10**20, places=2).map(str) | st.floats(0, 1),
    "DATE": st.dates().map(lambda d: d.isoformat()),
    "TIMESTAMP": st.datetimes().map(lambda d: d.isoformat(timespec="seconds")),
    "BOOLEAN": st.booleans(),
    "INTEGER[]": st.lists(st.integers(0, 9), max_size=3),
}


@st.composite
def results(draw: st.DrawFn) -> tuple[list[tuple[str, str]], list[list[Any]]]:
    names = st.sampled_from(
        ["region", "order_date", "month", "n", "return_rate", "avg_unit_price", "<b>", "a_id", "z"]
    )
    types = draw(st.lists(st.sampled_from(sorted(_CELLS)), min_size=1, max_size=4))
    columns = [(draw(names | TEXTS.filter(bool)), type_) for type_ in types]
    row = st.tuples(*(_CELLS[type_] | st.none() for type_ in types)).map(list)
    return columns, draw(st.lists(row, max_size=7))


@given(results(), QUESTIONS, st.booleans())
def test_results_without_a_plan(
    result: tuple[list[tuple[str, str]], list[list[Any]]], question: str, truncated: bool
) -> None:
    columns, rows = result
    text = answer_of(question, None, columns, rows, SHOP, truncated=truncated)
    assert strangers(text, question, None, columns, rows, SHOP, len(rows)) == []
    check_inert(text)


@given(st.dictionaries(TEXTS, st.none() | st.integers() | TEXTS | st.lists(TEXTS)))
def test_what_is_no_plan_is_said_to_be_none(obj: dict[str, Any]) -> None:
    assert reading_of(obj, SHOP) == "a plan that cannot be read"
    assert answer_of("?", obj, [("n", "BIGINT")], [[3]], SHOP) == "There are 3 rows."
