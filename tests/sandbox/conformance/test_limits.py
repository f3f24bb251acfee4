"""Every limit holds, says its name, and the next job notices nothing."""

from __future__ import annotations

import json

import pytest

from sandtable.errors import ErrorCode
from sandtable.sandbox.job import JobResult
from tests.sandbox.conformance.benches import SLOW, Bench

pytestmark = pytest.mark.asyncio(loop_scope="module")

_BUSY = "SELECT sum(hash(a.range * b.range)) FROM range(100000) AS a, range(1000000) AS b"
_MEMORY = {
    "a long list": "SELECT list(x) FROM range(1000000000) AS t(x)",
    "a long text": "SELECT length(repeat(repeat('x', 30000), 30000))",
    "many groups": "SELECT count(*) FROM (SELECT x, count(*) FROM range(1000000000) AS t(x) GROUP BY x)",
    "a wide cross join kept": "SELECT list([a.range, b.range]) FROM range(100000) AS a, range(100000) AS b",
}


def _code(result: JobResult) -> ErrorCode | None:
    return result.error.code if result.error else None


async def _is_well(bench: Bench) -> None:
    result = await bench.run("SELECT count(*) FROM orders")
    assert result.rows == ((2000,),)


@pytest.mark.parametrize("text", _MEMORY.values(), ids=list(_MEMORY))
async def test_memory(bench: Bench, text: str) -> None:
    result = await bench.run(text, memory_mb=128, tmp_mb=16, wall_ms=60_000)
    assert _code(result) == ErrorCode.RUNNER_RESOURCE_EXCEEDED, result.error
    assert result.error is not None
    assert result.error.suggestion
    await _is_well(bench)


async def test_processor_time(bench: Bench) -> None:
    result = await bench.run(_BUSY, cpu_s=1, wall_ms=60_000)
    assert _code(result) == ErrorCode.RUNNER_RESOURCE_EXCEEDED, result.error
    assert result.error is not None
    assert result.error.type == "CpuLimit", "the message must say which limit it was"
    await _is_well(bench)


async def test_scratch_space(bench: Bench) -> None:
    """A sort that does not fit in memory spills, and the spill is bounded too."""
    text = (
        "SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY hash(x)) AS n FROM range(30000000) AS t(x))"
    )
    result = await bench.run(text, memory_mb=128, tmp_mb=32, wall_ms=60_000)
    assert _code(result) == ErrorCode.RUNNER_RESOURCE_EXCEEDED, result.error
    await _is_well(bench)


async def test_rows_are_cut_and_the_cut_is_told(bench: Bench) -> None:
    result = await bench.run("SELECT x FROM range(10) AS t(x)", rows=4)
    assert (result.rows, result.row_count, result.truncated) == (((0,), (1,), (2,), (3,)), 4, True)


@pytest.mark.parametrize(("found", "limit"), [(4, 4), (0, 4), (3, 4)], ids=["exactly", "none", "fewer"])
async def test_rows_that_fit_are_not_called_cut(bench: Bench, found: int, limit: int) -> None:
    result = await bench.run(f"SELECT x FROM range({found}) AS t(x)", rows=limit)
    assert (result.row_count, result.truncated) == (found, False)


async def test_no_rows_allowed(bench: Bench) -> None:
    result = await bench.run("SELECT x FROM range(3) AS t(x)", rows=0)
    assert (result.status, result.rows, result.truncated) == ("succeeded", (), True)


async def test_one_large_value(bench: Bench) -> None:
    result = await bench.run("SELECT 'short' AS first, repeat('x', 2000) AS wide", cell_bytes=1000)
    assert _code(result) == ErrorCode.RUNNER_RESOURCE_EXCEEDED
    assert result.error is not None
    assert "'wide'" in result.error.message


_LARGE = {
    "letters": "SELECT repeat('x', 1000) AS t FROM range(200)",
    "control characters, six bytes each in JSON": "SELECT repeat(chr(1), 400) AS t FROM range(190)",
    "characters of four bytes": "SELECT repeat('🦆', 300) AS t FROM range(190)",
    "quotes and backslashes": "SELECT repeat('\\\"', 400) AS t FROM range(190)",
    "lists": "SELECT range(300) AS t FROM range(190)",
    "long names": "SELECT " + ", ".join(f"1 AS c{i}_{'n' * 150}" for i in range(900)),
}


@pytest.mark.parametrize("text", _LARGE.values(), ids=list(_LARGE))
async def test_a_large_result(bench: Bench, text: str) -> None:
    result = await bench.run(text, result_bytes=100_000)
    assert _code(result) == ErrorCode.RUNNER_RESOURCE_EXCEEDED, result.error
    assert result.error is not None
    assert result.error.type == "ResultTooLarge"


async def test_a_result_within_its_limit_is_within_it_on_the_wire(bench: Bench) -> None:
    result = await bench.run("SELECT repeat(chr(1), 100) AS t FROM range(100)", result_bytes=100_000)
    assert result.status == "succeeded"
    assert len(json.dumps(result.rows, ensure_ascii=False)) <= 100_000


async def test_limits_hold_again_and_again(bench: Bench) -> None:
    for _ in range(3):
        assert _code(await bench.run(SLOW, wall_ms=100)) == ErrorCode.RUNNER_TIMEOUT
    await _is_well(bench)
