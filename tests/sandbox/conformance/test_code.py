"""Python code, run without a gate on every tier: the same answer, the same ends, the same walls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandtable.errors import ErrorCode
from sandtable.sandbox.job import JobResult
from tests.sandbox.conformance.benches import Bench

pytestmark = pytest.mark.asyncio(loop_scope="module")

_CRASH = "import ctypes\nctypes.string_at(0)"
_WALL_MS = 60_000


async def _run(bench: Bench, code: str, **given: Any) -> JobResult:
    """Unchecked: every name is there, as if the gate had let it through."""
    given = {"wall_ms": _WALL_MS, "options": {"check": False}, **given}
    return await bench.run(code, mode="python", **given)


async def test_the_same_answer_everywhere(bench: Bench) -> None:
    result = await _run(
        bench, "print(hash('salted?'))\norders.groupby('region', as_index=False)['amount'].sum()"
    )
    assert result.status == "succeeded", result.error
    assert result.stdout == "212767924390476457\n", "hashes are salted here"
    assert result.rows == (("east", 49450.5), ("north", 49549.5), ("south", 49500.0))


_ATTEMPTS = """
import json, os, socket
found = {}
def attempt(name, action):
    try:
        found[name] = repr(action())[:200]
    except BaseException as error:
        found[name] = None
attempt("read users", lambda: open("/etc/passwd").read())
attempt("read its own environment", lambda: open("/proc/self/environ").read())
attempt("list the root", lambda: {"etc", "usr"} & set(os.listdir("/")) or 1 / 0)
attempt("list processes", lambda: os.listdir("/proc") or 1 / 0)
attempt("read what lies beside its data", lambda: os.listdir("..") and os.listdir("../..") or 1 / 0)
attempt("write into its data", lambda: open("planted", "w"))
attempt("change its data", lambda: os.truncate("orders.parquet", 0))
attempt("write into /tmp", lambda: open("/tmp/planted-by-a-job", "w"))
attempt("make a socket", lambda: socket.socket())
attempt("start a process", lambda: os.fork() or os._exit(0))
attempt("start a program", lambda: os.execv("/bin/true", ["true"]))
attempt("kill the first process", lambda: os.getpid() == 1 and 1 / 0 or os.kill(1, 9))
attempt("kill its parent", lambda: os.getppid() == 0 and 1 / 0 or os.kill(os.getppid(), 9))
telling = ("SANDTABLE", "KUBERNETES", "HOSTNAME", "DOCKER")
attempt("find the server's settings", lambda: [n for n in os.environ if n.startswith(telling)] or 1 / 0)
print(json.dumps(found))
"""


async def test_nothing_is_in_reach(bench: Bench) -> None:
    result = await _run(bench, _ATTEMPTS)
    assert result.status == "succeeded", (result.error, result.stderr)
    found = json.loads(result.stdout)
    assert len(found) > 10
    assert {name: value for name, value in found.items() if value is not None} == {}


_STATEMENTS = """
import json, os
tried = {
    "write a table": "COPY (SELECT 1 AS a) TO '/scratch/planted.csv'",
    "write Parquet": "COPY (SELECT 1 AS a) TO '/scratch/planted.parquet' (FORMAT parquet)",
    "write over its data": "COPY (SELECT 1 AS id) TO 'orders.parquet' (FORMAT parquet, USE_TMP_FILE false)",
    "make a database": "ATTACH '/scratch/planted.db' AS planted",
    "export": "EXPORT DATABASE '/scratch/planted'",
    "read what lies there": "SELECT * FROM read_text('/scratch/mine.txt')",
    "list what lies there": "SELECT * FROM glob('/scratch/*')",
    "spill": "SET temp_directory = '/scratch'",
}
if os.path.isdir("/scratch"):
    open("/scratch/mine.txt", "w").write("x")
found = {}
for name, statement in tried.items():
    try:
        found[name] = repr(con.execute(statement).fetchall())
    except Exception as error:
        found[name] = None
changed = []
for name, value in con.execute("SELECT name, value FROM duckdb_settings()").fetchall():
    try:
        con.execute(f"SET {name} = '{value}'")
        changed.append(name)
    except Exception as error:
        pass
left = sorted(os.listdir("/scratch")) if os.path.isdir("/scratch") else ["mine.txt"]
print(json.dumps([found, changed, left]))
print(len(sql("CREATE TABLE kept AS SELECT * FROM orders")), len(sql("FROM kept")))
"""


async def test_sql_from_code_opens_no_file_but_its_data(bench: Bench) -> None:
    """The check does not read such SQL. Tables in memory may be made."""
    result = await _run(bench, _STATEMENTS)
    assert result.status == "succeeded", (result.error, result.stderr)
    tried, counted = result.stdout.splitlines()
    found, changed, left = json.loads(tried)
    assert {name: value for name, value in found.items() if value is not None} == {}
    assert sorted(changed) == ["schema", "search_path"], "where names are looked up is the code's own choice"
    assert left == ["mine.txt"]
    assert counted == "1 2000"


async def test_sql_from_code_that_needs_too_much_memory(bench: Bench) -> None:
    """It does not spill: what it would write could be read and written by SQL."""
    text = "SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY hash(x)) AS n FROM range(8000000) AS t(x))"
    result = await _run(bench, f"sql({text!r})", memory_mb=128)
    assert result.error is not None
    assert result.error.code == ErrorCode.RUNNER_RESOURCE_EXCEEDED, result.error


async def test_a_crash_is_told_and_the_next_job_notices_nothing(bench: Bench) -> None:
    for _ in range(2):
        result = await _run(bench, _CRASH)
        assert result.error is not None
        assert (result.error.code, result.error.type) == (ErrorCode.RUNNER_INTERNAL_ERROR, "Crash")
        assert "SIGSEGV" in result.error.message
    assert (await _run(bench, "len(orders)")).status == "succeeded"


async def test_code_that_ends_its_own_process(bench: Bench) -> None:
    result = await _run(bench, "import os\nos._exit(3)")
    assert result.error is not None
    assert (result.error.code, result.error.type) == (ErrorCode.VALIDATION_ERROR, "SystemExit")
    assert "3" in result.error.message


async def test_memory(bench: Bench) -> None:
    result = await _run(bench, "x = [bytearray(1 << 20) for _ in range(100_000)]", memory_mb=256)
    assert result.error is not None
    assert result.error.code == ErrorCode.RUNNER_RESOURCE_EXCEEDED, result.error


async def test_the_wall_clock(bench: Bench) -> None:
    result = await _run(bench, "while True: pass", wall_ms=1500)
    assert result.error is not None
    assert result.error.code == ErrorCode.RUNNER_TIMEOUT, result.error
