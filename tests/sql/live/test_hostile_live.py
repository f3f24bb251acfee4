"""Names and values with every character that could end them: nothing of them is read as SQL."""

from __future__ import annotations

import re
from typing import Any

import duckdb
import psycopg
import pytest
from sqlglot import exp

from sandtable.catalog.live import LiveDatabase, RemoteColumn, RemoteTable
from sandtable.catalog.model import Column, ColumnType, Dataset, Relationship, Table
from sandtable.engines.postgres.spelling import POSTGRES
from sandtable.engines.postgres.writer import LONGEST_NAME, write, written_name
from sandtable.errors import InvalidInput
from sandtable.plan.validate import parse_plan
from sandtable.sql.remote import compile_remote
from tests.plan.shop import quoted
from tests.sql.live.twins import Twin

NAMES = [
    'quo"te', '"', '""', "it's", "back\\slash", "\\", "a\\'b", "$$", "$tag$x$tag$", "--", "/* */", "; DROP TABLE x",
    "%s", "%(a)s", "{}", "naïve 🎁", "line\nbreak", "E'x'", "U&'x'", "select", "Id", "id",
]  # fmt: skip
LONG = ["x" * 80, "x" * 79 + "y", "ü" * 40]


@pytest.fixture(scope="module", params=["on", "off"])
def hostile(server: psycopg.Connection[Any], request: pytest.FixtureRequest) -> Any:
    """With escapes in plain constants, and without."""
    columns = tuple(
        Column(name=f"{name}.{n}", type=ColumnType.TEXT, sql_type="VARCHAR") for n, name in enumerate(NAMES)
    )
    table = Table(name='t"; DROP TABLE t; --', file="t.csv", sha256="0" * 64, columns=columns)
    dataset = Dataset(id="hostile", tables=(table,), version="sha256:" + "0" * 64)
    with duckdb.connect() as source:
        declared = ", ".join(f"{quoted(c.name)} VARCHAR" for c in columns)
        source.execute(f"CREATE TABLE {quoted(table.name)} ({declared})")
        for n in range(len(NAMES)):
            row = [*NAMES[n:], *NAMES[:n]]
            source.execute(f"INSERT INTO {quoted(table.name)} VALUES ({', '.join('?' * len(row))})", row)
        server.execute("SELECT set_config('standard_conforming_strings', %s, false)", (request.param,))
        yield Twin.of(dataset, source, server, f"sche\"ma'; {request.param} \\")
    server.execute("SELECT set_config('standard_conforming_strings', 'off', false)")


def plan_of(twin: Twin, **rest: Any) -> dict[str, Any]:
    (table,) = twin.dataset.tables
    select = [{"column": column.name} for column in table.columns]
    return {"dataset_id": "hostile", "table": table.name, "select": select, "limit": 100, **rest}


def test_names_of_the_database_are_only_names(hostile: Twin) -> None:
    here, there = hostile.answers(plan_of(hostile))
    assert here == there
    assert len(there) == len(NAMES)


def test_texts_are_only_texts(hostile: Twin) -> None:
    first = hostile.dataset.tables[0].columns[0].name
    for text in NAMES:
        for op in ("=", "contains", "endswith"):
            leaf = {"column": first, "op": op, "value": text}
            here, there = hostile.answers(plan_of(hostile, filters=[leaf]) | {"select": [{"column": first}]})
            assert here == there
            assert any(row[0] == text for row in there)


def test_aliases_are_only_names(hostile: Twin) -> None:
    first = hostile.dataset.tables[0].columns[0].name
    for alias in [name for name in NAMES if "\n" not in name]:
        plan = plan_of(hostile) | {
            "select": [{"column": first, "as": alias}, {"agg": "count", "as": "n"}],
            "top_per_group": {"n": 1, "by": [alias], "order_by": "n"},
        }
        hostile.check(plan)


def test_long_names_stay_apart(server: psycopg.Connection[Any], shop: Twin) -> None:
    """PostgreSQL would cut them off, and then two are one."""
    items = [
        {"column": name, "as": alias}
        for name, alias in zip(("quantity", "item_id", "order_id"), LONG, strict=True)
    ]
    order = [{"expr": LONG[0], "dir": "desc"}, {"expr": LONG[2], "dir": "asc"}]
    plan = {"dataset_id": "shop", "table": "order_items", "select": items, "order_by": order}
    derive = [{"rank": LONG[0], "as": "place"}, {"running_total": LONG[1], "along": LONG[2], "as": "so_far"}]
    shop.check(plan)
    shop.check({**plan, "derive": derive})
    assert [name for name, _ in shop.compiled(plan).columns] == LONG
    assert len({written_name(name) for name in LONG}) == 3
    assert all(len(written_name(name).encode()) <= LONGEST_NAME for name in LONG)


