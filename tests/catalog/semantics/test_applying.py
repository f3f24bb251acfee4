"""A dataset described by a document: field by field, versions, and what does not fit."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.catalog.model import Column, ColumnType, Dataset, Metric, Relationship, Table
from sandtable.catalog.semantics.applying import described, semantics_of, with_version
from sandtable.catalog.semantics.model import Semantics


def column(name: str, type: ColumnType = ColumnType.TEXT, **said: Any) -> Column:
    return Column(name=name, type=type, sql_type="VARCHAR", **said)


SHOP = Dataset(
    id="shop",
    title="Shop",
    tables=(
        Table(
            name="orders",
            file="orders.csv",
            sha256="a" * 64,
            columns=(
                column("order_id"),
                column("Amount", ColumnType.DECIMAL, unit="EUR"),
                column("customer_id"),
                column("day", ColumnType.DATE),
            ),
        ),
        Table(
            name="customers", file="c.csv", sha256="b" * 64, columns=(column("id"), column("city"), column("mail"))
        ),
    ),
    relationships=(
        Relationship(many_table="orders", many_column="customer_id", one_table="customers", one_column="id"),
    ),
    metrics=(Metric(name="revenue", table="orders", numerator={"agg": "sum", "column": "Amount"}),),
    prompts=("What is the revenue?",),
    version="sha256:" + "0" * 64,
)  # fmt: skip


def said(**fields: Any) -> Semantics:
    return Semantics.model_validate(fields)


def test_the_whole_description_changes_nothing() -> None:
    assert described(SHOP, semantics_of(SHOP)).dataset == with_version(SHOP)
    assert described(SHOP, Semantics()).dataset == with_version(SHOP)


def test_what_is_said_replaces_what_was_known_and_the_rest_stays() -> None:
    found = described(
        SHOP,
        said(
            title="Our shop",
            week_start="sunday",
            fiscal_year_start="april",
            tables={
                "ORDERS": {
                    "time_column": "Day",
                    "key": ["order_id"],
                    "synonyms": ["purchases"],
                    "columns": {"amount": {"synonyms": ["takings"], "aggregate": "average"}},
                },
                "customers": {"columns": {"mail": {"masked": True, "meaning": "e-mail"}}},
            },
            questions=["How much did we take?"],
        ),
    )
    assert found.misfits == ()
    made = found.dataset
    assert (made.title, made.week_start, made.fiscal_month) == ("Our shop", "sunday", 4)
    orders, customers = made.tables
    assert (orders.time_column, orders.key, orders.synonyms) == ("day", ("order_id",), ("purchases",))
    amount = orders.columns[1]
    assert (amount.unit, amount.synonyms, amount.measure) == ("EUR", ("takings",), "averaged")
    assert customers.columns[2].masked and not customers.columns[1].masked
    assert made.relationships == SHOP.relationships and made.metrics == SHOP.metrics
    assert made.prompts == ("How much did we take?",)
    assert made.version == SHOP.version and made.catalog_version != with_version(SHOP).catalog_version


def test_joins_and_metrics_are_said_as_a_whole() -> None:
    none = described(SHOP, said(joins=[], metrics={})).dataset
    assert none.relationships == () and none.metrics == ()
    other = described(
        SHOP, said(metrics={"orders placed": {"table": "orders", "numerator": {"agg": "count"}}})
    ).dataset
    assert [metric.name for metric in other.metrics] == ["orders placed"]


@pytest.mark.parametrize(
    ("document", "misfit"),
    [
        ({"tables": {"oders": {}}}, "no table `oders`; did you mean `orders`?"),
        ({"tables": {"orders": {"columns": {"amuont": {}}}}}, "no column `amuont`; did you mean `Amount`?"),
        ({"tables": {"orders": {"time_column": "when"}}}, "no column `when`"),
        ({"tables": {"orders": {"key": ["nr"]}}}, "no column `nr`"),
        ({"joins": [{"many": "orders.customer", "one": "customers.id"}]}, "`orders.customer`, which does not exist"),
        ({"joins": [{"many": "orders.day", "one": "orders.order_id"}]}, "stays in one table"),
        ({"metrics": {"x": {"table": "sales", "numerator": {"agg": "count"}}}}, "`sales`, which does not exist"),
        (
            {"metrics": {"x": {"table": "orders", "numerator": {"agg": "sum", "column": "amout"}}}},
            "uses amout, which does not exist; did you mean `Amount`?",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named_and_left_out(document: dict[str, Any], misfit: str) -> None:
    found = described(SHOP, said(title="Still", **document))
    assert len(found.misfits) == 1 and misfit in found.misfits[0]
    assert found.dataset.title == "Still"


def test_the_version_depends_on_what_is_said_alone() -> None:
    version = with_version(SHOP).catalog_version
    assert (
        described(SHOP, said(tables={"orders": {"columns": {"day": {}}}})).dataset.catalog_version == version
    )
    assert described(SHOP, said(questions=["What is new?"])).dataset.catalog_version == version
    assert (
        described(
            SHOP, said(tables={"orders": {"columns": {"Amount": {"unit": "EUR"}}}})
        ).dataset.catalog_version
        == version
    )
    assert (
        described(
            SHOP, said(tables={"orders": {"columns": {"Amount": {"unit": "USD"}}}})
        ).dataset.catalog_version
        != version
    )
    # Of the same tables with other rows, and under another id.
    assert (
        with_version(SHOP.model_copy(update={"id": "other", "version": "sha256:" + "1" * 64})).catalog_version
        == version
    )


def test_a_column_that_is_new_keeps_what_is_found_about_it() -> None:
    whole = semantics_of(SHOP)
    orders, customers = SHOP.tables
    more = orders.model_copy(
        update={"columns": (*orders.columns, column("Fee", ColumnType.DECIMAL, unit="USD"))}
    )
    found = (
        described(SHOP.model_copy(update={"tables": (more, customers)}), whole)
        .dataset.tables[0]
        .column("fee")
    )
    assert found is not None and found.unit == "USD"
