"""Tables of a real PostgreSQL become a version: types, values, names, keys, and nothing half done."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sandtable.catalog.model import Dataset, Relationship
from sandtable.errors import InvalidInput
from tests.sources.conftest import Database, Shop, caught_workers

pytestmark = pytest.mark.needs("postgres", "userns")

KINDS = """
CREATE TYPE {s}.mood AS ENUM ('glad', 'sad');
CREATE DOMAIN {s}.price AS numeric(8,3);
CREATE TABLE {s}.kinds (
  i2 int2, i4 int4, i8 int8, dec numeric(12,4), whole numeric, f4 float4, f8 float8, yes bool, txt text,
  vc varchar(9), fixed char(6), id uuid, mood {s}.mood, cost {s}.price, d date, ts timestamp, tz timestamptz, t time,
  doc jsonb, list int[], span int4range, raw bytea, gap interval, net inet, neg numeric(3,-2));
INSERT INTO {s}.kinds VALUES
  (-32768, 2147483647, 9223372036854775807, 1.5, 12345678901234567.5, 1.1, 'NaN', true, 'a"b,c' || chr(10) || 'é', '',
   'ab', '00000000-0000-0000-0000-00000000000a', 'sad', 1.25, '0001-01-01', '9999-12-31 23:59:59.999999',
   '2024-07-01 12:00+02', '23:59:59.5', '{{"a": 1}}', '{{1,2}}', '[1,3)', 'x', '1 day 2 hours', '10.0.0.1', 12300),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
   NULL, NULL, NULL, NULL, NULL, NULL),
  (0, 0, 0, 0, 0, '-Infinity', 1e-300, false, '', ' ', '', NULL, 'glad', 0, '2024-02-29', '2024-02-29', '2024-02-29',
   '00:00', '{{}}', '{{}}', 'empty', '', '-1 month', '::1', 0);
