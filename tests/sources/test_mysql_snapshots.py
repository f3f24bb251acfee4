"""Tables of a real MariaDB become a version: types, values, names, keys, and nothing half done."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest

from sandtable.catalog.model import Relationship
from sandtable.errors import InvalidInput
from tests.sources.conftest import SECRET, Shop, caught_workers
from tests.sources.mariadb import MariaDatabase, shop_server
from tests.sources.test_snapshots import peak_kb, rows_of

pytestmark = pytest.mark.needs("mariadb", "userns")

KINDS = """
CREATE TABLE kinds (
  t1 TINYINT, t2 TINYINT UNSIGNED, s1 SMALLINT, s2 SMALLINT UNSIGNED, m1 MEDIUMINT, m2 MEDIUMINT UNSIGNED,
  i1 INT, i2 INT UNSIGNED ZEROFILL, b1 BIGINT, b2 BIGINT UNSIGNED, yes BOOLEAN,
  dec1 DECIMAL(38,10), wide DECIMAL(65,30), f FLOAT, f2 FLOAT(7,4), d DOUBLE, ch CHAR(6), vc VARCHAR(40),
  latin VARCHAR(20) CHARACTER SET latin1,
  utf16 TEXT CHARACTER SET utf16, tt TINYTEXT, mt MEDIUMTEXT, lt LONGTEXT, e ENUM('glad', 'sad', 'a,"b'),
  st SET('x', 'y', 'z'), dt DATE, moment DATETIME(6), stamp TIMESTAMP(3) NULL, t TIME(2), y YEAR,
  bit1 BIT(1), bit5 BIT(5), bit64 BIT(64), doc JSON, id UUID, raw BLOB, fixed BINARY(4), place POINT, net INET6,
  made INT AS (t1 + 1));
INSERT INTO kinds (
  t1, t2, s1, s2, m1, m2, i1, i2, b1, b2, yes, dec1, wide, f, f2, d, ch, vc, latin, utf16, tt, mt, lt, e, st, dt,
  moment, stamp, t, y, bit1, bit5, bit64, doc, id, raw, fixed, place, net) VALUES
  (-128, 255, -32768, 65535, -8388608, 16777215, -2147483648, 42, -9223372036854775808, 18446744073709551615, 1,
   1234567890123456789012345678.0123456789, 12345.5, 16777217, 1.5, 0.1, 'ab  ', 'a"b,c
é\\\\', 'Köln', '🐘', '', 'NULL', '\\\\N', 'a,"b', 'x,z', '1000-01-01', '9999-12-31 23:59:59.999999',
   '2024-07-01 12:00:00.125', '23:59:59.99', 2024, b'1', b'10110', x'ffffffffffffffff',
   '{"a": "x\\\\"y"}', '00000000-0000-0000-0000-00000000000a', x'00ff', x'00', POINT(1, 2), '::1'),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
   NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
   NULL),
  (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.25, -0.123456789, -0.0001, -1e-300, '', '', '', ' ', ' ', '', '', 'glad', '',
   '2024-02-29', '2024-02-29', '1970-01-01 00:00:01', '00:00', 0, b'0', b'0', b'0', '{}', NULL, '', '', NULL, NULL)
