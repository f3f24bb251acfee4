"""The same question gives the same answer on every back end, whatever the type."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from sandtable.capsule.result_digest import result_digest
from sandtable.errors import ErrorCode
from sandtable.sandbox.job import JobResult
from tests.sandbox.conformance.benches import Bench

pytestmark = pytest.mark.asyncio(loop_scope="module")

_CORPUS = Path(__file__).parent / "values.jsonl"
_VALUES = [json.loads(line) for line in _CORPUS.read_text(encoding="utf-8").splitlines()]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def every_value(bench: Bench) -> JobResult:
    """All of them as columns of one row: a job for each would take a cluster minutes."""
    result = await bench.run(
        "SELECT " + ", ".join(f"{case['sql']} AS x{n}" for n, case in enumerate(_VALUES))
    )
    assert result.status == "succeeded", result.error
    return result


@pytest.mark.parametrize("case", range(len(_VALUES)), ids=[case["title"] for case in _VALUES])
async def test_a_value_of_every_type(every_value: JobResult, case: int) -> None:
    wanted = _VALUES[case]
    assert every_value.columns[case].type == wanted["type"]
    # As JSON text: 1, 1.0 and true are equal to Python, but not to a reader of the result.
    assert json.dumps(every_value.rows[0][case]) == json.dumps(wanted["value"])


_DIGESTS = {
    "sums of fractions": (
        "SELECT region, sum(amount / 7) AS s, avg(amount / 3) AS a FROM orders GROUP BY region",
        "sha256:3a5e57f07590dcfadc6710e14a8cf121f2551f6f1441921e3b9f9063428a0890",
    ),
    "spread": (
        "SELECT region, stddev(sqrt(amount)) AS s FROM orders GROUP BY region",
        "sha256:c4e616380c60feeb5e3d168d0d1da3e6eda74c69cefda1b0fc2cd374632bd39b",
    ),
    "running totals": (
        "SELECT id, sum(amount / 9) OVER (ORDER BY id) AS s FROM orders WHERE id < 100 ORDER BY id",
        "sha256:5b421ad3efe8815a5ff983ad8891ec5dbebd8d1fe29d065849f1c42895c70dba",
    ),
    "many types": (
        "SELECT id, region, amount, DATE '2020-02-29' + (id % 5)::INTEGER AS d, [id, NULL] AS l, "
        "{'a': region} AS t, id::HUGEINT * 10000000000000000000 AS h FROM orders WHERE id < 50",
        "sha256:f1cadf199c66f68ef65b13745544b3fcc8601acfe1de926df325d617cbab6e76",
    ),
}


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize(("text", "digest"), _DIGESTS.values(), ids=list(_DIGESTS))
async def test_results_have_the_same_digest_everywhere(
    bench: Bench, text: str, digest: str, threads: int
) -> None:
    """Written down once: a capsule made on one tier must verify on every other, and on another machine."""
    result = await bench.run(text, threads=threads)
    assert result.status == "succeeded", result.error
    columns = [(column.name, column.type) for column in result.columns]
    assert result_digest(columns, result.rows) == digest


_QUERIES: dict[str, tuple[str, list[list[Any]]]] = {
    "group": (
        "SELECT region, count(*) AS n, sum(amount) AS total FROM orders GROUP BY region ORDER BY region",
        [["east", 666, 49450.5], ["north", 667, 49549.5], ["south", 667, 49500]],
    ),
    "filter": ("SELECT id FROM orders WHERE id BETWEEN 5 AND 7 ORDER BY id", [[5], [6], [7]]),
    "common table expression": (
        "WITH t AS (SELECT max(id) AS m FROM orders) SELECT m + 1 AS m FROM t",
        [[2000]],
    ),
    "window": (
        "SELECT id, sum(id) OVER (ORDER BY id) AS s FROM orders WHERE id < 3 ORDER BY id",
        [[0, 0], [1, 1], [2, 3]],
    ),
    "comment at the end": ("SELECT 1 AS x -- done", [[1]]),
    "no rows": ("SELECT id FROM orders WHERE id < 0", []),
    "unicode name": ('SELECT 1 AS "größe"', [[1]]),
}


@pytest.mark.parametrize(("text", "rows"), _QUERIES.values(), ids=list(_QUERIES))
async def test_queries(bench: Bench, text: str, rows: list[list[Any]]) -> None:
    result = await bench.run(text)
    assert result.status == "succeeded", result.error
    assert [list(row) for row in result.rows] == rows


async def test_columns_keep_their_names_and_order(bench: Bench) -> None:
    result = await bench.run('SELECT 1 AS b, 2 AS "A b", 3 AS "quo""te", 4 AS "größe"')
    assert [column.name for column in result.columns] == ["b", "A b", 'quo"te', "größe"]


async def test_several_threads_give_the_same_answer(bench: Bench) -> None:
    text = "SELECT region, count(*) AS n, sum(id) AS s FROM orders GROUP BY region ORDER BY region"
    assert (await bench.run(text, threads=4)).rows == (await bench.run(text)).rows


async def test_random_numbers_differ_from_run_to_run(bench: Bench) -> None:
    drawn = {(await bench.run("SELECT random() AS r")).rows[0][0] for _ in range(4)}
    assert len(drawn) == 4, "every fork draws the same numbers"


async def test_nothing_stays_from_run_to_run(bench: Bench) -> None:
    left = "SELECT 1) LIMIT 1; CREATE TABLE left_behind AS SELECT 1 AS x; SELECT * FROM (SELECT 2 AS x"
    for _ in range(4):
        await bench.run(left)
    result = await bench.run("SELECT * FROM left_behind")
    assert result.error is not None
    assert result.error.code == ErrorCode.VALIDATION_ERROR


_MISTAKES = {
    "unknown column": ("SELECT regoin FROM orders", "region"),
    "unknown table": ("SELECT * FROM ordres", "orders"),
    "syntax": ("SELECT FROM WHERE", "syntax"),
    "conversion": ("SELECT CAST('x' AS INTEGER)", "INT"),
    "lone surrogate": ("SELECT '\ud800' AS x", "surrogate"),
    "empty": ("", ""),
}


@pytest.mark.parametrize(("text", "hint"), _MISTAKES.values(), ids=list(_MISTAKES))
async def test_the_authors_mistakes_are_told_to_the_author(bench: Bench, text: str, hint: str) -> None:
    result = await bench.run(text)
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.code == ErrorCode.VALIDATION_ERROR, result.error
    assert hint.lower() in f"{result.error.message} {result.error.suggestion}".lower()
    assert result.error.suggestion


async def test_dry_run_binds_and_reads_nothing(bench: Bench) -> None:
    text = "SELECT region, sum(amount) AS total, error('this row was read') AS e FROM orders GROUP BY region"
    result = await bench.run(text, mode="dry_run")
    assert result.status == "succeeded", result.error
    assert [column.name for column in result.columns] == ["region", "total", "e"]
    assert result.rows == ()
    assert "GROUP" in result.output["explain"].upper()


async def test_dry_run_tells_mistakes(bench: Bench) -> None:
    result = await bench.run("SELECT nope FROM orders", mode="dry_run")
    assert result.error is not None
    assert result.error.code == ErrorCode.VALIDATION_ERROR


async def test_fetch_schema(bench: Bench) -> None:
    result = await bench.run("", mode="fetch_schema")
    (table,) = result.output["tables"]
    assert (table["table"], table["rows"]) == ("orders", 2000)
    assert [column["name"] for column in table["columns"]] == ["id", "region", "amount"]
    assert table["columns"][0]["sql_type"] == "BIGINT"


async def test_what_the_columns_hold(bench: Bench) -> None:
    result = await bench.run("", mode="profile", options={"values": 2, "seconds": 60})
    assert result.status == "succeeded", result.error
    (table,) = result.output["tables"]
    assert (table["name"], table["rows"]) == ("orders", 2000)
    identity, region, amount = table["columns"]
    assert (identity["minimum"], identity["maximum"], identity["distinct"]) == (0, 1999, 2000)
    assert region["values"] == [["north", 667], ["south", 667]], "the most frequent ones"
    assert (region["complete"], region["distinct"]) == (False, 3)
    assert sum(amount["counts"]) == 2000
