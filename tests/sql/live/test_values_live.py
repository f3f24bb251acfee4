"""Values at the edges: what each engine makes of the same texts, numbers and moments."""

from __future__ import annotations

import datetime as dt
import math
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from itertools import product
from typing import Any

import duckdb
import psycopg
import pytest

from sandtable.catalog.model import Column, Dataset, Table
from sandtable.engines import nodes
from sandtable.engines.duckdb.types import column_type
from sandtable.engines.postgres.words import folded
from sandtable.engines.postgres.writer import write
from tests.plan.shop import quoted
from tests.sql.live.twins import Twin

TYPES = {
    "id": "INTEGER", "txt": "VARCHAR", "flo": "DOUBLE", "dec": "DECIMAL(10,2)", "wide": "DECIMAL(38,4)",
    "big": "BIGINT", "yes": "BOOLEAN", "day": "DATE", "moment": "TIMESTAMP", "other": "TIMESTAMP", "at": "TIME",
}  # fmt: skip
EDGES = Dataset(
    id="edges",
    tables=(
        Table(
            name="edges",
            file="edges.csv",
            sha256="0" * 64,
            columns=tuple(Column(name=n, type=column_type(t), sql_type=t) for n, t in TYPES.items()),
            time_column="moment",
        ),
    ),
    version="sha256:" + "0" * 64,
    as_of="2024-06-30",
    fiscal_month=4,
    week_start="sunday",
)
TEXTS = [
    "", " ", "a", "A", "ä", "Ä", "z", "Z", "ß", "ẞ", "İstanbul", "ΟΔΟΣ", "ǅ", "100%", "a_b", "back\\slash", "it's",
    '"quoted"', "$$", "x,y; z|w", "\u00a0 a , b \u3000", "\ta\t", "line\nbreak", "🎁", "\ufb01", None,
]  # fmt: skip
FLOATS = [
    0.0, 100.0, 0.1, -2.5, 1e15, 1234567890123456.0, 1e15 + 0.5, 1e16, 1e20, 1e-4, 1e-5, 5e-324, 1.5e300,
    float("nan"), float("inf"), float("-inf"), None,
]  # fmt: skip
MOMENTS = [
    "2024-01-31 10:00:00", "2024-02-29 09:00:00", "2024-02-29 10:00:00", "2023-02-28 10:00:00", "2024-03-31 10:00:00",
    "2024-04-30 23:59:59.999999", "2024-12-30 00:00:00", "2025-01-01 00:00:00", "1960-02-29 12:00:00.5",
    "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999",
]  # fmt: skip


def _rows() -> list[tuple[Any, ...]]:
    pairs = list(product(MOMENTS, MOMENTS))
    rows: list[tuple[Any, ...]] = []
    for n, (one, other) in enumerate(pairs):
        moment = dt.datetime.fromisoformat(one)
        rows.append(
            (
                n, TEXTS[n % len(TEXTS)], FLOATS[n % len(FLOATS)], Decimal(n * 37 - 900) / 100,
                Decimal((n * 7919) % 1000) * Decimal("12345678901234567890.1234"), 2**62 + n,
                [True, False, None][n % 3], moment.date(), moment, dt.datetime.fromisoformat(other), moment.time(),
            )
        )  # fmt: skip
    rows.append((len(pairs), *[None] * 10))
    return rows


@pytest.fixture(scope="module")
def edges(server: psycopg.Connection[Any]) -> Twin:
    with duckdb.connect() as source:
        declared = ", ".join(f"{quoted(name)} {type_}" for name, type_ in TYPES.items())
        source.execute(f"CREATE TABLE edges ({declared})")
        source.executemany(f"INSERT INTO edges VALUES ({', '.join('?' * len(TYPES))})", _rows())
        return Twin.of(EDGES, source, server, 'edges "of" \'it\\')


def plan(*select: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"dataset_id": "edges", "table": "edges", "select": list(select), **rest}


ID: dict[str, Any] = {"column": "id"}
BUCKETS = (
    "hour day week month quarter year fiscal_quarter fiscal_year day_of_week month_of_year hour_of_day day_name "
    "month_name hour_name"
).split()


@pytest.mark.parametrize("unit", ["second", "minute", "hour", "day", "week", "month", "quarter", "year"])
def test_elapsed(unit: str, edges: Twin) -> None:
    edges.check(plan(ID, {"elapsed": unit, "from": "moment", "to": "other"}))
    edges.check(plan(ID, {"elapsed": unit, "from": "day", "to": "other"}))
    edges.check(plan(ID, {"elapsed": unit, "from": "day", "as_of": "2024-06-30"}))


@pytest.mark.parametrize("bucket", BUCKETS)
def test_buckets(bucket: str, edges: Twin) -> None:
    inside = [{"column": "moment", "op": ">", "value": "1900-01-01"}]
    item = {"bucket": bucket, "column": "moment", "as": "b"}
    edges.check(plan(item, {"agg": "count"}, filters=inside))
    if "hour" not in bucket:
        edges.check(plan({**item, "column": "day"}, {"agg": "count"}, filters=inside))