"""


@pytest.fixture(scope="module")
def database() -> Iterator[MariaDatabase]:
    with shop_server() as made:
        yield made


async def test_each_type_keeps_its_values(database: MariaDatabase, shop: Shop) -> None:
    await shop.connect(database.schema("kinds", KINDS))
    added = await shop.snapshot("kinds")
    (table,) = added.record.dataset.tables
    text = dict.fromkeys(
        ("ch", "vc", "latin", "utf16", "tt", "mt", "lt", "e", "st", "doc", "id", "net"), "VARCHAR"
    )
    assert {c.name: c.sql_type for c in table.columns} == {
        "t1": "TINYINT", "t2": "SMALLINT", "s1": "SMALLINT", "s2": "INTEGER", "m1": "INTEGER", "m2": "INTEGER",
        "i1": "INTEGER", "i2": "BIGINT", "b1": "BIGINT", "b2": "UBIGINT", "yes": "BOOLEAN", "dec1": "DECIMAL(38,10)",
        "wide": "DECIMAL(18,2)", "f": "FLOAT", "f2": "FLOAT", "d": "DOUBLE", **text, "dt": "DATE",
        "moment": "TIMESTAMP", "stamp": "TIMESTAMP", "t": "TIME", "y": "SMALLINT", "bit1": "BOOLEAN", "bit5": "BIGINT",
        "bit64": "UBIGINT", "made": "INTEGER",
    }  # fmt: skip
    query = "SELECT columns(*)::VARCHAR FROM t ORDER BY coalesce(t1, 9)"
    first, zero, nothing = rows_of(shop, added.record.dataset, "kinds", query)
    assert first == (
        "-128", "255", "-32768", "65535", "-8388608", "16777215", "-2147483648", "42", "-9223372036854775808",
        "18446744073709551615", "true", "1234567890123456789012345678.0123456789", "12345.50", "16777216.0", "1.5",
        "0.1", "ab", 'a"b,c\né\\', "Köln", "🐘", "", "NULL", "\\N", 'a,"b', "x,z", "1000-01-01",
        "9999-12-31 23:59:59.999999", "2024-07-01 12:00:00.125", "23:59:59.99", "2024", "true", "22",
        "18446744073709551615", '{"a": "x\\"y"}', "00000000-0000-0000-0000-00000000000a", "::1", "-127",
    )  # fmt: skip
    assert nothing == (None,) * 37
    assert zero[12:16] == ("-0.25", "-0.12345679", "-0.0001", "-1e-300")
    assert (zero[16], zero[19], zero[23], zero[24], zero[29]) == ("", " ", "glad", "", "0")
    assert added.record.current.findings["kinds"].notes == (
        "Column raw: left out: blob is binary data.",
        "Column fixed: left out: binary(4) is binary data.",
        "Column place: left out: point is geometry; ST_AsText in a view gives its text.",
        "Column net: kept as text: it is inet6 in the database.",
    )
    assert added.record.current.sources[0].copied and added.record.current.sources[0].copied.kind == "mysql"


async def test_values_without_a_place_make_a_column_text_and_are_counted(
    database: MariaDatabase, shop: Shop
) -> None:
    url = database.schema(
        "odd",
        """
CREATE TABLE odd (d DATE, month DATE, ts DATETIME, early DATE, t TIME, wide DECIMAL(65,30), yes BOOLEAN, good DATE);
INSERT INTO odd VALUES
  ('0000-00-00', '2024-00-01', '2024-02-31 10:00', '0000-03-01', '-00:00:01', 12345678901234567890.5, 2, '2024-02-29'),
  ('2024-01-01', '2024-01-00', '2023-02-29', '0001-01-01', '838:59:59', 1e-20, 1, '2000-02-29'),
  (NULL, NULL, '2024-02-29', '9999-12-31', '23:59:59', -1, NULL, '0001-01-01')
""",
        mode="ALLOW_INVALID_DATES",
    )
    await shop.connect(url)
    added = await shop.snapshot("odd")
    (table,) = added.record.dataset.tables
    assert [c.sql_type for c in table.columns] == ["VARCHAR"] * 6 + ["TINYINT", "DATE"]
    assert rows_of(shop, added.record.dataset, "odd", "SELECT * EXCLUDE good FROM t")[:2] == [
        ("0000-00-00", "2024-00-01", "2024-02-31 10:00:00", "0000-03-01", "-00:00:01",
         "12345678901234567890.500000000000000000000000000000", 2),
        ("2024-01-01", "2024-01-00", "2023-02-29 00:00:00", "0001-01-01", "838:59:59",
         "0.000000000000000000010000000000", 1),
    ]  # fmt: skip
    assert added.record.current.findings["odd"].notes == (
        "Column d: kept as text: one of its cells is zero or no day of the calendar.",
        "Column month: kept as text: 2 of its cells are zero or no day of the calendar.",
        "Column ts: kept as text: 2 of its cells are zero or no day of the calendar.",
        "Column early: kept as text: one of its cells is in the year 0.",
        "Column t: kept as text: 2 of its cells are negative or longer than a day.",
        "Column wide: kept as text: it has numbers of 40 digits.",
        "Column yes: kept as whole numbers: one of its cells is neither 0 nor 1.",
    )


async def test_any_name_is_a_name(database: MariaDatabase, shop: Shop) -> None:
    schema = "Wei``rd; DROP DATABASE shop"
    database.execute(
        f"""CREATE DATABASE `{schema}`;
