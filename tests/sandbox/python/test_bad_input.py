"""Code that is wrong or means harm: the right code within the limit, and the next run unharmed."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from sandtable.errors import ErrorCode
from tests.sandbox.python.conftest import Bench

pytestmark = pytest.mark.asyncio(loop_scope="session")

_SLACK_S = 15.0
_OVER, _LATE = ErrorCode.RUNNER_RESOURCE_EXCEEDED, ErrorCode.RUNNER_TIMEOUT
_OWN, _OURS = ErrorCode.VALIDATION_ERROR, ErrorCode.RUNNER_INTERNAL_ERROR
_UNCHECKED = {"check": False}

_BAD: dict[str, tuple[str, ErrorCode, str, dict[str, Any]]] = {
    "syntax error": ("x = = 1", _OWN, "SyntaxError", {}),
    "deep nesting": ("(" * 5000 + "1" + ")" * 5000, _OWN, "SyntaxError", {}),
    "deeper nesting": ("-" * 100_000 + "1", _OWN, "SyntaxError", {}),
    "endless loop": ("while True: pass", _LATE, "Timeout", {"wall_ms": 400}),
    "endless loop in machine code": ("9 ** 9 ** 9", _LATE, "Timeout", {"wall_ms": 400}),
    "a loop that catches all": (
        "while True:\n    try:\n        sum(range(1000))\n    except BaseException:\n        pass",
        _LATE,
        "Timeout",
        {"wall_ms": 400},
    ),
    "processor time": ("while True: pass", _OVER, "CpuLimit", {"cpu_s": 1}),
    "memory in one piece": ("np.ones((10**5, 10**5))", _OVER, "MemoryError", {"memory_mb": 256}),
    "memory in pieces": (
        "x = []\nwhile True: x.append('a' * 10**6 + str(len(x)))",
        _OVER,
        "MemoryError",
        {"memory_mb": 256},
    ),
    "memory of Polars": ("pl.select(pl.int_range(0, 10**9)).sum()", _OVER, "MemoryLimit", {"memory_mb": 256}),
    "memory of the engine": (
        "sql('select list(x) from range(1000000000) t(x)')",
        _OVER,
        "MemoryError",
        {"memory_mb": 128, "tmp_mb": 1},
    ),
    "a fork bomb": ("import os\nwhile True: os.fork()", _OWN, "PermissionError", _UNCHECKED),
    "a program": ("import subprocess\nsubprocess.run(['/bin/ls'])", _OWN, "PermissionError", _UNCHECKED),
    "a thread bomb": (
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
        _OWN,
        "RuntimeError",
        {**_UNCHECKED, "pids": 8, "memory_mb": 512},
    ),
    "a native crash": ("import ctypes\nctypes.string_at(0)", _OURS, "Crash", _UNCHECKED),
    "exit": ("import sys\nsys.exit(3)", _OWN, "SystemExit", _UNCHECKED),
    "the process's own exit": ("import os\nos._exit(0)", _OWN, "SystemExit", _UNCHECKED),
    "an answer of its own": (
        "import os\nos.write(3, b'\\x00\\x00\\x00\\x02{}')", _OURS, "BadAnswer", _UNCHECKED
    ),
    "a million columns": ("pd.DataFrame(np.zeros((1, 10**6)))", _OVER, "ResultTooLarge", {}),
    "a large cell": ("pd.DataFrame({'a': ['x' * 10**6]})", _OVER, "ResultTooLarge", {}),
    "too many artifacts": ("for _ in range(21): show(df.head(1))", _OVER, "ResultTooLarge", {}),
    "a lone surrogate": ("'\ud800'", _OWN, "BadText", {}),
    "a message of 10 MB": ("raise ValueError('x' * 10**7)", _OWN, "ValueError", {}),
    "a refused import": ("import os", _OWN, "ImportError", {}),
    "a file": ("open('/etc/passwd').read()", _OWN, "FileNotFoundError|PermissionError", _UNCHECKED),
    "a socket": ("import socket\nsocket.socket()", _OWN, "PermissionError", _UNCHECKED),
}  # fmt: skip


@pytest.mark.parametrize(("code", "expected", "kind", "given"), _BAD.values(), ids=list(_BAD))
async def test_bad_code(
    bench: Bench, code: str, expected: ErrorCode, kind: str, given: dict[str, Any]
) -> None:
    await bench.executor.start("py")
    started = time.perf_counter()
    result = await bench.run(code, **given)
    taken = time.perf_counter() - started
    assert result.status == "failed"
    assert result.error is not None
    assert (result.error.code, result.rows) == (expected, ()), result.error
    assert result.error.type in kind.split("|"), result.error
    assert len(result.error.message) <= 4000
    assert taken < given.get("wall_ms", 10_000) / 1000 + _SLACK_S


@pytest.mark.parametrize("check", [True, False], ids=["checked", "unchecked"])
async def test_a_gigabyte_of_prints(bench: Bench, check: bool) -> None:
    result = await bench.run(
        "s = 'x' * 10**6\nfor _ in range(1000): print(s)", check=check, log_bytes=1000, wall_ms=20_000
    )
    assert result.status == "succeeded", result.error
    assert result.stdout == "x" * 1000 + "\n… [output truncated at 1000 bytes]"


async def test_a_gigabyte_past_python(bench: Bench) -> None:
    code = "import os\ns = b'x' * 65536\nfor _ in range(4096): os.write(1, s)\n'done'"
    result = await bench.run(code, check=False, log_bytes=1000, wall_ms=20_000)
    assert (result.status, result.stdout) == ("succeeded", "'done'\n")
    assert len(result.stderr) <= 1200


async def test_cancel_while_running(bench: Bench) -> None:
    job = bench.job("while True: pass")
    await bench.executor.submit(job)
    while await bench.executor.status(job.id) != "running":
        await asyncio.sleep(0.01)
    await bench.executor.cancel(job.id)
    assert (await bench.executor.result(job.id)).status == "cancelled"


async def test_the_next_run_notices_nothing(bench: Bench) -> None:
    assert (await bench.run("df['id'].count()")).stdout == "np.int64(2000)\n"
