"""Lookup questions over small tables that the scorer has never seen."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandtable.catalog.model import ColumnType
from sandtable.catalog.profile import Cell
from sandtable.plan.validate import check_plan, parse_plan
from sandtable.planner.candidates.lookup.lookup import best_lookup
from sandtable.planner.schema.index import SchemaIndex
from tests.planner.candidates.lookup.small_tables import INDEXES, STAFF, agg, cmp, col, eq, index_of

RIGHT: list[tuple[str, str, dict[str, Any], list[dict[str, Any]]]] = [
    ("orders", "what is the unit price of the office chair?", col("Unit Price"), [eq("Product", "Office Chair")]),
    ("orders", "total units for Germany", agg("sum", "Units"), [eq("Country", "Germany")]),
    ("orders", "average unit price in the Furniture category", agg("avg", "Unit Price"), [eq("Category", "Furniture")]),
    ("orders", "which customer bought the notebook?", col("Customer"), [eq("Product", "Notebook")]),
    ("orders", "how many orders are from germany?", {"agg": "count"}, [eq("Country", "Germany")]),
    ("orders", "products with unit price over 100", col("Product"), [cmp("Unit Price", ">", 100)]),
    ("orders", "when did Globex order?", col("Order Date"), [eq("Customer", "Globex")]),
    ("orders", "Which countries ordered the Desk Lamp?", col("Country"), [eq("Product", "Desk Lamp")]),
    ("staff", "what is Aiko Tanaka's salary?", col("salary"), [eq("name", "Aiko Tanaka")]),
    ("staff", "who works in the Research department?", col("name"), [eq("department", "Research")]),
    ("staff", "how many people work in London?", {"agg": "count"}, [eq("city", "London")]),
    ("staff", "average salary in Finance", agg("avg", "salary"), [eq("department", "Finance")]),
    ("staff", "when was Maria Lopez hired?", col("hire_year"), [eq("name", "Maria Lopez")]),
    ("staff", "who was hired after 2015?", col("name"), [cmp("hire_year", ">", 2015)]),
    ("staff", "highest salary of an engineer", agg("max", "salary"), [eq("job_title", "Engineer")]),
    ("staff", "which city does the manager live in?", col("city"), [eq("job_title", "Manager")]),
    ("staff", "names with a salary of at least 80500", col("name"), [cmp("salary", ">=", 80500)]),
    ("lakes", "what is the area of Lake Geneva?", col("Area (km2)"), [eq("Lake", "Geneva")]),
    ("lakes", "which lakes are in Canada?", col("Lake"), [eq("Country", "Canada")]),
    ("lakes", "what is the outflow of Victoria?", col("Outflow"), [eq("Lake", "Victoria")]),
    ("lakes", "lakes with a max depth below 300", col("Lake"), [cmp("Max depth (m)", "<", 300)]),
    ("lakes", "Which lake flows out through the Rhone?", col("Lake"), [eq("Outflow", "Rhône")]),
]  # fmt: skip

DOUBTED = [
    ("orders", "which product sold the most units?"),
    ("orders", "revenue by country"),
    ("orders", "what share of orders is from Germany?"),
    ("orders", "how many orders per month?"),
    ("orders", "what is the unit price of the bookshelf?"),
    ("orders", "compare Germany and France"),
    ("staff", "who earns the most?"),
    ("staff", "who earns more than John Smith?"),
    ("staff", "which department has the highest average salary?"),
    ("staff", "how old is Chloe Martin?"),
    ("staff", "salary of Jane Doe"),
    ("staff", "is Maria Lopez an engineer?"),
    ("lakes", "which lake is the deepest?"),
    ("lakes", "what is the difference in area between Superior and Victoria?"),
    ("lakes", "what is the volume of Baikal?"),
    ("lakes", "lakes sorted by depth"),
    ("lakes", "who discovered Lake Victoria?"),
    ("lakes", "hello"),
]


@pytest.mark.parametrize(
    ("table", "question", "item", "filters"), RIGHT, ids=[question for _, question, *_ in RIGHT]
)
def test_a_lookup_is_read(
    table: str, question: str, item: dict[str, Any], filters: list[dict[str, Any]]
) -> None:
    found = best_lookup(question, INDEXES[table], table)
    assert found is not None
    assert found.plan == {
        "dataset_id": f"{table}_set",
        "table": table,
        "select": [item],
        "filters": filters,
    }
    assert found.probability > 0.5


@pytest.mark.parametrize(("table", "question"), DOUBTED)
def test_what_no_lookup_answers_is_doubted(table: str, question: str) -> None:
    found = best_lookup(question, INDEXES[table], table)
    assert found is not None
    assert found.probability < 0.35


@pytest.mark.parametrize(
    ("table", "question"),
    [
        ("orders", "which customers have never ordered furniture?"),
        ("orders", "which country is not from Acme Ltd?"),
        ("staff", "what is the salary without John Smith?"),
        ("staff", "name of the engineer except Maria Lopez"),
    ],
)
def test_a_lookup_leaves_nothing_out(table: str, question: str) -> None:
    found = best_lookup(question, INDEXES[table], table)
    assert found is not None
    assert found.probability <= 0.3


@pytest.mark.parametrize(
    "question", ["", "   ", "word " * 81, "x" * 1001], ids=["empty", "blank", "long", "huge"]
)
def test_what_is_no_question_gives_nothing(question: str) -> None:
    assert best_lookup(question, STAFF, "staff") is None


def test_a_table_that_does_not_exist_gives_nothing() -> None:
    assert best_lookup("what is the salary of Maria Lopez?", STAFF, "employees") is None


def test_the_tables_name_may_be_written_in_any_case() -> None:
    found = best_lookup("what is the salary of Maria Lopez?", STAFF, "STAFF")
    assert found is not None
    assert found.plan["table"] == "staff"


def test_a_dataset_without_a_profile_is_read_by_its_names_alone() -> None:
    bare = SchemaIndex.build(STAFF.dataset, None)
    found = best_lookup("what is the average salary?", bare, "staff")
    assert found is not None
    assert found.plan["select"] == [{"agg": "avg", "column": "salary"}]
    assert found.plan["filters"] == []


def test_an_index_made_anew_is_not_mistaken_for_an_old_one() -> None:
    """Two datasets may share a version's text and even an address in memory."""
    for city in ("Oslo", "Rome"):
        index = index_of("t", {"town": ColumnType.TEXT, "size": ColumnType.INTEGER}, [(city, 3), ("Bern", 4)])
        found = best_lookup(f"what is the size of {city}?", index, "t")
        assert found is not None
        assert found.plan["filters"] == [eq("town", city)]
        del index