CREATE TABLE `{schema}`.`Größe 'x' "y" %s {{c}}` (
  `Id` INT, `a``b` INT, `,` TEXT, `q"%%s{{}}` INT, `{{c}}` INT, `line
break` INT, `back\\slash` INT);
INSERT INTO `{schema}`.`Größe 'x' "y" %s {{c}}` VALUES (1, 2, 'comma', 3, 4, 5, 6);
CREATE USER weird@'%' IDENTIFIED BY '{SECRET}';
GRANT SELECT ON `{schema}`.* TO weird@'%'"""
    )
    await shop.connect(database.url("weird", schema="Wei`rd; DROP DATABASE shop"))
    added = await shop.snapshot("""Größe 'x' "y" %s {c}""")
    (table,) = added.record.dataset.tables
    assert [c.name for c in table.columns] == [
        "Id",
        "a`b",
        ",",
        'q"%%s{}',
        "{c}",
        "line\nbreak",
        "back\\slash",
    ]
    assert rows_of(shop, added.record.dataset, table.name) == [(1, 2, "comma", 3, 4, 5, 6)]
    assert database.execute("SELECT count(*) FROM shop.orders") == [(1000,)]


async def test_one_column_that_is_null_or_empty_keeps_its_rows(database: MariaDatabase, shop: Shop) -> None:
    url = database.schema(
        "thin",
        r"""CREATE TABLE thin (x TEXT);
INSERT INTO thin VALUES (NULL), ('\\.'), (NULL), (''), ('a'), (NULL);
CREATE TABLE none (x INT)""",
    )
    await shop.connect(url)
    added = await shop.snapshot("thin", "none")
    assert rows_of(shop, added.record.dataset, "thin") == [(None,), ("\\.",), (None,), ("",), ("a",), (None,)]
    assert [t.rows for t in added.record.dataset.tables] == [6, 0]


async def test_keys_and_joins_are_those_of_the_database(database: MariaDatabase, shop: Shop) -> None:
    await shop.connect(database.path_url("reader"))
    added = await shop.snapshot("orders", "customers")
    dataset = added.record.dataset
    assert {t.name: t.key for t in dataset.tables} == {"orders": ("no",), "customers": ("id",)}
    assert dataset.relationships == (
        Relationship(many_table="orders", many_column="buyer", one_table="customers", one_column="id"),
    )
    ordered = rows_of(shop, dataset, "orders", "SELECT min(ordered)::VARCHAR FROM t")
    assert ordered == [("2024-01-01 01:30:00",)]


async def test_a_table_without_transactions_says_so(database: MariaDatabase, shop: Shop) -> None:
    url = database.schema("plain", "CREATE TABLE t (x INT) ENGINE=MyISAM;\nCREATE VIEW v AS SELECT 1 AS x")
    await shop.connect(url)
    added = await shop.snapshot("t", "v")
    findings = added.record.current.findings
    assert "no transactions" in findings["t"].notes[0]
    assert findings["v"].notes == ()


async def test_all_tables_are_of_one_moment(database: MariaDatabase, shop: Shop) -> None:
    url = database.schema(
        "moment",
        "CREATE TABLE a (x INT);\nINSERT INTO a VALUES (1);\nCREATE TABLE b (x INT);\nINSERT INTO b VALUES (1)",
    )
    await shop.connect(url)
    changed = False

    def progress(done: int, _: int) -> None:
        nonlocal changed
        if not changed:
            changed = True
            database.execute("INSERT INTO moment.a VALUES (2);\nINSERT INTO moment.b VALUES (2)")

    async with shop.sources.copied("shop", ["a", "b"], progress) as files:
        assert changed
        assert [file.path.read_text() for file in files] == ['"x"\n1\n', '"x"\n1\n']


async def test_a_refresh_is_the_same_version_until_something_changes(
    database: MariaDatabase, shop: Shop
) -> None:
    await shop.connect(
        database.schema("fresh", "CREATE TABLE t (x INT, y TEXT);\nINSERT INTO t VALUES (1, 'a')")
    )
    first = await shop.snapshot("t")
    assert (await shop.snapshot()).outcome == "unchanged"
    database.execute("INSERT INTO fresh.t VALUES (2, NULL)", mode="ANSI")
    second = await shop.snapshot()
    assert (second.outcome, second.record.dataset.tables[0].rows) == ("changed", 2)
    database.execute("ALTER TABLE fresh.t MODIFY x BIGINT")
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


async def test_many_rows_take_bounded_memory(
    database: MariaDatabase, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = database.schema(
        "big", "CREATE TABLE big AS SELECT seq AS id, MD5(seq) AS text, seq / 7e0 AS f FROM seq_1_to_500000"
    )
    await shop.connect(url)
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
    assert blocks > 75
    assert size > 25 << 20
    assert max(held) < 20 << 20
    assert max(peaks) < 200 << 10
    counted = rows_of(shop, added.record.dataset, "big", "SELECT count(*), max(id) FROM t")
    assert counted == [(500000, 500000)]
