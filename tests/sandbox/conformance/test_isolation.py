"""Texts that try to get out, run without a gate: whatever a tier is made of, nothing is read, written or reached.

A text leaves its own query first, as an injection would, so that any statement may follow. The control proves that
such statements do run.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.sandbox.conformance.benches import Bench
from tests.sandbox.stores import OTHER_VERSION

pytestmark = pytest.mark.asyncio(loop_scope="module")

_PLANTED = "planted-by-a-job"
_OTHER = f"versions/{OTHER_VERSION}/secrets.parquet"


def _after(statement: str, then: str = "SELECT 1 AS x") -> str:
    return f"SELECT 1) LIMIT 1; {statement}; SELECT * FROM ({then}"


def _footprint(root: Path) -> dict[str, str]:
    """Every file of the store with its content, and what it may be used for."""
    return {
        str(path): f"{path.stat().st_mode:o} "
        + (hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder")
        for path in sorted(root.rglob("*"))
        # The local tier's template writes a sample there for its rehearsals.
        if not path.name.startswith(".rehearsal")
    }


async def test_statements_after_the_query_do_run(bench: Bench) -> None:
    result = await bench.run(_after("CREATE TABLE made AS SELECT 42 AS x", "SELECT x FROM made"))
    assert result.rows == ((42,),), result.error


_READS = {
    "another dataset, beside its own": f"SELECT * FROM read_parquet('../{OTHER_VERSION}/secrets.parquet')",
    "another dataset, in a container": f"SELECT * FROM read_parquet('/data/{_OTHER}')",
    "another dataset, in the template's root": f"SELECT * FROM read_parquet('/store/{_OTHER}')",
    "another dataset, by a link of the kernel": f"SELECT * FROM read_parquet('/proc/self/cwd/../../{_OTHER}')",
    "every file": "SELECT * FROM glob('/**')",
    "what lies beside its data": "SELECT * FROM glob('../**')",
    "users": "SELECT * FROM read_text('/etc/passwd')",
    "its environment": "SELECT * FROM read_blob('/proc/self/environ')",
    "the first process's environment": "SELECT * FROM read_blob('/proc/1/environ')",
    "the first process's command": "SELECT * FROM read_text('/proc/1/cmdline')",
    "processes": "SELECT * FROM glob('/proc/[0-9]*')",
    "devices": "SELECT * FROM read_blob('/dev/urandom')",
    "a token for the cluster": "SELECT * FROM read_text('/var/run/secrets/kubernetes.io/serviceaccount/token')",
    "a page": "SELECT * FROM read_text('http://127.0.0.1:80/')",
    "a file far away": "SELECT * FROM read_parquet('s3://bucket/file.parquet')",
    "an environment variable": "SELECT getenv('PATH') AS path",
}


@pytest.mark.parametrize("text", _READS.values(), ids=list(_READS))
async def test_nothing_else_can_be_read(bench: Bench, text: str) -> None:
    for attempt in (text, _after("SET enable_external_access = true", text)):
        result = await bench.run(attempt)
        assert result.status == "failed", result.rows


async def test_another_dataset_by_its_own_path(bench: Bench) -> None:
    path = bench.store.other_folder / "secrets.parquet"
    result = await bench.run(f"SELECT * FROM read_parquet('{path}')")
    assert result.status == "failed", result.rows


_WRITES = {
    "into its data": f"COPY (SELECT 1) TO '{_PLANTED}.csv'",
    "over its data": "COPY (SELECT 1 AS id) TO 'orders.parquet' (FORMAT parquet)",
    "into the container's store": f"COPY (SELECT 1) TO '/data/{_PLANTED}.csv'",
    "into staging": f"COPY (SELECT 1) TO '../../staging/{_PLANTED}.csv'",
    "into /tmp": f"COPY (SELECT 1) TO '/tmp/{_PLANTED}.csv'",
    "into shared memory": f"COPY (SELECT 1) TO '/dev/shm/{_PLANTED}.csv'",
    "a database": f"ATTACH '{_PLANTED}.db' AS planted",
    "a folder": f"EXPORT DATABASE '{_PLANTED}'",
    "an extension": "INSTALL httpfs",
    "a program": "LOAD '/tmp/extension.duckdb_extension'",
    "a setting": "SET enable_external_access = true",
    "a lock": "SET lock_configuration = false",
    "memory": "SET memory_limit = '100GB'",
    "a secret": "CREATE PERSISTENT SECRET s (TYPE http, BEARER_TOKEN 'x')",
}


@pytest.mark.parametrize("statement", _WRITES.values(), ids=list(_WRITES))
async def test_nothing_can_be_written_or_unlocked(bench: Bench, statement: str) -> None:
    before = _footprint(bench.store.root)
    result = await bench.run(_after(statement))
    assert result.status == "failed", "the statement succeeded"
    assert _footprint(bench.store.root) == before
    assert not list(Path("/tmp").glob(f"{_PLANTED}*"))


async def test_no_attempt_of_the_self_test_gets_out(bench: Bench) -> None:
    result = await bench.run("", mode="probe", wall_ms=30_000)
    assert result.status == "succeeded", result.error
    attempts = result.output["attempts"]
    assert len(attempts) > 50
    assert [attempt for attempt in attempts if attempt["escaped"]] == []


async def test_a_job_without_data_has_none(bench: Bench) -> None:
    job = bench.job("SELECT * FROM glob('*')").model_copy(update={"dataset_version": "", "data": ()})
    await bench.executor.submit(job)
    assert (await bench.executor.result(job.id)).status == "failed"