def one_table(source: str = "c", schema: str = "s", table: str = "t") -> tuple[Dataset, LiveDatabase]:
    column = Column(name="c", type=ColumnType.TEXT, sql_type="VARCHAR")
    made = Table(name="t", file="t.csv", sha256="0" * 64, columns=(column,))
    remote = RemoteTable("t", schema, table, (RemoteColumn("c", source, "text"),))
    dataset = Dataset(id="one", tables=(made,), version="sha256:" + "0" * 64)
    return dataset, LiveDatabase("postgresql", "source", (remote,))


PLAN = {"dataset_id": "one", "table": "t", "select": [{"column": "c"}]}


@pytest.mark.parametrize("place", ["source", "schema", "table"])
@pytest.mark.parametrize(
    "name", ["a\0b", "x" * 64, "ü" * 32, ""], ids=["NUL", "long", "long in bytes", "empty"]
)
def test_a_name_that_no_database_has_is_refused(name: str, place: str) -> None:
    dataset, database = one_table(**{place: name})
    with pytest.raises(InvalidInput, match="no name of a PostgreSQL database") as caught:
        compile_remote(parse_plan(PLAN), dataset, database)
    assert caught.value.suggestion


def test_a_text_that_no_database_holds_is_refused() -> None:
    dataset, database = one_table()
    plan = {**PLAN, "filters": [{"column": "c", "op": "=", "value": "a\0b"}]}
    with pytest.raises(InvalidInput, match="NUL"):
        compile_remote(parse_plan(plan), dataset, database)
    with pytest.raises(InvalidInput, match="half of a character"):
        POSTGRES.text("a\ud800b")


def test_what_is_not_there_or_of_another_kind_is_refused(shop: Twin) -> None:
    dataset, database = one_table()
    plan = parse_plan(PLAN)
    with pytest.raises(InvalidInput, match="PostgreSQL databases only"):
        compile_remote(plan, dataset, LiveDatabase("mysql", "source", database.tables))
    with pytest.raises(InvalidInput, match="no table for `t`"):
        compile_remote(plan, dataset, LiveDatabase("postgresql", "source", ()))
    gone = RemoteTable("t", "s", "t", ())
    with pytest.raises(InvalidInput, match="no column for `c`"):
        compile_remote(plan, dataset, LiveDatabase("postgresql", "source", (gone,)))


def test_joins_between_texts_and_numbers_are_refused() -> None:
    def table(name: str, sql_type: str, type_: ColumnType) -> Table:
        return Table(
            name=name, file="f", sha256="0" * 64, columns=(Column(name="k", type=type_, sql_type=sql_type),)
        )

    dataset = Dataset(
        id="one",
        tables=(table("many", "VARCHAR", ColumnType.TEXT), table("one", "BIGINT", ColumnType.INTEGER)),
        relationships=(Relationship(many_table="many", many_column="k", one_table="one", one_column="k"),),
        version="sha256:" + "0" * 64,
    )
    remote = tuple(
        RemoteTable(t.name, "s", t.name, (RemoteColumn("k", "k", "text"),)) for t in dataset.tables
    )
    plan = {"dataset_id": "one", "table": "many", "select": [{"column": "one.k"}]}
    with pytest.raises(InvalidInput, match="columns of different types, VARCHAR and BIGINT"):
        compile_remote(parse_plan(plan), dataset, LiveDatabase("postgresql", "source", remote))


@pytest.mark.parametrize(
    "node",
    [
        exp.Anonymous(this="PG_READ_FILE", expressions=[exp.Literal.string("/etc/passwd")]),
        exp.Command(this="COPY", expression=exp.Literal.string("x")),
        exp.CurrentUser(),
        exp.Union(this=exp.Select(), expression=exp.Select()),
    ],
    ids=["function", "command", "word", "union"],
)
def test_what_is_not_in_the_lists_is_never_written(node: exp.Expr) -> None:
    with pytest.raises(AssertionError, match="never sent"):
        write(exp.Select().select(node, copy=False))


def test_compiling_is_a_function(shop: Twin) -> None:
    plan = {"dataset_id": "shop", "table": "orders", "select": [{"column": "region"}, {"agg": "count"}]}
    first, second = shop.compiled(plan), shop.compiled(dict(plan))
    assert first == second
    assert re.fullmatch(r"WITH .*\nLIMIT 200", first.sql, re.DOTALL)
    assert ";" not in first.sql
