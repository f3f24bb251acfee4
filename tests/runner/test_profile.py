"""What a profile says is what a query would say; whatever a column holds, the others are told of too."""

from __future__ import annotations

import json
import math
from typing import Any

import duckdb
import pytest

from sandtable.catalog.profile import MOST_VALUES, ColumnProfile
from sandtable_runner import engine, profile
from sandtable_runner.profile_room import Room
from tests.runner.profiling import Shelf

pytestmark = pytest.mark.asyncio(loop_scope="module")

_MIXED = """
SELECT x AS id,
       ['north', 'south', NULL, 'east'][1 + x % 4] AS region,
       CASE WHEN x % 5 > 0 THEN (x % 37)::DECIMAL(10, 2) / 4 END AS price,
       (x % 11) / 3.0::DOUBLE AS ratio,
       x % 3 = 0 AS good,
       DATE '2024-01-01' + (x % 90)::INTEGER AS day,
       TIMESTAMP '2024-01-01 00:00:00' + to_minutes(x % 500) AS moment,
       (TIMESTAMP '2024-01-01 00:00:00' + to_hours(x % 5))::TIMESTAMPTZ AS zoned,
       TIME '10:00:00' + to_minutes(x % 7) AS hour,
       (x::HUGEINT * 12345678901234567890) % 97 AS huge,
       md5((x % 6)::VARCHAR)::UUID AS key
FROM range(5000) AS r(x)
"""


async def test_every_kind_of_column_agrees_with_queries(shelf: Shelf) -> None:
    dataset = shelf.put(mixed=_MIXED)
    (table,) = (await shelf.look(dataset)).tables
    assert (table.name, table.rows) == ("mixed", 5000)
    assert [column.name for column in table.columns] == [c.name for c in dataset.tables[0].columns]
    for column in table.columns:
        name = f'"{column.name}"'
        query = f"SELECT count(*) - count({name}), count(DISTINCT {name}), min({name}), max({name}) FROM $t"
        (counted,) = shelf.ask(dataset, "mixed", query)
        assert [column.nulls, column.distinct, column.minimum, column.maximum] == counted, column.name
        query = f"SELECT {name}, count(*) AS n FROM $t WHERE {name} IS NOT NULL GROUP BY 1 ORDER BY n DESC, 1"
        values = shelf.ask(dataset, "mixed", f"{query} LIMIT {MOST_VALUES}")
        assert [[v.value, v.count] for v in column.values] == values, column.name
        assert column.complete == (column.distinct <= MOST_VALUES), column.name
        assert bool(column.histogram) == (column.name in {"id", "price", "ratio", "huge"})
        _adds_up(shelf.ask(dataset, "mixed", f"SELECT {name} FROM $t WHERE {name} IS NOT NULL"), column)


def _adds_up(cells: list[list[Any]], column: ColumnProfile) -> None:
    bins = column.histogram
    for index, part in enumerate(bins):
        last = index == len(bins) - 1
        inside = [c for (c,) in cells if part.low <= float(c) < part.high or (last and float(c) == part.high)]
        assert part.count == len(inside), (column.name, index)


@pytest.mark.parametrize("few", [True, False], ids=["listed", "too many to list"])
async def test_bins_have_equal_widths_and_hold_every_number(shelf: Shelf, few: bool) -> None:
    values = "x % 1000" if few else "x * 0.1::DOUBLE"
    dataset = shelf.put(t=f"SELECT {values} AS x FROM range(9973) AS r(x)")
    column = (await shelf.look(dataset)).tables[0].columns[0]
    assert len(column.histogram) == 20
    assert (column.histogram[0].low, column.histogram[-1].high) == (column.minimum, column.maximum)
    assert sum(part.count for part in column.histogram) == 9973
    widths = {round(part.high - part.low, 6) for part in column.histogram}
    assert len(widths) == 1
    _adds_up(shelf.ask(dataset, "t", "SELECT x FROM $t"), column)


async def test_no_rows(shelf: Shelf) -> None:
    (table,) = (await shelf.look(shelf.put(t="SELECT 1 AS a, 'x' AS b, 1.5::DOUBLE AS c WHERE false"))).tables
    assert table.rows == 0
    assert [c.model_dump() for c in table.columns] == [
        ColumnProfile(name=name, nulls=0, distinct=0, complete=True).model_dump() for name in "abc"
    ]


@pytest.mark.parametrize("sql_type", ["INTEGER", "VARCHAR", "DOUBLE", "DATE", "STRUCT(a INTEGER)", "BLOB"])
async def test_nothing_but_empty_cells(shelf: Shelf, sql_type: str) -> None:
    column = await shelf.column(f"SELECT NULL::{sql_type} AS x FROM range(7)")
    assert (column.nulls, column.distinct, column.minimum, column.values) == (7, 0, None, ())


