"""Follows one Job from its creation to a result: watches its pod, reads its log.

Invariant: a result comes from the report in the log, and only without a report from how the pod ended. Reading is
idempotent: whatever breaks off (a watch, a stream, the API, a kubelet) is retried.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import structlog

from sandtable.errors import SandboxUnavailable
from sandtable.observing import Tracer
from sandtable.sandbox.job import Job, JobResult
from sandtable.sandbox.kubernetes import names
from sandtable.sandbox.kubernetes.api import OUTAGE, Api, ApiAway, ApiRefused, Object
from sandtable.sandbox.kubernetes.loglines import LogLines, longest_line, result_from
from sandtable.sandbox.kubernetes.manifest import Timeouts
from sandtable.sandbox.kubernetes.pods import (
    Pod,
    PodLost,
    PodWatch,
    explain_pod,
    hopeless,
    is_lost,
    why_waiting,
)
from sandtable.sandbox.kubernetes.trouble import unavailable
from sandtable.sandbox.outcome import explain_end
from sandtable.sandbox.report import Ready

_LOG_ENDS_S = 10.0
_LOOK_S = 5.0
_NOT_YET_S = 0.1
_LATE_S = 15.0
"""A pod that runs this long past its own deadline counts as ended."""
_NOT_BEGUN, _NOT_FOUND = 400, 404
_LOOK_AGAIN_S = 1.0
_SOON_S = 2.0
"""A controller that is not blocked needs less than this."""

_STAGES = {"made": "pod.schedule", "node": "pod.start", "begun": "pod.run", "answering": "pod.collect"}
"""By the event that begins each: its Job exists, its pod has a node, its container wrote, its report began to come."""

LogRead = Literal["all", "broken", "nothing"]
"""How far a log was read: to its end or the report; to where the stream broke off; there is no log yet."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Progress:
    """Progress of one job, for its status."""

    begun: bool = False
    waiting: str = "it waits for a place"
    ready: Ready | None = None
    marks: dict[str, float] = field(default_factory=dict)
    """Times of events, on the monotonic clock."""

    def begin(self) -> None:
        if not self.begun:
            self.begun, self.waiting = True, ""
            self.marks["begun"] = time.monotonic()

    def restart(self) -> None:
        """The job starts over, in another sandbox."""
        self.begun, self.waiting = False, "it is handed to the cluster"
        self.marks.clear()

    def report_stages(self, tracer: Tracer) -> None:
        """As spans: each stage ends with the next one, and the last one now."""
        ended, now = time.time(), time.monotonic()
        known = [(name, self.marks[mark]) for mark, name in _STAGES.items() if mark in self.marks]
        for (name, began), (_, until) in pairwise([*known, ("", now)]):
            tracer.passed(name, ended - (now - began), ended - (now - until))

    def times(self, since: float) -> dict[str, float]:
        """For metrics, in ms: until its container's first output, and in total."""
        begun = self.marks.get("begun", since)
        return {"begun_ms": (begun - since) * 1e3, "total_ms": (time.monotonic() - since) * 1e3}


