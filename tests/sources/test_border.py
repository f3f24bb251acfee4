"""Attacks on the border to a database: through every place of a plan, through names in the database, and as SQL.

The role may write everything and reads every schema, so that nothing but the border stands between. After all cases the
database holds what it held, and nothing that was not chosen has come out of it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
import pytest_asyncio

from sandtable.assemble import assemble
from sandtable.assemble.sources import sources_of
from sandtable.capsule.query import PlanQuery, Query, SqlQuery
from sandtable.errors import SandtableError
from sandtable.runs.model import Run, RunRequest
from sandtable.settings import Settings
from tests.sources.conftest import Database, Shop, database_of, started

pytestmark = [pytest.mark.needs("userns", "postgres"), pytest.mark.asyncio(loop_scope="module")]

CANARY = "canary-51b0"
"""In a table that is not chosen."""

PAYLOADS = {
    "quote": "'",
    "quotes": "''",
    "closed": "x' OR '1'='1",
    "second statement": "x'; DROP TABLE shop.orders; --",
    "comment": "x' -- ",
    "block comment": "x'/**/OR/**/1=1/*",
    "open comment": "/*",
    "version comment": "/*! UNION SELECT */",
    "backslash": "\\",
    "backslash quote": "\\' OR 1=1 --",
    "escape string": "E'\\047 OR 1=1",
    "dollar quote": "$$ OR 1=1 $$",
    "tagged dollar quote": "$x$; DELETE FROM shop.orders; $x$",
    "double quote": '" FROM hidden.secrets --',
    "closed name": 'x" UNION SELECT secret FROM hidden.secrets --',
    "union": "x' UNION ALL SELECT secret, secret FROM hidden.secrets --",
    "server file": "pg_read_file('/etc/passwd')",
    "sleep": "x'||pg_sleep(60)||'",
    "large object": "x'||lo_export(1,'/tmp/border')||'",
    "copy": "x'; COPY shop.orders TO PROGRAM 'touch /tmp/border'; --",
    "do": "x'; DO $$BEGIN EXECUTE 'DROP TABLE shop.orders'; END$$; --",
    "placeholder": "$1",
    "percent": "%s %(x)s %",
    "cast": "1::regclass",
    "unicode escape": "U&'\\0027 OR 1=1'",
    "full-width quote": "\uff07 OR 1=1 --",
    "other quotes": "\u02bc\u2019 OR 1=1 --",
    "overlong": "'" * 5000,
    "right to left": "\u202e'--",
    "line separator": "x\u2028DROP TABLE shop.orders",
    "newline": "x\n; DROP TABLE shop.orders; --",
    "carriage return": "x\r--",
    "null": "x\x00' OR 1=1",
    "null as text": "x\\000' OR 1=1",
    "half a pair": "\ud800'",
}

Place = Callable[[str], dict[str, Any]]
_COUNT = [{"agg": "count", "as": "n"}]


def _filter(**leaf: Any) -> dict[str, Any]:
    return {"table": "orders", "select": _COUNT, "filters": [leaf]}


PLACES: dict[str, Place] = {
    "value": lambda text: _filter(column="customers.city", op="=", value=text),
    "values": lambda text: _filter(column="customers.city", op="in", value=["Berlin", text]),
    "part": lambda text: _filter(column="customers.city", op="contains", value=text),
    "alias": lambda text: {"table": "orders", "select": [{"agg": "count", "as": text}]},
    "column": lambda text: {"table": "orders", "select": [{"column": text}]},
}
FURTHER: dict[str, Place] = {
    "table": lambda text: {"table": text, "select": _COUNT},
    "group key": lambda text: {"table": "orders", "group_by": [text], "select": _COUNT},
    "order": lambda text: {"table": "orders", "select": _COUNT, "order_by": [{"expr": text}]},
    "operator": lambda text: _filter(column="customers.city", op=text, value="x"),
    "time column": lambda text: {
        "table": "orders", "select": _COUNT, "time": {"column": text, "last": 3, "unit": "day"},
    },
    "time unit": lambda text: {"table": "orders", "select": _COUNT, "time": {"last": 3, "unit": text}},
    "moment": lambda text: {"table": "orders", "select": _COUNT, "time": {"from": text, "to": "2025-01-01"}},
    "bucket": lambda text: {
        "table": "orders", "group_by": [{"bucket": text, "column": "ordered"}], "select": _COUNT,
    },
    "aggregate": lambda text: {"table": "orders", "select": [{"agg": text, "column": "amount"}]},
}  # fmt: skip
_EACH_FURTHER = ("second statement", "closed name", "union", "server file")

SQL = (
    "SELECT secret FROM hidden.secrets",
    "SELECT * FROM pg_read_file('/etc/passwd')",
    "SELECT pg_sleep(60)",
    "WITH gone AS (DELETE FROM shop.orders RETURNING *) SELECT * FROM gone",
    "SELECT 1; DROP TABLE shop.orders",
    "EXPLAIN ANALYZE DELETE FROM shop.orders",
    "COPY shop.orders TO PROGRAM 'touch /tmp/border'",
    "SELECT * INTO shop.copied FROM shop.orders",
    "SELECT lo_import('/etc/passwd')",
    "SELECT set_config('transaction_read_only', 'off', false)",
    "DO $$ BEGIN DROP TABLE shop.orders; END $$",
    "SELECT dblink('host=localhost', 'DROP TABLE shop.orders')",
    "SELECT query_to_xml('DELETE FROM shop.orders RETURNING 1', true, true, '')",
    "SELECT nextval('shop.numbers')",
    "LOCK TABLE shop.orders",
    "SELECT * FROM shop.orders FOR UPDATE",
    "TABLE hidden.secrets",
    "/*! SELECT */ SELECT 1",
)

NAMES = (
    'a"b', "a'b", "a\\b", "a;b--", "a/*b", "a$$b", "a b", "a%sb", "select", "\u00e4\u4e2d", "a\u202eb", "A.B", "{x}",
)  # fmt: skip
"""Of columns in the database."""


def cases() -> Iterator[tuple[str, Query]]:
    def plan(place: Place, text: str) -> PlanQuery:
        return PlanQuery({"dataset_id": "shop", **place(text)})

    for name, text in PAYLOADS.items():
        for where, place in PLACES.items():
            yield f"{where}: {name}", plan(place, text)
    for name in _EACH_FURTHER:
        for where, place in FURTHER.items():
            yield f"{where}: {name}", plan(place, PAYLOADS[name])
    for text in SQL:
        yield f"SQL: {text}", SqlQuery(text)


CASES = dict(cases())


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    cluster, port = started()
    with cluster as address:
        made = database_of(address, port)
        made.execute(
            "CREATE SCHEMA shop; CREATE SCHEMA hidden; CREATE SEQUENCE shop.numbers;"
            f"CREATE TABLE hidden.secrets AS SELECT '{CANARY}' AS secret;"
            "CREATE TABLE shop.customers (id int PRIMARY KEY, city text);"
            "CREATE TABLE shop.orders (no int PRIMARY KEY, buyer int REFERENCES shop.customers, amount numeric(10,2),"
            " ordered timestamp);"
            "INSERT INTO shop.customers VALUES (1, 'Berlin'), (2, 'K\u00f6ln');"
            "INSERT INTO shop.orders SELECT i, 1 + i % 2, i, '2024-01-01'::timestamp FROM generate_series(1, 10) i"
        )
        columns = ", ".join(f"{_quoted(name)} int" for name in NAMES)
        made.execute(f"CREATE TABLE shop.{_quoted(NAMES[0])} ({columns})")
        made.execute(f"INSERT INTO shop.{_quoted(NAMES[0])} VALUES ({', '.join('7' for _ in NAMES)})")
        made.reader("owner", "shop")
        made.execute("GRANT ALL ON ALL TABLES IN SCHEMA shop TO owner; GRANT ALL ON SCHEMA shop TO owner")
        made.execute("GRANT USAGE ON SCHEMA hidden TO owner; GRANT ALL ON hidden.secrets TO owner")
        made.execute("GRANT ALL ON SEQUENCE shop.numbers TO owner")
        yield made


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(database: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    home = tmp_path_factory.mktemp("border") / "home"
    async with assemble(Settings(home=home, standby=0, presealed=0, timeout_s=10)) as parts:
        made = Shop(parts, sources_of(parts))
        await made.connect(database.url("owner"), allowed_writer="owner")
        await made.sources.make_live("shop", ["shop.orders", "shop.customers", f"shop.{NAMES[0]}"])
        yield made


async def run(shop: Shop, query: Query) -> Run:
    made = await shop.parts.runs.submit(RunRequest(dataset_id="shop", query=query))
    return await shop.parts.runs.wait(made.id)


STATE = """
SELECT (SELECT json_agg(o ORDER BY no) FROM shop.orders o)::text,
  (SELECT json_agg(c ORDER BY id) FROM shop.customers c)::text,
  (SELECT json_agg(s) FROM hidden.secrets s)::text, (SELECT last_value::text || is_called FROM shop.numbers),
  (SELECT json_agg(array[oid::text, relname::text] ORDER BY oid) FROM pg_class WHERE oid >= 16384)::text,
  (SELECT json_agg(array[rolname::text, rolsuper::text] ORDER BY oid) FROM pg_roles)::text,
  (SELECT count(*) FROM pg_largeobject_metadata)
