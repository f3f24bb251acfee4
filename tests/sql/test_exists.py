"""Rows by whether another table has rows for them: what the compiled SQL returns is what counting by hand returns.

Keys are empty, dangling and repeated on both sides; an empty key belongs to nothing, and no row is repeated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandtable.catalog.model import Column, ColumnType, Dataset, Relationship, Table
from sandtable.plan.validate import parse_plan
from sandtable.sql.compile import compile_plan
from tests.plan.shop import SHOP, connect, create_tables

REUSED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def _table(name: str, *columns: str) -> Table:
    made = tuple(Column(name=c, type=ColumnType.INTEGER, sql_type="INTEGER") for c in columns)
    return Table(name=name, file=f"{name}.csv", sha256="0" * 64, columns=made)


CLUB = Dataset(
    id="club",
    tables=(
        _table("members", "no", "member_id", "mentor_id"),
        _table("visits", "member_id", "minutes"),
        _table("guests", "no", "of_member", "paid_by"),
    ),
    relationships=(
        Relationship(
            many_table="visits", many_column="member_id", one_table="members", one_column="member_id"
        ),
        Relationship(
            many_table="guests", many_column="of_member", one_table="members", one_column="member_id"
        ),
        Relationship(many_table="guests", many_column="paid_by", one_table="members", one_column="member_id"),
        Relationship(
            many_table="members", many_column="mentor_id", one_table="members", one_column="member_id"
        ),
    ),
    version="sha256:" + "3" * 64,
)
_KEYS = st.none() | st.integers(1, 4)
_VISITS = st.lists(st.tuples(_KEYS, st.none() | st.integers(0, 3)), max_size=8)


@pytest.fixture(scope="module")
def club() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        create_tables(connection, CLUB)
        yield connection


@pytest.fixture(scope="module")
def shop() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect() as connection:
        yield connection


def _fill(connection: duckdb.DuckDBPyConnection, **tables: list[tuple[Any, ...]]) -> None:
    for name, rows in tables.items():
        connection.execute(f"DELETE FROM {name}")
        for row in rows:
            connection.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)


def _run(connection: duckdb.DuckDBPyConnection, dataset: Dataset, **plan: Any) -> list[tuple[Any, ...]]:
    compiled = compile_plan(parse_plan({"dataset_id": dataset.id, **plan}), dataset)
    return connection.execute(compiled.sql).fetchall()


@REUSED
@given(
    members=st.lists(_KEYS, max_size=6),
    visits=_VISITS,
    at_least=st.integers(1, 3),
    long=st.booleans(),
)
def test_exists_is_counting_by_hand(
    members: list[int | None],
    visits: list[tuple[int | None, int | None]],
    at_least: int,
    long: bool,
    club: duckdb.DuckDBPyConnection,
) -> None:
    _fill(club, members=[(no, key, None) for no, key in enumerate(members)], visits=visits)
    where = [{"column": "minutes", "op": ">", "value": 1}] if long else []
    test = {"exists": {"table": "visits", "where": where, "at_least": at_least}}
    counted = [v for v in visits if v[0] is not None and (not long or (v[1] is not None and v[1] > 1))]
    passing = [no for no, key in enumerate(members) if sum(v[0] == key for v in counted) >= at_least]
    failing = [no for no in range(len(members)) if no not in passing]
    over: dict[str, Any] = {"table": "members", "select": [{"column": "no"}]}
    assert _run(club, CLUB, **over, filters=[test]) == [(no,) for no in passing]
    assert _run(club, CLUB, **over, filters=[{"not": test}]) == [(no,) for no in failing]
    assert _run(club, CLUB, **over, filters=[{"not": {"any": [test]}}]) == [(no,) for no in failing]
    counts = [{"agg": "count"}, {"agg": "count", "where": [test]}, {"agg": "count", "where": [{"not": test}]}]
    named = [{**item, "as": f"c{n}"} for n, item in enumerate(counts)]
    assert _run(club, CLUB, table="members", select=named) == [(len(members), len(passing), len(failing))]
    held = _run(
        club, CLUB, table="members", select=[{"column": "no"}, {"holds": [test], "as": "h"}],
        filters=[{"column": "no", "op": "<=", "than": {"agg": "max", "column": "no"}}],
    )  # fmt: skip
    assert held == [(no, no in passing) for no in range(len(members))]


@REUSED
@given(
    members=st.lists(st.tuples(_KEYS, _KEYS), max_size=6),
    guests=st.lists(st.tuples(_KEYS, _KEYS), max_size=5),
)
def test_via_says_which_column_refers(
    members: list[tuple[int | None, int | None]],
    guests: list[tuple[int | None, int | None]],
    club: duckdb.DuckDBPyConnection,
) -> None:
    _fill(
        club,
        members=[(no, *keys) for no, keys in enumerate(members)],
        guests=[(no, *keys) for no, keys in enumerate(guests)],
    )
    over: dict[str, Any] = {"table": "members", "select": [{"column": "no"}]}
    for place, via in enumerate(("of_member", "paid_by")):
        keys = {guest[place] for guest in guests} - {None}
        found = _run(club, CLUB, **over, filters=[{"exists": {"table": "guests", "via": via}}])
        assert found == [(no,) for no, (key, _) in enumerate(members) if key in keys]
    mentors = {mentor for _, mentor in members} - {None}
    found = _run(club, CLUB, **over, filters=[{"exists": {"table": "members"}}])
    assert found == [(no,) for no, (key, _) in enumerate(members) if key in mentors]
    known = {key for key, _ in members} - {None}
    found = _run(club, CLUB, **over, filters=[{"exists": {"table": "members", "via": "member_id"}}])
    assert found == [(no,) for no, (_, mentor) in enumerate(members) if mentor in known]


_TOYS = {"column": "category", "op": "=", "value": "Toys"}
_ITEMS = {"exists": {"table": "order_items", "where": [_TOYS]}}


def test_the_whole_of_an_aggregate_is_not_changed_by_a_look_into_another_table(
    shop: duckdb.DuckDBPyConnection,
) -> None:
    """The average is over all orders, whether or not they have toys; orders with several items count once."""
    average = shop.execute("SELECT AVG(shipping) FROM orders").fetchall()[0][0]
    expected = shop.execute(
        "SELECT order_id FROM orders WHERE shipping > ? AND order_id IN (SELECT order_id FROM order_items WHERE "
        "category = 'Toys') ORDER BY order_id",
        [average],
    ).fetchall()
    above = {"column": "shipping", "op": ">", "than": {"agg": "avg", "column": "shipping"}}
    found = _run(shop, SHOP, table="orders", select=[{"column": "order_id"}], filters=[_ITEMS, above])
    assert found == expected != []


def test_why_counts_each_row_once(shop: duckdb.DuckDBPyConnection) -> None:
    windows = {"before": {"to": "2024-03-31"}, "after": {"from": "2024-04-01"}}
    why = {"of": {"agg": "count"}, **windows, "by": ["region"]}
    rows = _run(shop, SHOP, table="orders", why=why, filters=[_ITEMS])
    (whole,) = [row for row in rows if row[0] == "(all)"]
    assert whole[2:5] == (2, 2, 0)