"""


def rows_of(
    shop: Shop, dataset: Dataset, table: str, query: str = "SELECT * FROM t"
) -> list[tuple[Any, ...]]:
    path = shop.parts._store.path(dataset.version) / f"{table}.parquet"
    return duckdb.connect().execute(query.replace("FROM t", f"FROM read_parquet('{path}')")).fetchall()


async def test_each_type_keeps_its_values(database: Database, shop: Shop) -> None:
    database.execute("CREATE SCHEMA kinds")
    database.execute(KINDS.format(s="kinds"))
    database.reader("kinds_reader", "kinds")
    await shop.connect(database.url("kinds_reader"))
    added = await shop.snapshot("kinds")
    (table,) = added.record.dataset.tables
    assert {c.name: c.sql_type for c in table.columns} == {
        "i2": "SMALLINT", "i4": "INTEGER", "i8": "BIGINT", "dec": "DECIMAL(12,4)", "whole": "DECIMAL(18,1)",
        "f4": "FLOAT", "f8": "DOUBLE", "yes": "BOOLEAN", "txt": "VARCHAR", "vc": "VARCHAR", "fixed": "VARCHAR",
        "id": "VARCHAR", "mood": "VARCHAR", "cost": "DECIMAL(8,3)", "d": "DATE", "ts": "TIMESTAMP", "tz": "TIMESTAMP",
        "t": "TIME", "doc": "VARCHAR", "list": "VARCHAR", "span": "VARCHAR", "gap": "VARCHAR", "net": "VARCHAR",
        "neg": "DECIMAL(5,0)",
    }  # fmt: skip
    query = "SELECT columns(*)::VARCHAR FROM t ORDER BY coalesce(i2, 9)"
    first, zero, nothing = rows_of(shop, added.record.dataset, "kinds", query)
    assert first == (
        "-32768", "2147483647", "9223372036854775807", "1.5000", "12345678901234567.5", "1.1", "nan", "true",
        'a"b,c\né', "", "ab", "00000000-0000-0000-0000-00000000000a", "sad", "1.250", "0001-01-01",
        "9999-12-31 23:59:59.999999", "2024-07-01 10:00:00", "23:59:59.5", '{"a": 1}', "{1,2}", "[1,3)", "P1DT2H",
        "10.0.0.1", "12300",
    )  # fmt: skip
    assert nothing == (None,) * 24
    assert (zero[5], zero[8], zero[9], zero[10]) == ("-inf", "", " ", "")
    notes = added.record.current.findings["kinds"].notes
    assert [note.split(":")[0].removeprefix("Column ") for note in notes] == [
        "doc", "list", "span", "raw", "gap", "net",
    ]  # fmt: skip
    assert "left out" in notes[3]


async def test_values_without_a_place_make_a_column_text_and_are_counted(
    database: Database, shop: Shop
) -> None:
    database.execute(
        """
        CREATE SCHEMA odd;
        CREATE TABLE odd.odd AS SELECT * FROM (VALUES
          ('infinity'::date, '0044-03-15 BC'::timestamp, 'NaN'::numeric(6,2), '24:00'::time, 1::numeric, 2::numeric),
          ('2024-01-01', '10000-01-01', 1.5, '10:00', 1e-30, 123456789),
          ('-infinity', '2024-01-01', 2, '11:00', 1e20, 0.5)) AS v (d, ts, n, t, wide, narrow)
        """
    )
    database.reader("odd_reader", "odd")
    await shop.connect(database.url("odd_reader"))
    added = await shop.snapshot("odd")
    (table,) = added.record.dataset.tables
    assert [c.sql_type for c in table.columns] == ["VARCHAR"] * 5 + ["DECIMAL(18,1)"]
    assert rows_of(shop, added.record.dataset, "odd")[0][:5] == (
        "infinity", "0044-03-15 00:00:00 BC", "NaN", "24:00:00", "1",
    )  # fmt: skip
    assert added.record.current.findings["odd"].notes == (
        "Column d: kept as text: 2 of its cells are infinite.",
        "Column ts: kept as text: 2 of its cells are before the year 1 or after 9999.",
        "Column n: kept as text: one of its cells is NaN or infinite.",
        "Column t: kept as text: one of its cells is 24:00:00.",
        "Column wide: kept as text: it has numbers of 51 digits.",
    )


async def test_any_name_is_a_name(database: Database, shop: Shop) -> None:
    database.execute(
        """
        CREATE SCHEMA "Wei""rd; DROP SCHEMA shop";
        CREATE TABLE "Wei""rd; DROP SCHEMA shop"."Größe 'x' %s {c}" (
          "Id" int, id int, " " text, "a,b" text, "q""%%s{}" int,
          "line
break" int);
        INSERT INTO "Wei""rd; DROP SCHEMA shop"."Größe 'x' %s {c}" VALUES
          (1, 2, 'blank', 'comma', 3, 4), (5, 6, NULL, '', 7, 8);
        """
    )
    database.reader("weird_reader", '"Wei""rd; DROP SCHEMA shop"')
    await shop.connect(database.url("weird_reader"), only_schema='Wei"rd; DROP SCHEMA shop')
    added = await shop.snapshot("Größe 'x' %s {c}")
    (table,) = added.record.dataset.tables
    assert table.name == "Größe_x_s_c"
    assert [c.name for c in table.columns] == ["Id", "id_2", "column_3", "a,b", 'q"%%s{}', "line\nbreak"]
    assert rows_of(shop, added.record.dataset, table.name) == [
        (1, 2, "blank", "comma", 3, 4),
        (5, 6, None, "", 7, 8),
    ]
    assert database.execute("SELECT count(*) FROM shop.orders") == [(1000,)]


async def test_one_column_that_is_null_or_empty_keeps_its_rows(database: Database, shop: Shop) -> None:
    database.execute(
        "CREATE SCHEMA thin; CREATE TABLE thin.thin (x text);"
        r" INSERT INTO thin.thin VALUES (NULL), ('\.'), (NULL), (''), ('a'), (NULL); CREATE TABLE thin.none (x int)"
    )
    database.reader("thin_reader", "thin")
    await shop.connect(database.url("thin_reader"))
    added = await shop.snapshot("thin", "none")
    assert rows_of(shop, added.record.dataset, "thin") == [(None,), ("\\.",), (None,), ("",), ("a",), (None,)]
    assert [t.rows for t in added.record.dataset.tables] == [6, 0]


async def test_keys_and_joins_are_those_of_the_database(database: Database, shop: Shop) -> None:
    await shop.connect(database.path_url("reader"))
    added = await shop.snapshot("orders", "customers")
    dataset = added.record.dataset
    assert {t.name: t.key for t in dataset.tables} == {"orders": ("no",), "customers": ("id",)}
    assert dataset.relationships == (
        Relationship(many_table="orders", many_column="buyer", one_table="customers", one_column="id"),
    )
    # Another choice of tables is a further version of the same dataset.
    changed = await shop.snapshot("orders")
    assert (changed.outcome, changed.record.current.changes.in_words) == (
        "changed",
        ("table customers removed",),
    )
    assert changed.record.dataset.relationships == ()


async def test_of_two_ways_to_join_the_first_is_taken_and_said(database: Database, shop: Shop) -> None:
    database.execute(
        """
        CREATE SCHEMA twice; CREATE TABLE twice.places (id int PRIMARY KEY); INSERT INTO twice.places VALUES (1), (2);
        CREATE TABLE twice.trips (z_from int REFERENCES twice.places, a_to int REFERENCES twice.places, parent int);
        INSERT INTO twice.trips VALUES (1, 2, 1), (2, 1, 2), (NULL, 1, 1)
        """
    )
    database.reader("twice_reader", "twice")
    await shop.connect(database.url("twice_reader"))
    added = await shop.snapshot("trips", "places")
    assert [(r.many_column, r.one_column) for r in added.record.dataset.relationships] == [("z_from", "id")]
    said = "Columns z_from and a_to refer to places: it is joined by z_from."
    assert added.record.current.findings["trips"].notes == (said,)


async def test_a_copy_of_a_database_takes_no_files(database: Database, shop: Shop, tmp_path: Path) -> None:
    await shop.connect(database.url("reader"))
    await shop.snapshot("orders")
    (tmp_path / "more.csv").write_text("a\n1\n")
    with pytest.raises(InvalidInput, match="takes no files"):
        await shop.parts.datasets.add_own([tmp_path / "more.csv"], to="shop")


async def test_a_refresh_is_the_same_version_until_something_changes(database: Database, shop: Shop) -> None:
    database.execute("CREATE SCHEMA fresh; CREATE TABLE fresh.t AS SELECT 1::int AS x, 'a' AS y")
    database.reader("fresh_reader", "fresh")
    await shop.connect(database.url("fresh_reader"))
    first = await shop.snapshot("t")
    assert (await shop.snapshot()).outcome == "unchanged"
    database.execute("INSERT INTO fresh.t VALUES (2, NULL)")
    second = await shop.snapshot()
    assert (second.outcome, second.record.dataset.tables[0].rows) == ("changed", 2)
    # The same bytes with another type are other data.
    database.execute("ALTER TABLE fresh.t ALTER x TYPE bigint")
    third = await shop.snapshot()
    assert (third.outcome, third.record.dataset.tables[0].columns[0].sql_type) == ("changed", "BIGINT")
    versions = [first.record.dataset.version, second.record.dataset.version, third.record.dataset.version]
    assert len(set(versions)) == 3
    # A lost version is made again from the kept copy, as the database described it.
    shop.parts._store.remove(third.record.dataset.version)
    assert await shop.parts.datasets.own.rebuild(third.record.dataset.version)
    assert rows_of(shop, third.record.dataset, "t") == [(1, "a"), (2, None)]
    with pytest.raises(InvalidInput, match="types are those of the database"):
        await shop.parts.datasets.own.correct("shop", {"x": "text"})


async def test_a_million_rows_take_bounded_memory(
    database: Database, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.execute(
        "CREATE SCHEMA big; CREATE TABLE big.big AS"
        " SELECT i::int AS id, md5(i::text) AS text, i / 7.0::float8 AS f FROM generate_series(1, 1000000) i"
    )
    database.reader("big_reader", "big")
    await shop.connect(database.url("big_reader"))
    workers = caught_workers(monkeypatch)
    peaks: list[int] = []
    held: list[int] = []
    blocks = 0

    def progress(done: int, _: int) -> None:
        nonlocal blocks
        blocks += 1
        held.append(tracemalloc.get_traced_memory()[0])
        if blocks % 50 == 0:
            peaks.append(peak_kb(workers[-1].pid))

    tracemalloc.start()
    try:
        async with shop.sources.copied("shop", ["big"], progress) as files:
            size = files[0].path.stat().st_size
            tracemalloc.stop()
            added = await shop.parts.datasets.add_own(files, dataset_id="shop")
    finally:
        tracemalloc.stop()
    assert blocks > 150
    assert size > 50 << 20
    assert max(held) < 24 << 20
    assert max(peaks) < 200 << 10
    assert rows_of(shop, added.record.dataset, "big", "SELECT count(*), max(id) FROM t") == [
        (1000000, 1000000)
    ]


def peak_kb(pid: int) -> int:
    """Of the sealed process behind this one."""
    (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for line in Path(f"/proc/{child}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1])
    raise AssertionError("the kernel tells no peak")
