"""Many lines: every one answered once, in order, as it comes, whatever is in it."""

from __future__ import annotations

import asyncio
import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.capsule.query import SqlQuery
from sandtable.cli import jsonl, lines
from sandtable.cli.jsonl import BadLine, Line, answer_lines, read_line
from sandtable.errors import InvalidInput, NotFound, Problem


def refuse(line_id: Any, problem: Problem) -> dict[str, Any]:
    return {"id": line_id, "refused": problem.message}


async def echo(line: Line) -> dict[str, Any]:
    return {"id": line.id}


async def answers(
    source: Path, capsys: pytest.CaptureFixture[str], answer: Any = echo, in_flight: int = 4
) -> list[dict[str, Any]]:
    await answer_lines(str(source), answer, refuse, in_flight)
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "in.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return path


async def test_order_is_kept_whatever_finishes_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = written(tmp_path, "\n".join(f'{{"id": {n}, "sql": "x"}}' for n in range(30)))
    open_now = peak = 0

    async def slow_first(line: Line) -> dict[str, Any]:
        nonlocal open_now, peak
        open_now += 1
        peak = max(peak, open_now)
        await asyncio.sleep(0.01 if line.id % 3 == 0 else 0)
        open_now -= 1
        return {"id": line.id}

    found = await answers(source, capsys, slow_first, in_flight=6)
    assert [answer["id"] for answer in found] == list(range(30))
    assert 1 < peak <= 6


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        pytest.param(b"nonsense", "not JSON: Expecting value", id="not JSON"),
        pytest.param(b"[1]", "not a JSON object", id="list"),
        pytest.param(b"\xff", "not UTF-8", id="not UTF-8"),
        pytest.param(b'{"sql": "x"}', "`id` is missing", id="no id"),
        pytest.param(b'{"id": null, "sql": "x"}', "`id` is missing", id="null id"),
        pytest.param(b'{"id": [1], "sql": "x"}', "neither text nor a number", id="list id"),
        pytest.param(b'{"id": 1e999, "sql": "x"}', "neither text nor a number", id="infinite id"),
        pytest.param(b'{"id": NaN, "sql": "x"}', "neither text nor a number", id="NaN id"),
        pytest.param(b'{"id": 1}', "neither `sql` nor `plan`", id="neither"),
        pytest.param(b'{"id": 1, "sql": "x", "plan": {}}', "both `sql` and `plan`", id="both"),
        pytest.param(b'{"id": 1, "sql": 5}', "`sql` is not text", id="sql type"),
        pytest.param(b'{"id": 1, "plan": "x"}', "a plan is a JSON object", id="plan type"),
        pytest.param(b'{"id": 1, "sql": "x", "question": 1}', "`question` is not text", id="question type"),
        pytest.param(b'{"id": 1, "plan": ' + b"[" * 99999 + b"}", "nested too deeply", id="deep"),
        pytest.param(
            b'{"id": 1, "plan": {"a": ' + b"[" * 99 + b"]" * 99 + b"}}", "too deeply", id="deep plan"
        ),
        pytest.param(b'{"id": 1' + b"0" * 5000 + b"}", "huge number", id="huge number"),
        pytest.param(b" " * (lines.MOST_LINE + 1), "longer than 8 MiB", id="long"),
    ],
)
def test_a_bad_line_says_why(raw: bytes, says: str) -> None:
    line = read_line(raw, 7)
    assert isinstance(line, BadLine)
    assert line.problem.message.startswith("line 7: ")
    assert says in line.problem.message
    assert line.problem.suggestion or "too deeply" in says


def test_other_members_are_ignored() -> None:
    line = read_line(b'{"id": "a", "sql": "SELECT 1", "expect": "ok", "question": "q?"}', 1)
    assert isinstance(line, Line)
    assert (line.id, line.query, line.question) == ("a", SqlQuery("SELECT 1"), "q?")


@given(st.binary(max_size=200))
def test_reading_a_line_is_total(raw: bytes) -> None:
    assert isinstance(read_line(raw, 1), Line | BadLine)


async def test_after_a_bad_line_the_rest_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = written(tmp_path, '\ufeff{"id": 1, "sql": "x"}\r\n\nbad\n  \n{"id": 2, "sql": "y"}')
    found = await answers(source, capsys)
    assert [answer["id"] for answer in found] == [1, None, 2]
    assert found[1]["refused"].startswith("line 3: not JSON")


async def test_a_line_that_fails_is_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def failing(line: Line) -> dict[str, Any]:
        raise NotFound("gone")

    source = written(tmp_path, '{"id": 1, "sql": "x"}')
    assert await answers(source, capsys, failing) == [{"id": 1, "refused": "gone"}]


async def test_an_endless_line_is_not_held(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (lines, jsonl):
        monkeypatch.setattr(module, "MOST_LINE", 100)
    source = written(tmp_path, b"x" * 20_000_000 + b'\n{"id": 1, "sql": "x"}\n')
    tracemalloc.start()
    found = await answers(source, capsys)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "longer than" in found[0]["refused"] and found[1] == {"id": 1}
    assert peak < 4_000_000


async def test_each_answer_is_written_before_the_next_line_comes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as stdin, os.fdopen(writing, "w") as pipe:
        monkeypatch.setattr("sys.stdin", stdin)
        work = asyncio.create_task(answer_lines("-", echo, refuse, 4))
        for n in range(3):
            pipe.write(f'{{"id": {n}, "sql": "x"}}\n')
            pipe.flush()
            out = ""
            for _ in range(1000):
                await asyncio.sleep(0.005)
                if out := capsys.readouterr().out:
                    break
            assert json.loads(out) == {"id": n}
        pipe.close()
        await work


async def test_an_interrupted_wait_for_stdin_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as stdin, os.fdopen(writing, "w"):
        monkeypatch.setattr("sys.stdin", stdin)
        work = asyncio.create_task(answer_lines("-", echo, refuse, 4))
        await asyncio.sleep(0.05)
        work.cancel()
        async with asyncio.timeout(15):
            with pytest.raises(asyncio.CancelledError):
                await work


@pytest.mark.parametrize("source", ["missing.jsonl", "."], ids=["missing", "folder"])
async def test_a_file_that_cannot_be_read_is_told(source: str) -> None:
    with pytest.raises(InvalidInput, match="cannot read"):
        await answer_lines(source, echo, refuse, 4)


async def test_an_interruption_ends_what_was_begun(tmp_path: Path) -> None:
    source = written(tmp_path, "\n".join(f'{{"id": {n}, "sql": "x"}}' for n in range(30)))
    ended: list[int] = []

    async def endless(line: Line) -> dict[str, Any]:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append(line.id)
            raise
        return {}

    work = asyncio.create_task(answer_lines(str(source), endless, refuse, 4))
    await asyncio.sleep(0.05)
    work.cancel()
    async with asyncio.timeout(15):
        with pytest.raises(asyncio.CancelledError):
            await work
    assert sorted(ended) == [0, 1, 2, 3]