class Following:
    def __init__(
        self,
        api: Api,
        job: Job,
        name: str,
        nonce: str,
        container: str,
        timeouts: Timeouts,
        progress: Progress,
    ) -> None:
        self._api = api
        self._job = job
        self._name = name
        self._container = container
        self._timeouts = timeouts
        self._progress = progress
        self._lines = LogLines(nonce, longest_line(job))
        self._since = time.monotonic()
        self._missing = MissingPod(api, name)
        self._away: ApiAway | None = None

    async def result(self) -> JobResult:
        """Raises PodLost and SandboxUnavailable."""
        async with PodWatch(self._api, names.selector(job=self._name)) as watch:
            tries = 0
            while True:
                pod = watch.newest
                if pod is None or not pod.node:
                    await self._wait_for_node(watch, pod)
                    continue
                if trouble := hopeless(pod):
                    raise trouble
                read = await self._read_log(watch, pod)
                # `pod` is its state from before its log was read: the log of a pod that was over is complete.
                if (result := self._result_now(pod, is_all=pod.over and read != "broken")) is not None:
                    return result
                self._check_timeouts(watch)
                self._progress.waiting = why_waiting(watch.pods.get(pod.name, pod))
                tries = 0 if read == "nothing" else tries + 1
                await watch.changed(max(_NOT_YET_S, OUTAGE.pause_s(tries)))

    def _result_now(self, pod: Pod, *, is_all: bool) -> JobResult | None:
        lines = self._lines
        if lines.ready is not None:
            self._progress.ready = lines.ready
        if lines.report is not None:
            self._progress.marks["answering"] = lines.report_began
            return result_from(self._job, lines.report)
        if lines.unavailable is not None:
            raise SandboxUnavailable(
                f"the runner cannot work in its container: {lines.unavailable.message}",
                suggestion="Check the image and its data; docs/kubernetes.md lists what a runner needs",
            )
        if lines.overlong:
            return explain_end(self._job, None, lines.tail, "the runner's report is longer than it may be")
        if is_all:
            log.warning("runner_pod_without_report", job=self._name, pod=str(pod), said=lines.tail)
            if is_lost(pod):
                raise PodLost(pod.reason or pod.exit_reason or "its pod was taken away")
            return explain_pod(self._job, pod, lines.tail)
        return None

    async def _wait_for_node(self, watch: PodWatch, pod: Pod | None) -> None:
        if pod is None and watch.listed and "node" in self._progress.marks:
            raise PodLost("its pod was deleted")
        if pod is None and watch.listed:
            self._progress.waiting = await self._missing.reason(begun=self._progress.begun)
        elif pod is not None:
            self._progress.waiting = why_waiting(pod)
        self._check_timeouts(watch)
        await watch.changed(1.0)

    def _check_timeouts(self, watch: PodWatch) -> None:
        """While the API is away the whole cluster is held up: the clock restarts when it is back."""
        if watch.refused is not None:
            raise unavailable(watch.refused, self._api)
        now = time.monotonic()
        if watch.lost_sight is not None:
            if watch.out_of_sight_s > self._timeouts.outage:
                raise unavailable(self._away or ApiAway("it is away"), self._api)
            self._since = now
            return
        if not self._progress.begun:
            if now - self._since > self._timeouts.queue:
                raise SandboxUnavailable(
                    f"no pod began within {self._timeouts.queue:g} s: {self._progress.waiting}",
                    suggestion="Make room in the cluster or its quota, or run it again later",
                )
            return
        allowed = self._job.limits.wall_ms / 1e3 + self._timeouts.start + _LATE_S
        if now - max(self._since, self._progress.marks["begun"]) > allowed:
            raise PodLost("its log was silent for longer than it may run")

    async def _read_log(self, watch: PodWatch, pod: Pod) -> LogRead:
        """Read the log until the report, its end, or the pod's end."""
        self._progress.marks.setdefault("node", time.monotonic())
        reading = asyncio.create_task(self._read(pod), name=f"log {pod.name}")
        try:
            while not reading.done():
                current = watch.pods.get(pod.name)
                ending = watch.lost_sight is None and (current is None or current.over or current.deleted)
                await asyncio.wait({reading}, timeout=_LOG_ENDS_S if ending else _LOOK_S)
                if ending:
                    break
                if not reading.done():
                    self._check_timeouts(watch)
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        return "broken" if reading.cancelled() else reading.result()

    async def _read(self, pod: Pod) -> LogRead:
        self._lines.restart()
        try:
            async with contextlib.aclosing(
                self._api.log(pod.name, self._container, follow=not pod.over)
            ) as chunks:
                async for chunk in chunks:
                    self._progress.begin()
                    self._lines.feed(chunk)
                    if self._lines.report is not None or self._lines.unavailable is not None:
                        return "all"
            self._lines.finish()
        except ApiAway as away:
            self._away = away
            return "broken"
        except ApiRefused as refused:
            if refused.status in (_NOT_BEGUN, _NOT_FOUND):
                return "nothing"
            raise unavailable(refused, self._api) from refused
        return "all"


class MissingPod:
    """Why a Job has no pod yet. Queries the cluster at most once a second."""

    def __init__(self, api: Api, name: str) -> None:
        self._api = api
        self._name = name
        self._since = time.monotonic()
        self._asked = float("-inf")
        self._may_read_events = True
        self._reason = "the cluster makes its pod"

    async def reason(self, *, begun: bool) -> str:
        """As text. Raises PodLost when the Job is gone, SandboxUnavailable when it will never have a pod."""
        now = time.monotonic()
        if now - self._asked < _LOOK_AGAIN_S or (not begun and now - self._since < _SOON_S):
            return self._reason
        self._asked = now
        try:
            self._look(await self._api.job(self._name))
            complaint = await self._complaint()
        except (ApiAway, ApiRefused):
            return self._reason
        if complaint and _is_final(complaint):
            raise SandboxUnavailable(
                f"the cluster refuses the runner's pod: {complaint}",
                suggestion="Change the Job template, or the policy of the namespace, so that they agree",
            )
        self._reason = complaint or self._guess()
        return self._reason

    def _guess(self) -> str:
        if self._may_read_events:
            return "the cluster has not made its pod yet: its Job controller is slow, or away"
        return (
            "the cluster has not made its pod yet, most likely because a quota is full "
            f"(kubectl -n {self._api.namespace} describe job {self._name})"
        )

    def _look(self, job: Object | None) -> None:
        if job is None:
            raise PodLost("its Job was deleted")
        for condition in job.get("status", {}).get("conditions") or ():
            if condition.get("type") == "Failed" and condition.get("status") == "True":
                raise PodLost(f"its Job failed without a pod: {condition.get('reason')}")

    async def _complaint(self) -> str:
        if not self._may_read_events:
            return ""
        try:
            events = await self._api.events_of(self._name)
        except ApiRefused:
            self._may_read_events = False
            return ""
        warnings = [event for event in events if event.get("type") == "Warning"]
        warnings.sort(key=lambda event: event.get("lastTimestamp") or event.get("eventTime") or "")
        return str(warnings[-1].get("message") or "") if warnings else ""


def _is_final(complaint: str) -> bool:
    """A full quota is temporary; a refusal by a policy is not."""
    return "forbidden" in complaint and "exceeded quota" not in complaint