@pytest.mark.parametrize(
    "value",
    ["{'a': i % 3}", "[i % 3]", "MAP {i % 3: 'x'}", "encode((i % 3)::VARCHAR)", "[{'a': [i % 3]}]"],
    ids=["struct", "list", "map", "blob", "nested"],
)
async def test_what_has_no_plain_values_is_counted(shelf: Shelf, value: str) -> None:
    column = await shelf.column(f"SELECT CASE WHEN i > 0 THEN {value} END AS x FROM range(10) AS t(i)")
    assert (column.nulls, column.distinct) == (1, 3)
    assert (column.minimum, column.values, column.complete, column.histogram) == (None, (), False, ())


async def test_numbers_that_are_none(shelf: Shelf) -> None:
    numbers = "('NaN'), ('inf'), ('-inf'), ('1'), ('3'), ('3'), (NULL)"
    column = await shelf.column(f"SELECT x::DOUBLE AS x FROM (VALUES {numbers}) AS t(x)")
    assert (column.minimum, column.maximum, column.nulls, column.distinct) == (1.0, 3.0, 1, 5)
    assert {v.value: v.count for v in column.values} == {
        3.0: 2, 1.0: 1, "NaN": 1, "Infinity": 1, "-Infinity": 1,
    }  # fmt: skip
    assert sum(part.count for part in column.histogram) == 3


async def test_only_infinities_have_no_bins(shelf: Shelf) -> None:
    column = await shelf.column("SELECT 'inf'::DOUBLE AS x FROM range(3)")
    assert (column.minimum, column.histogram, column.complete) == (None, (), True)


@pytest.mark.parametrize(
    ("low", "high"),
    [("-1.7e308", "1.7e308"), ("0", "5e-324"), ("7", "7"), ("9007199254740993", "9007199254740995")],
    ids=["as wide as numbers are", "no width", "one number", "beyond exact integers"],
)
async def test_extreme_spans(shelf: Shelf, low: str, high: str) -> None:
    column = await shelf.column(f"SELECT unnest([{low}::DOUBLE, {high}::DOUBLE]) AS x")
    assert sum(part.count for part in column.histogram) == 2
    assert all(math.isfinite(edge) for part in column.histogram for edge in (part.low, part.high))


async def test_long_integers_and_infinite_dates_are_as_results_have_them(shelf: Shelf) -> None:
    column = await shelf.column("SELECT 99999999999999999999999999999999999999::DECIMAL(38, 0) AS x")
    assert column.values[0].value == column.maximum == "99999999999999999999999999999999999999"
    column = await shelf.column("SELECT unnest(['infinity'::DATE, '2024-02-03'::DATE]) AS x")
    assert (column.minimum, column.maximum) == ("2024-02-03", "infinity")


async def test_texts_of_every_kind(shelf: Shelf) -> None:
    texts = "['a' || chr(0) || 'b', '', ' ', 'naïve 🦆', 'say \"hi\"; DROP TABLE t; --', repeat('y', 200)]"
    column = await shelf.column(f"SELECT unnest({texts}) AS x")
    assert {v.value for v in column.values} == {
        "a\0b", "", " ", "naïve 🦆", 'say "hi"; DROP TABLE t; --', "y" * 200,
    }  # fmt: skip
    assert column.complete


async def test_long_texts_are_counted_but_not_listed(shelf: Shelf) -> None:
    huge = "repeat(chr(64 + i::INTEGER), CASE WHEN i < 3 THEN 5 ELSE 100000 END)"
    column = await shelf.column(f"SELECT {huge} AS x FROM range(1, 30) AS t(i)")
    assert (column.distinct, column.complete) == (29, False)
    assert [v.value for v in column.values] == ["AAAAA", "BBBBB"]
    assert (column.minimum, column.maximum) == ("AAAAA", None)


async def test_names_that_are_ours_too(shelf: Shelf) -> None:
    query = (
        'SELECT i % 2 AS v, i % 3 AS n, i % 5 AS x, i % 7 AS "we""ird", i % 11 AS low FROM range(100) AS t(i)'
    )
    dataset = shelf.put(counted=query)
    (table,) = (await shelf.look(dataset)).tables
    assert [(c.name, c.distinct) for c in table.columns] == [
        ("v", 2), ("n", 3), ("x", 5), ('we"ird', 7), ("low", 11),
    ]  # fmt: skip


