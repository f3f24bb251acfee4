"""What is proposed for a dataset: joins with their evidence, metrics, masks; and what is not."""

from __future__ import annotations

from typing import Any

from sandtable.catalog.convert import ColumnPlace
from sandtable.catalog.model import Column, ColumnType, Dataset, Metric, Relationship, Table
from sandtable.catalog.profile import ColumnProfile, Profile, TableProfile, ValueCount
from sandtable.catalog.proposed.proposals import KeyCounts, join_candidates, proposals_of
from sandtable.plan.validate import metric_problems

TYPES = {ColumnType.BOOLEAN: "BOOLEAN", ColumnType.INTEGER: "BIGINT", ColumnType.FLOAT: "DOUBLE"}
Values = dict[str, int]


def table(name: str, **columns: tuple[ColumnType, Values] | ColumnType) -> tuple[Table, TableProfile]:
    made: list[Column] = []
    looked_at: list[ColumnProfile] = []
    rows = 0
    for column, given in columns.items():
        type, values = given if isinstance(given, tuple) else (given, {})
        made.append(Column(name=column, type=type, sql_type=TYPES.get(type, "VARCHAR")))
        counted = tuple(ValueCount(value=value, count=count) for value, count in values.items())
        rows = max(rows, sum(values.values()))
        looked_at.append(
            ColumnProfile(
                name=column, nulls=0, distinct=len(values), values=counted, complete=bool(values)
            )
        )  # fmt: skip
    known = Table(name=name, file=f"{name}.csv", sha256="a" * 64, rows=rows, columns=tuple(made))
    return known, TableProfile(name=name, rows=rows, columns=tuple(looked_at))


def data(*tables: tuple[Table, TableProfile], **more: Any) -> tuple[Dataset, Profile]:
    version = "sha256:" + "0" * 64
    dataset = Dataset(id="d", tables=tuple(each for each, _ in tables), version=version, **more)
    return dataset, Profile(version=version, tables=tuple(profile for _, profile in tables))


def each_once(*values: str) -> Values:
    return dict.fromkeys(values, 1)


ORDERS = table("orders", kunde=(ColumnType.TEXT, {"A": 3, "B": 2, "C": 1, "D": 1}), amount=ColumnType.FLOAT)
KUNDEN = table("kunden", nr=(ColumnType.TEXT, each_once("A", "B", "C", "D", "E")))


def test_a_join_is_proposed_for_what_the_values_have_in_common() -> None:
    dataset, profile = data(ORDERS, KUNDEN)
    considered = join_candidates(dataset, profile)
    assert [(c.many, c.one) for c in considered] == [
        (ColumnPlace("orders", "kunde"), ColumnPlace("kunden", "nr"))
    ]
    (made,) = proposals_of(dataset, profile, considered, [KeyCounts(7, 0, unique=True)]).joins
    assert (made.join.many, made.join.one, made.matched, made.missing) == ("orders.kunde", "kunden.nr", 7, 0)
    assert "every row finds its partner" in made.reason and "100% of the values" in made.reason


def test_rows_without_a_partner_are_said_and_too_many_are_no_proposal() -> None:
    dataset, profile = data(ORDERS, KUNDEN)
    considered = join_candidates(dataset, profile)
    some = proposals_of(dataset, profile, considered, [KeyCounts(100, 7, unique=True)]).joins
    assert "7 of 100 rows would find none" in some[0].reason
    for counts in (
        KeyCounts(100, 60, unique=True),
        KeyCounts(100, 0, unique=False),
        KeyCounts(0, 0, True),
        None,
    ):
        assert proposals_of(dataset, profile, considered, [counts]).joins == ()


def test_names_are_enough_to_be_counted() -> None:
    many = table("orders", customer_id=ColumnType.INTEGER)
    one = table("customers", id=ColumnType.INTEGER)
    considered = join_candidates(*data(many, one))
    assert [(c.many.table, c.one.column) for c in considered] == [("orders", "id")]


def test_numbers_that_only_look_alike_and_tables_that_are_joined_are_not_proposed() -> None:
    numbers = table("a", x=(ColumnType.INTEGER, each_once("1", "2", "3")))
    others = table("b", y=(ColumnType.INTEGER, each_once("1", "2", "3")))
    assert join_candidates(*data(numbers, others)) == ()
    joined = Relationship(many_table="orders", many_column="kunde", one_table="kunden", one_column="nr")
    assert join_candidates(*data(ORDERS, KUNDEN, relationships=(joined,))) == ()


def test_metrics_are_proposed_that_a_plan_can_use() -> None:
    dataset, profile = data(
        table(
            "orders",
            amount=ColumnType.FLOAT,
            returned=ColumnType.BOOLEAN,
            rating=ColumnType.INTEGER,
            order_total=ColumnType.FLOAT,
            zip_code=ColumnType.INTEGER,
            note=ColumnType.TEXT,
        )
    )
    made = proposals_of(dataset, profile).metrics
    assert [each.name for each in made] == ["total_amount", "returned_rate", "average_rating", "order_total"]
    metrics = tuple(Metric(name=each.name, **each.semantics.model_dump()) for each in made)
    assert metric_problems(dataset.model_copy(update={"metrics": metrics})) == ()
    again = proposals_of(dataset.model_copy(update={"metrics": metrics}), profile)
    assert again.metrics == ()


def test_masks_are_proposed_for_personal_data_that_have_none() -> None:
    mails = {"ada@example.org": 1, "bo@example.org": 1}
    dataset, profile = data(table("customers", id=ColumnType.INTEGER, contact=(ColumnType.TEXT, mails)))
    (made,) = proposals_of(dataset, profile).masks
    assert (made.table, made.column) == ("customers", "contact") and "e-mail" in made.reason
    customers = dataset.tables[0]
    masked = customers.model_copy(
        update={"columns": (customers.columns[0], customers.columns[1].model_copy(update={"masked": True}))}
    )
    assert proposals_of(dataset.model_copy(update={"tables": (masked,)}), profile).masks == ()
