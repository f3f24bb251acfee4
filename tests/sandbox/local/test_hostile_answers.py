"""A sandbox that was taken over can send anything on its channel: each such answer is one failed job."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import threading
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from sandtable.errors import ErrorCode
from sandtable.sandbox.job import Job, JobResult
from sandtable.sandbox.local.executor import LocalExecutor
from sandtable.sandbox.local.sandbox import Sandbox
from sandtable.sandbox.outcome import Ended
from sandtable.sandbox.report import RunnerReport, result_of
from sandtable.sandbox.wire import parse_strictly, read_answer
from tests.sandbox.stores import Store, sql_job

_GOOD: dict[str, Any] = {
    "status": "succeeded",
    "columns": [{"name": "x", "type": "INTEGER"}],
    "rows": [[1]],
    "row_count": 1,
}


def _frame(body: bytes, length: int | None = None) -> bytes:
    return struct.pack(">I", len(body) if length is None else length) + body


def _with(**changes: object) -> bytes:
    return _frame(json.dumps({**_GOOD, **changes}).encode())


def _failed(**changes: object) -> bytes:
    error = {"code": "VALIDATION_ERROR", "type": "x", "message": "y", **changes}
    return _with(status="failed", columns=[], rows=[], row_count=0, error=error)


_ANSWERS: dict[str, bytes] = {
    "nothing": b"",
    "half a length": b"\x00\x00",
    "a length and no body": _frame(b"", 100),
    "a length of four gigabytes": _frame(b"x" * 1000, 0xFFFFFFFF),
    "a length just over the limit": _frame(b"x", (4 << 20) + (1 << 20) + 1),
    "an empty body": _frame(b""),
    "no JSON": _frame(b"hello"),
    "a JSON list": _frame(b"[1, 2]"),
    "a JSON number": _frame(b"7"),
    "bytes that are not UTF-8": _frame(b'{"status": "\xff\xfe"}'),
    "UTF-16": _frame(json.dumps(_GOOD).encode("utf-16")),
    "deep nesting": _frame(b'{"rows":' + b"[" * 200_000 + b"]" * 200_000 + b"}"),
    "an endless number": _frame(b'{"row_count": ' + b"9" * 100_000 + b"}"),
    "not a number": _frame(b'{"status": "succeeded", "rows": [[NaN]], "row_count": 1}'),
    "infinity in the metrics": _frame(b'{"status": "succeeded", "metrics": {"a": Infinity}}'),
    "a lone surrogate, escaped": _frame(b'{"status": "succeeded", "rows": [["\\ud800"]], "row_count": 1}'),
    "a lone surrogate, in capitals": _frame(b'{"status": "succeeded", "stdout": "\\uDFFF"}'),
    "a lone surrogate, raw": _frame(b'{"status": "succeeded", "stdout": "\xed\xa0\x80"}'),
    "an unknown field": _with(admin=True),
    "an unknown status": _with(status="approved"),
    "a status it may not give": _with(status="cancelled"),
    "rows that are no list": _with(rows="all"),
    "rows that are numbers": _with(rows=[1, 2]),
    "a count that is a word": _with(row_count="many"),
    "a count that is not the rows'": _with(row_count=999),
    "a row too wide": _with(rows=[[1, 2, 3]]),
    "more rows than allowed": _with(rows=[[1]] * 300, row_count=300),
    "an unknown error code": _with(status="failed", error={"code": "ROOT", "type": "x", "message": "y"}),
    "failed without a reason": _with(status="failed"),
    "succeeded with an error": _with(error={"code": "NOT_FOUND", "type": "x", "message": "y"}),
    # Lengths
    "trailing bytes in the frame": _frame(json.dumps(_GOOD).encode() + b"{}"),
    "two answers in one frame": _frame(json.dumps(_GOOD).encode() * 2),
    "a body cut in half": _frame(json.dumps(_GOOD).encode()[:40]),
    "a length one too long": _frame(json.dumps(_GOOD).encode(), len(json.dumps(_GOOD)) + 1),
    "a length one too short": _frame(json.dumps(_GOOD).encode(), len(json.dumps(_GOOD)) - 1),
    "two million empty lists": _frame(b'{"rows": [' + b"[]," * 1_500_000 + b"[]]}"),
    "a million empty objects": _frame(b'{"rows": [' + b"{}," * 1_200_000 + b"{}]}"),
    "a million rows that are numbers": _frame(
        b'{"status": "succeeded", "rows": [' + b"1," * 1_000_000 + b"1]}"
    ),
    "a hundred thousand columns": _with(columns=[{"name": "x", "type": "y"}] * 100_000, rows=[], row_count=0),
    "a hundred thousand unknown fields": _with(**{f"f{i}": 1 for i in range(100_000)}),
    "a column of unknown fields": _with(columns=[{f"f{i}": 1 for i in range(50_000)}]),
    "a cell over its limit": _with(rows=[["x" * 70_000]]),
    "a list over the limit of a cell": _with(rows=[[["x" * 1000] * 200]]),
    "a key over the limit of a cell": _with(rows=[[{"x" * 200_000: 1}]]),
    "a million bytes of output": _with(stdout="x" * 1_000_000),
    "output in characters of four bytes": _with(stdout="\U0001f600" * 60_000),
    "a message without end": _failed(message="x" * 1_000_000),
    "a suggestion without end": _failed(suggestion="x" * 1_000_000),
    "a type without end": _failed(type="x" * 100_000),
    "metrics without end": _with(metrics={f"m{i}": 1 for i in range(100_000)}),
    "a metric with a name without end": _with(metrics={"m" * 100_000: 1}),
    # Codes
    "the code of a refusal": _failed(code="SQL_POLICY_VIOLATION"),
    "the code of a server without rights": _failed(code="UNAUTHORIZED"),
    "the code of a missing thing": _failed(code="NOT_FOUND"),
    "the code of a missing sandbox": _failed(code="SANDBOX_UNAVAILABLE"),
    "a code in small letters": _failed(code="validation_error"),
    "a code that is a number": _failed(code=7),
    "a code that is a list": _failed(code=["VALIDATION_ERROR"]),
    "an error that is a text": _with(status="failed", rows=[], error="it went wrong"),
    "an error with unknown fields": _failed(admin=True),
    "an error without a code": _with(status="failed", rows=[], error={"type": "x", "message": "y"}),
    # Numbers
    "a negative count": _with(rows=[], row_count=-1),
    "a count that is a fraction": _with(row_count=1.5),
    "a count that is a whole double": _frame(
        json.dumps(_GOOD).replace('"row_count": 1', '"row_count": 1.0').encode()
    ),
    "a count that is true": _with(row_count=True),
    "a count that is a text": _with(row_count="1"),
    "a count of 2 to the 64th": _with(rows=[], row_count=2**64),
    "an integer of 4,000 digits": _frame(b'{"status": "succeeded", "exec_time_ms": ' + b"9" * 4000 + b"}"),
    "an integer beyond 64 bits in a cell": _with(rows=[[2**64]]),
    "an integer that should be text": _with(rows=[[2**53 + 1]]),
    "a double that is infinite": _frame(
        json.dumps({**_GOOD, "rows": [["@"]]}).replace('"@"', "1e999").encode()
    ),
    "a double that is infinite in a list": _frame(
        json.dumps({**_GOOD, "rows": [[["@"]]]}).replace('"@"', "-1e400").encode()
    ),
    "a negative time": _with(exec_time_ms=-1),
    "an infinite time": _frame(b'{"status": "succeeded", "exec_time_ms": 1e999}'),
    "a time beyond all ages": _with(exec_time_ms=1e300),
    "a time that is a text": _with(exec_time_ms="1"),
    "a time that is true": _with(exec_time_ms=True),
    "a negative metric": _with(metrics={"cpu_ms": -1}),
    "an infinite metric": _frame(b'{"status": "succeeded", "metrics": {"cpu_ms": 1e999}}'),
    "a metric that is a text": _with(metrics={"cpu_ms": "1"}),
    "metrics that are a list": _with(metrics=[1]),
    # Form
    "a name twice": _frame(b'{"status": "failed", "status": "succeeded"}'),
    "a name twice in a cell": _frame(
        json.dumps({**_GOOD, "rows": [["@"]]}).replace('"@"', '{"a": 1, "a": 2}').encode()
    ),
    "a cell nested 300 deep": _frame(
        json.dumps({**_GOOD, "rows": [["@"]]}).replace('"@"', "[" * 300 + "]" * 300).encode()
    ),
    "an output nested 300 deep": _frame(
        b'{"status": "succeeded", "output": {"a":' + b"[" * 300 + b"]" * 300 + b"}}"
    ),
    "an output that a query does not have": _with(output={"canonical": "SELECT 1"}),
    "an output that is a list": _with(output=[]),
    "a flag that is a number": _with(truncated=1),
    "a flag that is a text": _with(truncated="yes"),
    "columns that are an object": _with(columns={"name": "x"}),
    "a column that is a text": _with(columns=["x"]),
    "a column without a type": _with(columns=[{"name": "x"}]),
    "a column whose name is a number": _with(columns=[{"name": 7, "type": "INTEGER"}]),
    "rows that are objects": _with(rows=[{"x": 1}]),
    "a row that is too short": _with(rows=[[]]),
    "output that is a number": _with(stdout=7),
    "a byte order mark": _frame(b"\xef\xbb\xbf" + json.dumps(_GOOD).encode()),
    "overlong UTF-8": _frame(b'{"status": "succeeded", "stdout": "\xc0\xaf"}'),
    "null": _frame(b"null"),
    "a status that is missing": _frame(b'{"rows": []}'),
    "a status that is a list": _with(status=["succeeded"]),
}


class _Stage:
    """Stands for the template and the pool: hands out one sandbox whose other end is in our hands."""

    alive = True

    def __init__(self) -> None:
        self.theirs: socket.socket | None = None
        self.output = -1

    def take(self, job: Job, *, origin: object = None) -> tuple[Sandbox, str]:
        ours, self.theirs = socket.socketpair()
        read, self.output = os.pipe()
        sandbox = Sandbox(ours, read)
        self.act(sandbox)
        return sandbox, "presealed"

    def act(self, sandbox: Sandbox) -> None:
        raise NotImplementedError

    async def refill(self, job: Job) -> None:
        return

    def close(self) -> None:
        if self.theirs:
            self.theirs.close()
        if self.output >= 0:
            os.close(self.output)
            self.output = -1

    async def aclose(self) -> None:
        return


class _Says(_Stage):
    def __init__(self, answer: bytes) -> None:
        super().__init__()
        self.answer = answer

    def act(self, sandbox: Sandbox) -> None:
        assert self.theirs is not None
        theirs = self.theirs
        theirs.settimeout(5)
        threading.Thread(target=self._speak, args=(theirs,), daemon=True).start()
        sandbox.has_ended(Ended(0))

    def _speak(self, theirs: socket.socket) -> None:
        with theirs:
            try:
                theirs.sendall(self.answer)
                theirs.shutdown(socket.SHUT_WR)
            except OSError:
                # The server hung up in the middle, as it may.
                return


async def _ask(store: Store, stage: _Stage, **given: Any) -> JobResult:
    executor = LocalExecutor(store.root)
    station = executor._pools["sql"]
    station._template = stage  # pyright: ignore[reportAttributeAccessIssue] a double of both
    station._pool = stage  # pyright: ignore[reportAttributeAccessIssue] a double of both
    await executor.submit(sql_job(store, "asked", "SELECT 1 AS x", **given))
    try:
        async with asyncio.timeout(10):
            return await executor.result("asked")
    finally:
        await executor.aclose()


async def test_the_double_can_succeed(store: Store) -> None:
    """Else the refusals below would prove nothing."""
    assert (await _ask(store, _Says(_frame(json.dumps(_GOOD).encode())))).rows == ((1,),)


@pytest.mark.parametrize("answer", _ANSWERS.values(), ids=list(_ANSWERS))
async def test_a_bad_answer_is_a_failed_job(store: Store, answer: bytes) -> None:
    result = await _ask(store, _Says(answer))
    assert result.status == "failed"
    assert result.rows == ()
    assert result.error is not None
    assert result.error.code == ErrorCode.RUNNER_INTERNAL_ERROR
    assert len(result.error.message) < 1000
    result.model_dump_json().encode()


@pytest.mark.parametrize(
    "answer",
    [_failed(), _with(rows=[["x" * 60_000]]), _with(rows=[[2**53]])],
    ids=["failed", "long", "large"],
)
async def test_an_answer_at_the_limits_passes(store: Store, answer: bytes) -> None:
    result = await _ask(store, _Says(answer))
    assert result.error is None or result.error.code == ErrorCode.VALIDATION_ERROR


def test_a_hostile_answer_takes_little_memory(store: Store) -> None:
    """What one answer of the largest size can make the server hold; validating each of its errors took gigabytes."""
    job = sql_job(store, "asked", "SELECT 1 AS x")
    large = {name: answer for name, answer in _ANSWERS.items() if len(answer) > 1 << 20}
    for name, answer in large.items():
        body = answer[4:]
        tracemalloc.start()
        try:
            message = parse_strictly(body)
            if isinstance(message, dict):
                read_answer(job, message, "")
        except (ValueError, RecursionError):
            continue
        finally:
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert peak < 200 << 20, f"{name}: {peak >> 20} MiB"


async def test_one_that_answers_before_it_is_asked_is_not_asked(store: Store) -> None:
    """A parser that is kept for the next text could have the answer to it lying there already."""
    executor, stage = LocalExecutor(store.root), _Stage()
    ours, theirs = socket.socketpair()
    read, stage.output = os.pipe()
    sandbox = Sandbox(ours, read)
    with theirs:
        assert not sandbox.has_spoken
        theirs.sendall(_frame(json.dumps(_GOOD).encode()))
        sandbox.has_ended(Ended(0))
        result = await executor._converse(sql_job(store, "asked", "SELECT 1 AS x"), sandbox, "kept")
    sandbox.dispose()
    stage.close()
    await executor.aclose()
    assert result is not None and result.status == "failed" and result.error is not None
    assert "before it was asked" in result.error.message


_REPORT = {"kind": "report", "nonce": "n", "answer": None}


@pytest.mark.parametrize(
    "changes",
    [
        {"status": 2**40}, {"status": -1}, {"status": 2**63}, {"status": "x"}, {"status": 1.5},
        {"peak_kb": -1}, {"peak_kb": 2**63}, {"cpu_ms": -1.0}, {"cpu_ms": 1e300}, {"cpu_ms": "x"},
        {"answer": []}, {"answer": "x"}, {"admin": True}, {"nonce": 7}, {"output": 7},
    ],
    ids=str,
)  # fmt: skip
def test_a_bad_report_has_not_the_agreed_form(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        RunnerReport.model_validate({**_REPORT, **changes})


def test_every_status_of_a_process_has_an_explanation(store: Store) -> None:
    for status in (*range(0x200), 0x1234, 0xFFFF):
        report = RunnerReport.model_validate({**_REPORT, "status": status})
        assert result_of(sql_job(store, "asked", "SELECT 1 AS x"), report).error is not None


async def test_another_jobs_id_is_not_believed(store: Store) -> None:
    result = await _ask(store, _Says(_with(job_id="somebody-else")))
    assert result.job_id == "asked"


async def test_text_that_only_looks_like_an_escape_passes(store: Store) -> None:
    result = await _ask(store, _Says(_with(rows=[["\\ud800"]])))
    assert result.rows == (("\\ud800",),)


class _Drips(_Stage):
    """One byte now and then: each is progress, and none is an answer."""

    def act(self, sandbox: Sandbox) -> None:
        threading.Thread(target=self._drip, daemon=True).start()

    def _drip(self) -> None:
        assert self.theirs is not None
        try:
            for byte in self._bytes():
                self.theirs.sendall(bytes([byte]))
                threading.Event().wait(0.01)
        except OSError:
            # The server hung up, as it should.
            return

    def _bytes(self) -> Iterator[int]:
        yield from _frame(b"", 100_000)
        while True:
            yield 32


async def test_a_dripping_answer_meets_the_wall_clock(store: Store) -> None:
    result = await _ask(store, _Drips(), wall_ms=200)
    assert result.error is not None
    assert result.error.code == ErrorCode.RUNNER_TIMEOUT


class _Floods(_Stage):
    """Fills its output for as long as anybody reads it."""

    def act(self, sandbox: Sandbox) -> None:
        threading.Thread(target=self._flood, daemon=True).start()

    def _flood(self) -> None:
        try:
            while True:
                os.write(self.output, b"y" * 65536)
        except OSError:
            # The server closed its end, as it should.
            return


async def test_a_flood_of_output_is_bounded(store: Store) -> None:
    result = await _ask(store, _Floods(), wall_ms=200, log_bytes=1000)
    assert result.error is not None
    assert result.error.code == ErrorCode.RUNNER_TIMEOUT
    assert len(result.stderr) <= 1000
