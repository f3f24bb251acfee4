"""The doctor's verdict on this machine, and on one where a wall is missing."""

from __future__ import annotations

from pathlib import Path

from sandtable.errors import ErrorCode, SandboxUnavailable
from sandtable.sandbox.executor import Hello, Kind
from sandtable.sandbox.job import Job, JobResult
from sandtable.sandbox.local.executor import LocalExecutor
from sandtable.sandbox.selftest import examine
from tests.sandbox.stores import Store


async def test_every_attempt_fails_and_the_bait_is_untouched(store: Store, executor: LocalExecutor) -> None:
    report = await examine(executor, store.root)
    assert report.ok, report.problem
    assert len(report.attempts) > 100
    assert not [attempt.name for attempt in report.attempts if attempt.escaped]
    assert {layer.name for layer in report.layers if layer.active} >= {"landlock", "seccomp", "rlimits"}
    baits = list((store.root / "versions").glob("*/bait.parquet"))
    assert [bait.read_bytes() for bait in baits] == [b"untouched"]
    assert [path.name for path in baits[0].parent.iterdir()] == ["bait.parquet"]


class _Leaky(LocalExecutor):
    """As if one attempt had worked."""

    async def start(self, kind: Kind = "sql") -> Hello:
        return Hello("duckdb", ("seccomp",), (), 0)

    async def submit(self, job: Job) -> None:
        self.job = job

    async def result(self, job_id: str) -> JobResult:
        attempts = [{"name": "read /etc/passwd", "escaped": True, "detail": "it worked"}]
        return JobResult(job_id=job_id, status="succeeded", output={"attempts": attempts})


async def test_one_hole_is_enough(tmp_path: Path) -> None:
    report = await examine(_Leaky(tmp_path), tmp_path)
    assert not report.ok and report.problem
    assert report.problem.code is ErrorCode.SANDBOX_UNAVAILABLE
    assert "read /etc/passwd" in report.problem.message


class _Barren(LocalExecutor):
    async def start(self, kind: Kind = "sql") -> Hello:
        raise SandboxUnavailable("this host cannot isolate", reasons=["landlock: none"])


async def test_a_host_that_cannot_isolate_is_told_why(tmp_path: Path) -> None:
    report = await examine(_Barren(tmp_path), tmp_path)
    assert not report.ok
    assert report.reasons == ("landlock: none",)
    assert not [layer for layer in report.layers if layer.active]
