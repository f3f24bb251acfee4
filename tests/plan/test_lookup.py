"""The texts of a plan looked up: which are in no row, and the plans that put them right."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.catalog.model import Column, ColumnType, Dataset, Relationship, Table
from sandtable.catalog.profile import ColumnProfile, Profile, TableProfile, ValueCount
from sandtable.plan.literals import text_literals, with_text
from sandtable.plan.lookup import corrections, counts_of, missing_values, spellings_of, undecided
from sandtable.plan.validate import check_plan, parse_plan

VERSION = "sha256:" + "ab" * 32


def _text(name: str) -> Column:
    return Column(name=name, type=ColumnType.TEXT, sql_type="VARCHAR")


DATA = Dataset(
    id="shop",
    title="Shop",
    description="Orders.",
    version=VERSION,
    tables=(
        Table(
            name="orders",
            file="orders.csv",
            sha256="cd" * 32,
            columns=(
                _text("customer_id"),
                _text("status"),
                _text("note"),
                Column(name="amount", type=ColumnType.FLOAT, sql_type="DOUBLE"),
            ),
        ),
        Table(
            name="customers",
            file="customers.csv",
            sha256="cd" * 32,
            columns=(_text("customer_id"), _text("city"), _text("country")),
        ),
    ),
    relationships=(
        Relationship(
            many_table="orders", many_column="customer_id", one_table="customers", one_column="customer_id"
        ),
    ),
)


def _held(name: str, *values: str, complete: bool = True) -> ColumnProfile:
    counts = tuple(ValueCount(value=value, count=1) for value in values)
    return ColumnProfile(name=name, nulls=0, distinct=len(values), values=counts, complete=complete)


PROFILE = Profile(
    version=VERSION,
    tables=(
        TableProfile(
            name="orders",
            rows=9,
            columns=(
                _held("customer_id", "c1"),
                _held("status", "paid", "cancelled", "open"),
                _held("note", "fragile", complete=False),
                ColumnProfile(name="amount", nulls=0, distinct=3),
            ),
        ),
        TableProfile(
            name="customers",
            rows=3,
            columns=(
                _held("customer_id", "c1"),
                _held("city", "Manchester", "München", "Münchberg", "Berlin"),
                _held("country", "Germany"),
            ),
        ),
    ),
)
COUNT = {"agg": "count", "as": "n"}


def plan(*filters: Any, **more: Any) -> dict[str, Any]:
    return {"dataset_id": "shop", "table": "orders", "select": [COUNT], "filters": list(filters), **more}


def eq(column: str, value: Any, op: str = "=") -> dict[str, Any]:
    return {"column": column, "op": op, "value": value}


DEFINED = {
    "dataset_id": "shop",
    "define": [
        {
            "name": "by_city",
            "plan": {
                "table": "orders",
                "select": [{"column": "customers.city", "as": "town"}, COUNT],
                "filters": [eq("status", "payed")],
            },
        }
    ],
    "table": "by_city",
    "select": [{"column": "town"}],
    "filters": [eq("town", "Munchen")],
}


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        pytest.param(plan(eq("status", "payed")), [("payed", "orders.status")], id="equal"),
        pytest.param(plan(eq("status", "canceled", "!=")), [("canceled", "orders.status")], id="not equal"),
        pytest.param(plan(eq("status", ["paid", "opn"], "in")), [("opn", "orders.status")], id="in a list"),
        pytest.param(plan(eq("customers.city", "Munchen")), [("Munchen", "customers.city")], id="joined"),
        pytest.param(plan({"any": [{"not": eq("status", "opn")}]}), [("opn", "orders.status")], id="nested"),
        pytest.param(
            plan(select=[{**COUNT, "where": [eq("status", "opn")]}]),
            [("opn", "orders.status")],
            id="aggregate",
        ),
        pytest.param(
            {
                **plan({"exists": {"table": "orders", "where": [eq("status", "opn")]}}),
                "table": "customers",
            },
            [("opn", "orders.status")],
            id="exists",
        ),
        pytest.param(
            plan(select=[{"column": "status"}, COUNT], having=[eq("status", "opn")]),
            [("opn", "orders.status")],
            id="having",
        ),
        pytest.param(
            DEFINED, [("payed", "orders.status"), ("Munchen", "customers.city")], id="defined tables"
        ),
        pytest.param(plan(eq("status", "paid")), [], id="held"),
        pytest.param(plan(eq("status", "opn", "contains")), [], id="searched for"),
        pytest.param(plan(eq("amount", 3)), [], id="a number"),
        pytest.param(plan(eq("note", "heavy")), [], id="a profile that is not complete"),
        pytest.param(plan(eq("stauts", "payed")), [], id="a plan that does not fit"),
    ],
)
def test_texts_in_no_row_are_found(asked: dict[str, Any], found: list[tuple[str, str]]) -> None:
    missing = missing_values(text_literals(asked, DATA), PROFILE, DATA)
    seen = [(m.literal.value, f"{m.literal.column.table}.{m.literal.column.column}") for m in missing]
    assert seen == found


@pytest.mark.parametrize(
    ("asked", "filters"),
    [
        pytest.param(
            plan(eq("customers.city", "Munchen")),
            [[eq("customers.city", "München")], [eq("customers.city", "Münchberg")]],
            id="the nearest first",
        ),
        pytest.param(
            plan(eq("status", "berlin")), [[eq("customers.city", "Berlin")]], id="a column of a related table"
        ),
        pytest.param(
            plan(eq("customers.country", "berlin", "!=")),
            [[eq("customers.city", "Berlin", "!=")]],
            id="another column, negated",
        ),
        pytest.param(
            plan(eq("status", ["paid", "Germany"], "in")),
            [[{"any": [eq("status", ["paid"], "in"), eq("customers.country", "Germany")]}]],
            id="one of several is elsewhere",
        ),
        pytest.param(
            plan(eq("status", ["paid", "payed"], "in")), [[eq("status", ["paid"], "in")]], id="no value twice"
        ),
        pytest.param(
            plan(eq("status", "payed"), eq("customers.city", "Berlni")),
            [[eq("status", "paid"), eq("customers.city", "Berlin")]],
            id="two at once",
        ),
        pytest.param(plan(eq("status", "zzz")), [], id="nothing near"),
    ],
)
def test_corrected_plans_fit_the_data(asked: dict[str, Any], filters: list[Any]) -> None:
    missing = missing_values(text_literals(asked, DATA), PROFILE, DATA)
    made = corrections(asked, missing, DATA)
    assert [correction.plan["filters"] for correction in made] == filters
    for correction in made:
        assert check_plan(parse_plan(correction.plan), DATA) == []
        assert not missing_values(text_literals(correction.plan, DATA), PROFILE, DATA)


def test_a_plan_stays_as_it_was() -> None:
    asked = plan(eq("status", "payed"))
    [literal] = text_literals(asked, DATA)
    assert with_text(asked, literal, "paid") != asked == plan(eq("status", "payed"))


def test_what_the_profile_cannot_tell_is_counted() -> None:
    literals = text_literals(plan(eq("note", "fragil"), eq("note", "fragile"), eq("status", "opn")), DATA)
    [open_one] = undecided(literals, PROFILE)
    [(counts, counted)] = counts_of([open_one], "shop")
    assert counted == (open_one,) and counts["select"][0]["where"] == [eq("note", "fragil")]
    for made in (counts, spellings_of(open_one, "shop")):
        assert check_plan(parse_plan(made), DATA) == []
    there = missing_values(literals, PROFILE, DATA, {open_one: True})
    gone = missing_values(literals, PROFILE, DATA, {open_one: False}, {open_one: ["fragil e"]})
    assert [m.literal.value for m in there] == ["opn"]
    assert [(m.literal.value, m.nearest) for m in gone] == [
        ("fragil", ("fragile", "fragil e")), ("opn", ("open",))
    ]  # fmt: skip
