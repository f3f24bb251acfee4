"""A sandbox that was taken over can say anything on its channel. The server hears it out and goes on."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from sandtable.errors import ErrorCode
from sandtable.sandbox.ended import Ended
from sandtable.sandbox.job import Job, JobResult
from sandtable.sandbox.local.executor import LocalExecutor
from sandtable.sandbox.local.sandbox import Sandbox
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
    station = executor._stations["sql"]
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