@pytest.mark.parametrize("column", [name for name in TYPES if name != "id"])
def test_orders_and_groups(column: str, edges: Twin) -> None:
    for direction, nulls in product(("asc", "desc"), ("first", "last")):
        order = [{"expr": column, "dir": direction, "nulls": nulls}]
        edges.check(plan({"column": column}, ID, order_by=order))
    edges.check(plan({"column": column}, {"agg": "count"}))
    edges.check(plan(*({"agg": agg, "column": column} for agg in ("min", "max", "count", "count_distinct"))))


QUANTILES = [0, 0.05, 0.25, 0.5, 0.95, 0.999, 1]


@pytest.mark.parametrize("column", ["dec", "big", "day", "moment", "id"])
def test_quantiles(column: str, edges: Twin) -> None:
    # DuckDB interpolates in floats, which do not hold the last microsecond of the year 9999.
    known = [{"column": "day", "op": "<", "value": "2200-01-01"}]
    negative = {"op": "*", "left": {"column": "dec"}, "right": {"value": -1}}
    for q in QUANTILES:
        item = {"agg": "quantile", "column": column, "q": q}
        edges.check(plan(item, {"agg": "quantile", "of": negative, "q": q, "as": "below"}, filters=known))
        few = [{"column": "id", "op": "<", "value": 8}]
        edges.check(plan({"column": "yes"}, item, {"agg": "median", "column": column}, filters=few))


def test_quantiles_of_long_decimals_are_exact_only_here(edges: Twin) -> None:
    """DuckDB interpolates in floats, which have no more than 15 digits; PostgreSQL in decimals, by a share between two
    values that is a float."""
    values = sorted(row[4] for row in _rows() if row[4] is not None)
    for q in QUANTILES:
        (here,), (there,) = edges.answers(plan({"agg": "quantile", "column": "wide", "q": q}))
        assert abs(here[0] - there[0]) <= abs(there[0]) * Decimal("1e-14")
        with localcontext(Context(prec=60)):
            place = Decimal(len(values) - 1) * Decimal(str(q))
            low, high = values[int(place)], values[math.ceil(place)]
            exact = low + (high - low) * (place % 1)
            noise = (high - low) * Decimal("1e-14") if q == 0.999 else 0
            assert abs(there[0] - exact.quantize(Decimal("0.0001"), ROUND_FLOOR)) <= noise


@pytest.mark.parametrize("op", ["contains", "startswith", "endswith", "has", "=", "<", ">="])
def test_comparing_texts(op: str, edges: Twin) -> None:
    leaves = [{"column": "txt", "op": op, "value": text} for text in TEXTS if text is not None]
    edges.check(plan(ID, *({"holds": [leaf], "as": f"c{n}"} for n, leaf in enumerate(leaves))))


def test_elements(edges: Twin) -> None:
    edges.check(plan(ID, {"elements": "txt", "take": "count", "as": "n"}))
    edges.check(plan(ID, {"elements": "txt", "as": "each"}))


def test_texts_of_members(edges: Twin) -> None:
    windows = {"before": {"to": "2024-01-31"}, "after": {"from": "2024-02-01"}}
    for names in (["txt", "yes", "dec"], ["flo", "day", "at"], ["moment", "wide", "big"]):
        why = {"of": {"agg": "count"}, **windows, "by": names}
        edges.check({"dataset_id": "edges", "table": "edges", "why": why, "limit": 200})


def test_aggregates_of_each_row(edges: Twin) -> None:
    within = [[], ["yes"], ["yes", "day"]]
    aggregates = [
        {"agg": "median", "column": "dec"},
        {"agg": "quantile", "column": "moment", "q": 0.3},
        {"agg": "count_distinct", "column": "txt"},
        {"agg": "sum", "column": "dec", "distinct": True},
        {"agg": "avg", "column": "big"},
    ]
    items = [{**agg, "within": names} for agg, names in product(aggregates, within)]
    edges.check(plan(ID, *({**item, "as": f"c{n}"} for n, item in enumerate(items))))
    few = {"column": "dec", "op": ">", "value": 5}
    derive = [
        {"agg": "median", "column": "n", "as": "mid"},
        {"agg": "count_distinct", "column": "n", "as": "kinds"},
    ]
    total = {"agg": "count", "where": [few], "as": "n"}
    above = [{"column": "n", "op": ">=", "other_column": "mid"}]
    edges.check(
        plan(
            {"column": "day"},
            total,
            derive=derive,
            having=above,
        )
    )


def test_every_character_has_its_case(server: psycopg.Connection[Any]) -> None:
    cased = [p for p in range(1, 0x110000) if chr(p).lower() != chr(p) or chr(p).upper() != chr(p)]
    points = sorted({*range(1, 0x3000), *cased})
    lower = write(folded(nodes.column("c")))
    query = f"SELECT string_agg({lower}, '' ORDER BY p) FROM case_of"
    server.execute("CREATE TABLE case_of (p int, c text)")
    with server.cursor().copy("COPY case_of FROM STDIN") as copy:
        for point in points:
            copy.write_row((point, chr(point)))
    there = server.execute(query.encode()).fetchone()  # type: ignore[arg-type]  # a statement of the tests
    rows = "SELECT string_agg(lower(chr(p)), '' ORDER BY p) FROM (SELECT unnest(?::INTEGER[]) p)"
    here = duckdb.execute(rows, [points]).fetchone()
    assert here is not None and there is not None
    differ = [hex(ord(a)) for a, b in zip(here[0], there[0], strict=True) if a != b]
    assert differ == []
