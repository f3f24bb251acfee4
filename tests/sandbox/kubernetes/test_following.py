"""What a job's end is made of when its pod and its log say different things, or say nothing for a while."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import AsyncGenerator
from itertools import pairwise
from typing import Any

import pytest

from sandtable.errors import ErrorCode, SandboxUnavailable
from sandtable.sandbox.job import JobResult
from sandtable.sandbox.kubernetes.api import Api, ApiAway, ApiRefused
from sandtable.sandbox.kubernetes.cluster import Cluster
from sandtable.sandbox.kubernetes.credentials import Fixed
from sandtable.sandbox.kubernetes.following import Following, Progress
from sandtable.sandbox.kubernetes.manifest import Timeouts
from sandtable.sandbox.kubernetes.pods import PodLost
from tests.sandbox.kubernetes.objects import NONCE, ended, job, waiting
from tests.telemetry.kept import Kept

_ANSWER = {
    "status": "succeeded",
    "columns": [{"name": "x", "type": "INTEGER"}],
    "rows": [[7]],
    "row_count": 1,
}
_READY = json.dumps({"kind": "ready", "engine": "duckdb 2.0.0", "layers": []}).encode() + b"\n"
_REPORT = json.dumps({"kind": "report", "nonce": NONCE, "answer": _ANSWER}).encode() + b"\n"
_NOT_YET = ApiRefused(400, "BadRequest", "container is waiting to start", "get pods/log")
_NO_SUCH = ApiRefused(404, "NotFound", "pods not found", "get pods/log")
_FORBIDDEN = ApiRefused(403, "Forbidden", 'cannot get resource "pods/log"', "get pods/log")
_AWAY = ApiAway("connection refused")
_GONE = "gone"

Said = list[bytes | Exception]
"""One reading of the log: what comes, and how it breaks off."""


def _pod(state: dict[str, Any] | None, phase: str = "Running", **status: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"phase": phase, **status}
    if state is not None:
        told["containerStatuses"] = [{"name": "runner", "state": state}]
    return {
        "metadata": {"name": "p"},
        "spec": {"nodeName": "n", "containers": [{"name": "runner"}]},
        "status": told,
    }


_RUNS, _MADE = _pod({"running": {}}), _pod(waiting("ContainerCreating"), "Pending")
_DONE = _pod(ended(0, "Completed"), "Succeeded")


class Told(Api):
    """An API that tells what it is told to: the pod as it is at each look, and what each reading of its log gives."""

    def __init__(self, looks: list[Any], readings: list[Said], job_there: bool = True) -> None:
        super().__init__(Cluster("https://x", ssl.create_default_context(), Fixed(None), "ns", "the test"))
        self.looks = looks
        self.readings = readings
        self.job_there = job_there
        self.read = 0
        self.is_last = False

    async def pods(self, selector: str) -> tuple[list[dict[str, Any]], str]:
        self.is_last = len(self.looks) == 1
        look = self.looks[0] if self.is_last else self.looks.pop(0)
        if isinstance(look, Exception):
            raise look
        return ([] if look is _GONE else [look]), "1"

    async def watch_pods(
        self, selector: str, version: str
    ) -> AsyncGenerator[tuple[str, dict[str, Any]], None]:
        if self.is_last:
            await asyncio.Event().wait()
        await asyncio.sleep(0.05)
        return
        yield

    async def log(self, pod: str, container: str, *, follow: bool) -> AsyncGenerator[bytes, None]:
        said = self.readings.pop(0) if len(self.readings) > 1 else self.readings[0]
        self.read += 1
        for part in said:
            if isinstance(part, Exception):
                raise part
            yield part

    async def job(self, name: str) -> dict[str, Any] | None:
        return {"metadata": {"name": name}} if self.job_there else None

    async def events_of(self, name: str) -> list[dict[str, Any]]:
        return []


async def _follow(api: Told, **timeouts: float) -> JobResult:
    progress = Progress()
    given = Timeouts(**{"queue": 5.0, **timeouts})  # type: ignore[arg-type]  # of floats and one int
    try:
        async with asyncio.timeout(10):
            return await Following(api, job(), "j", NONCE, "runner", given, progress).result()
    finally:
        await api.aclose()


_GOOD: dict[str, tuple[list[Any], list[Said]]] = {
    "at once": ([_RUNS], [[_READY, _REPORT]]),
    "in pieces": ([_RUNS], [[_READY[:5], _READY[5:] + _REPORT[:9], _REPORT[9:]]]),
    "before the pod is seen to run": ([_MADE], [[_READY, _REPORT]]),
    "after a while": ([_GONE, _MADE, _RUNS], [[_NOT_YET], [_NOT_YET], [_READY, _REPORT]]),
    "the stream broke off": ([_RUNS], [[_READY, _REPORT[:20], _AWAY], [_READY, _REPORT]]),
    "the stream ended early": ([_RUNS], [[_READY], [_READY, _REPORT]]),
    "it was over before anybody listened": ([_DONE], [[_READY, _REPORT]]),
    "it was over, and its log could not be had at first": (
        [_DONE],
        [[_AWAY], [_READY, _AWAY], [_READY, _REPORT]],
    ),
    "the API was away": ([_RUNS, _AWAY, _AWAY, _RUNS], [[_AWAY], [_AWAY], [_READY, _REPORT]]),
    "it was killed after its report": ([_pod(ended(137, "OOMKilled"), "Failed")], [[_READY, _REPORT]]),
}


@pytest.mark.parametrize(("looks", "readings"), _GOOD.values(), ids=list(_GOOD))
async def test_a_report_is_found(looks: list[Any], readings: list[Said]) -> None:
    result = await _follow(Told(list(looks), list(readings)))
    assert result.rows == ((7,),), result.error


async def test_a_report_is_read_once() -> None:
    api = Told([_RUNS], [[_READY, _REPORT]])
    await _follow(api)
    assert api.read == 1


_BAD: dict[str, tuple[list[Any], list[Said], ErrorCode, str]] = {
    "no report, no memory": (
        [_RUNS, _pod(ended(137, "OOMKilled"), "Failed")],
        [[_READY]],
        ErrorCode.RUNNER_RESOURCE_EXCEEDED,
        "MemoryLimit",
    ),
    "no report, no time": (
        [_RUNS, _pod(ended(137), "Failed", reason="DeadlineExceeded")],
        [[_READY]],
        ErrorCode.RUNNER_TIMEOUT,
        "Timeout",
    ),
    "no report": ([_DONE], [[_READY]], ErrorCode.RUNNER_INTERNAL_ERROR, "NoAnswer"),
    "half a report": ([_DONE], [[_READY, _REPORT[:-5]]], ErrorCode.RUNNER_INTERNAL_ERROR, "NoAnswer"),
    "another's report": (
        [_DONE],
        [[_REPORT.replace(NONCE.encode(), b"m" * 32)]],
        ErrorCode.RUNNER_INTERNAL_ERROR,
        "NoAnswer",
    ),
    "a line without end": ([_DONE], [[b"x" * (40 << 20)]], ErrorCode.RUNNER_INTERNAL_ERROR, "NoAnswer"),
}


@pytest.mark.parametrize(("looks", "readings", "code", "kind"), _BAD.values(), ids=list(_BAD))
async def test_an_end_without_a_report(
    looks: list[Any], readings: list[Said], code: ErrorCode, kind: str
) -> None:
    result = await _follow(Told(list(looks), list(readings)))
    assert result.error is not None
    assert (result.error.code, result.error.type) == (code, kind)


_LOST: dict[str, tuple[list[Any], list[Said], bool]] = {
    "evicted": ([_RUNS, _pod(None, "Failed", reason="Evicted")], [[_READY], [_NO_SUCH]], True),
    "its pod vanished": ([_RUNS, _GONE], [[_READY], [_NO_SUCH]], True),
    "its Job vanished": ([_GONE], [[_NO_SUCH]], False),
}


@pytest.mark.parametrize(("looks", "readings", "there"), _LOST.values(), ids=list(_LOST))
async def test_what_the_cluster_took_away(looks: list[Any], readings: list[Said], there: bool) -> None:
    with pytest.raises(PodLost):
        await _follow(Told(list(looks), list(readings), job_there=there))


_NEVER: dict[str, tuple[list[Any], list[Said], dict[str, float], str]] = {
    "no image": ([_pod(waiting("ErrImageNeverPull"), "Pending")], [[_NOT_YET]], {}, "image cannot be pulled"),
    "the runner says so": (
        [_RUNS],
        [[json.dumps({"kind": "unavailable", "message": "no /data"}).encode() + b"\n"]],
        {},
        "no /data",
    ),
    "its log is forbidden": ([_RUNS], [[_FORBIDDEN]], {}, "may not get pods/log"),
    "pods are forbidden": ([_FORBIDDEN], [[_NOT_YET]], {}, "may not get pods/log"),
    "it never begins": ([_MADE], [[_NOT_YET]], {"queue": 0.5}, "no pod began within 0.5 s: its container"),
    "the API stays away": ([_AWAY], [[_AWAY]], {"outage": 0.5}, "does not answer"),
}


@pytest.mark.parametrize(("looks", "readings", "timeouts", "told"), _NEVER.values(), ids=list(_NEVER))
async def test_what_will_not_come(
    looks: list[Any], readings: list[Said], timeouts: dict[str, float], told: str
) -> None:
    with pytest.raises(SandboxUnavailable, match=told) as caught:
        await _follow(Told(list(looks), list(readings)), **timeouts)
    assert caught.value.suggestion


async def test_an_outage_longer_than_the_queues_patience_is_not_held_against_a_job() -> None:
    looks = [_MADE, *[_AWAY] * 8, _RUNS]
    not_yet, away, whole = Said([_NOT_YET]), Said([_AWAY]), Said([_READY, _REPORT])
    result = await _follow(Told(looks, [not_yet] * 3 + [away] * 6 + [whole]), queue=1.0, outage=60.0)
    assert result.rows == ((7,),)


@pytest.mark.parametrize("lost", [False, True], ids=["answered", "lost"])
async def test_the_stages_of_a_job_are_spans(lost: bool) -> None:
    kept, progress = Kept(), Progress()
    pieces: Said = [_READY, _REPORT[:5], _REPORT[5:]] if not lost else [_READY]
    api = Told([_GONE, _MADE, _RUNS, *([_GONE] if lost else [])], [[_NOT_YET], pieces])
    with kept.tracer.root("sandbox"):
        progress.marks["made"] = time.monotonic()
        try:
            following = Following(api, job(), "j", NONCE, "runner", Timeouts(queue=5.0), progress)
            await following.result()
            assert not lost
        except PodLost:
            assert lost
        finally:
            progress.report_stages(kept.tracer)
            await api.aclose()
    kept.require_one_trace()
    stages = ["pod.schedule", "pod.start", "pod.run", *([] if lost else ["pod.collect"])]
    assert kept.below("sandbox") == stages
    for name, after in pairwise(stages):
        assert kept.spans[name].end_time == pytest.approx(kept.spans[after].start_time, abs=1e6)
    assert not any(span.attributes for span in kept.all)