_CELLS: dict[ColumnType, st.SearchStrategy[Cell]] = {
    ColumnType.TEXT: st.sampled_from(
        ["Oslo", "New York", "3", "n/a", "a", "4-0", "müller", "of", "2012 - 13", "日本"]
    )
    | st.text(min_size=1, max_size=8),
    ColumnType.INTEGER: st.integers(-(10**17), 10**17) | st.integers(0, 9),
    ColumnType.FLOAT: st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.5, 3.0]),
    ColumnType.DECIMAL: st.sampled_from(["3.00", "0.50", "-12.25"]),
    ColumnType.BOOLEAN: st.booleans(),
    ColumnType.DATE: st.sampled_from(["2024-01-03", "1999-12-31"]),
}
_TYPES = list(_CELLS)
_WORDS = (
    "what is the how many who with more than less at least average highest total of in and no 3 12 0.5 2024-01-03 "
    "Oslo New York a 4-0 name Price ? ' - % $ é 日本 1e400 99999999999999999999"
).split()


@st.composite
def _tables(draw: st.DrawFn) -> SchemaIndex:
    names = draw(
        st.lists(
            st.sampled_from(
                [
                    "name",
                    "Unit Price",
                    "no",
                    "2024",
                    "%",
                    "order date",
                    "city (EU)",
                    "日本",
                    "a_b",
                    "New York",
                ]
            ),
            min_size=1,
            max_size=5,
            unique=True,
        )
    )
    types = [draw(st.sampled_from(_TYPES)) for _ in names]
    rows = draw(st.lists(st.tuples(*(st.none() | _CELLS[type_] for type_ in types)), max_size=4))
    return index_of("t", dict(zip(names, types, strict=True)), rows)


@settings(max_examples=100, deadline=None)
@given(index=_tables(), words=st.lists(st.sampled_from(_WORDS), max_size=12), tail=st.text(max_size=5))
def test_every_question_gives_nothing_or_a_plan_that_fits(
    index: SchemaIndex, words: list[str], tail: str
) -> None:
    question = " ".join([*words, tail])
    found = best_lookup(question, index, "t")
    if found is None:
        return
    assert check_plan(parse_plan(found.plan), index.dataset) == []
    assert 0.0 <= found.probability <= 1.0
    again = best_lookup(question, SchemaIndex.build(index.dataset, index.profile), "t")
    assert again == found