"""


def state(database: Database) -> list[tuple[Any, ...]]:
    """Everything that an attack could have changed."""
    return database.execute(STATE)


async def test_nothing_crosses_the_border(shop: Shop, database: Database) -> None:
    assert len(CASES) >= 150
    before = state(database)
    wrong: list[str] = []
    succeeded = 0
    for name, query in CASES.items():
        try:
            made = await run(shop, query)
        except SandtableError as error:
            made = error
        out = made.model_dump_json() if isinstance(made, Run) else str(made)
        succeeded += isinstance(made, Run) and made.status == "succeeded"
        if CANARY in out or "root:x:0" in out:
            wrong.append(f"{name}: it came out")
        if isinstance(query, SqlQuery) and not (isinstance(made, Run) and made.status == "rejected"):
            wrong.append(f"{name}: the text was not refused")
        if isinstance(made, Run) and made.status == "failed":
            wrong.append(f"{name}: the database was asked something wrong: {made.error}")
        if state(database) != before:
            wrong.append(f"{name}: something was changed")
            break
    assert wrong == []
    # Values are values: most of these are honest questions with odd words.
    assert succeeded > 60


async def test_odd_names_of_the_database_are_only_names(shop: Shop) -> None:
    dataset = await shop.parts.datasets.ready("shop")
    (odd,) = [table for table in dataset.tables if table.file == f"shop.{NAMES[0]}"]
    assert [column.name for column in odd.columns] == list(NAMES)
    select = [{"agg": "sum", "column": name, "as": f"n{number}"} for number, name in enumerate(NAMES)]
    made = await run(shop, PlanQuery({"dataset_id": "shop", "table": odd.name, "select": select}))
    assert made.status == "succeeded", made.error
    assert made.rows is not None and {int(cell) for cell in made.rows[0]} == {7}, json.dumps(made.rows)