async def test_five_hundred_wide_columns_share_the_room(shelf: Shelf) -> None:
    long = ", ".join(f"'{i} ' || x || repeat('y', 150) AS c{i}" for i in range(497))
    query = f"SELECT x % 4 AS few, {long}, x AS id, ['a', 'b'][1 + x % 2] AS mark FROM range(150) AS t(x)"
    found = await shelf.look(shelf.put(wide=query))
    (table,) = found.tables
    assert len(table.columns) == 500
    assert len(found.model_dump_json()) < 16 << 20
    for name in ("few", "id", "mark"):
        column = table.column(name)
        assert column is not None and column.complete, "what takes little is never cut"
    kept = [len(c.values) for c in table.columns if c.name.startswith("c")]
    assert min(kept) > 0 and max(kept) - min(kept) <= 3, "an even share"
    assert max(kept) < 150


async def test_tables_keep_their_order(shelf: Shelf) -> None:
    found = await shelf.look(shelf.put(zebra="SELECT 1 AS a", ant="SELECT 2 AS b FROM range(2)"))
    assert [(t.name, t.rows) for t in found.tables] == [("zebra", 1), ("ant", 2)]


def _look(query: str, *, rows: int = 4 << 20, seconds: float = 60, threads: int = 1) -> list[dict[str, Any]]:
    with duckdb.connect(config={"threads": threads}) as connection:
        connection.execute(f"CREATE TABLE t AS {query}")
        options = {"values": MOST_VALUES, "seconds": seconds}
        job = {"data": [{"table": "t"}], "options": options, "limits": {"result_bytes": rows}}
        return profile.profile(connection, job)["tables"][0]["columns"]


async def test_large_tables_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile, "EXACT_ROWS", 20_000)
    monkeypatch.setattr(profile, "FEW_VALUES", 1_000)
    hot = "CASE WHEN x % 10 < 3 THEN 'hot' ELSE 'cold ' || x END"
    columns = _look(
        f"SELECT x AS id, x % 7 AS few, {hot} AS word, x * 1.0::DOUBLE AS f FROM range(50000) AS t(x)"
    )
    identity, few, word, number = columns
    assert few["distinct"] == 7 and few["complete"]
    assert identity["distinct"] == pytest.approx(50_000, rel=0.1)
    assert (identity["minimum"], identity["maximum"], sum(identity["counts"])) == (0, 49_999, 50_000)
    assert word["values"] == [["hot", 15_000]], "found in a sample, counted in full"
    assert not word["complete"] and number["values"] == []


async def test_a_column_that_takes_too_much_memory_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(connection: engine.Connection, look: Any, *more: Any) -> list[list[Any]]:
        if look.name == "heavy":
            raise duckdb.OutOfMemoryException("Out of Memory Error")
        return plain(connection, look, *more)

    plain = profile._frequent
    monkeypatch.setattr(profile, "_frequent", exhausted)
    heavy, light = _look("SELECT x AS heavy, x % 3 AS light FROM range(100) AS t(x)")
    assert (heavy["nulls"], heavy["values"], heavy["complete"]) == (0, [], False)
    assert heavy["distinct"] == pytest.approx(100, rel=0.2)
    assert light["complete"]


async def test_when_the_time_is_up_the_rest_is_counted() -> None:
    (column,) = _look("SELECT x FROM range(100) AS t(x)", seconds=-1)
    assert (column["nulls"], column["values"]) == (0, [])


@pytest.mark.parametrize("most", [3_000, 20_000, 200_000])
async def test_the_room_is_kept(most: int) -> None:
    room, columns = Room(most), list[dict[str, Any]]()
    for index in range(60 if most > 20_000 else 10):
        values = [[f"{chr(1 + index)} value {n} é", 5] for n in range(index * 40)]
        column = {
            "name": f"c{index}", "nulls": 0, "distinct": len(values), "minimum": "a", "maximum": None,
            "values": values, "complete": True, "edges": [i / 3 for i in range(21)], "counts": [7] * 20,
        }  # fmt: skip
        room.take(column)
        columns.append(column)
    room.share()
    assert len(json.dumps(columns, ensure_ascii=False, separators=(",", ":")).encode()) <= most
    assert all(c["complete"] == (len(c["values"]) == c["distinct"]) for c in columns)


async def test_many_columns_do_without_bins_and_ends() -> None:
    room, columns = Room(60_000), list[dict[str, Any]]()
    for index in range(200):
        column = {
            "name": f"column {index}", "nulls": 0, "distinct": 1, "minimum": "é" * 200, "maximum": "z" * 200,
            "values": [["v" * 100, 1]], "complete": True, "edges": [0.0, 1.0], "counts": [1],
        }  # fmt: skip
        room.take(column)
        columns.append(column)
    room.share()
    assert len(json.dumps(columns, ensure_ascii=False, separators=(",", ":")).encode()) <= 60_000
    assert all(c["edges"] == [] and c["minimum"] is None for c in columns)
    assert all(c["complete"] == (len(c["values"]) == 1) for c in columns)
