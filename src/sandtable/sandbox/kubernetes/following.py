"""One Job in the cluster, followed from its creation to a result: its pod watched, its log read.

Invariant: a result comes from the report in the log, and only in its absence from how the pod ended. The log may be
read as often as it takes: whatever breaks off (a watch, a stream, the API, a kubelet) is taken up again.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from typing import Literal

import structlog

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.job import Job, JobResult
from sandtable.sandbox.kubernetes import names
from sandtable.sandbox.kubernetes.api import OUTAGE, Api, ApiAway, ApiRefused
from sandtable.sandbox.kubernetes.believing import believed, longest_line
from sandtable.sandbox.kubernetes.loglines import LogLines
from sandtable.sandbox.kubernetes.lost import Lost
from sandtable.sandbox.kubernetes.manifest import Patience
from sandtable.sandbox.kubernetes.pods import Pod, explain_pod, hopeless, is_lost, why_waiting
from sandtable.sandbox.kubernetes.trouble import unavailable
from sandtable.sandbox.kubernetes.unmade import Unmade
from sandtable.sandbox.kubernetes.watching import PodWatch
from sandtable.sandbox.outcome import explain_end
from sandtable.sandbox.report import Ready

_LAST_WORDS_S = 10.0
_LOOK_S = 5.0
_NOT_YET_S = 0.1
_LATE_S = 15.0
"""After which a pod that its own clock should have ended counts as ended."""
_NOT_BEGUN, _NOT_FOUND = 400, 404

Heard = Literal["all", "broken", "nothing"]
"""Of a log: everything up to its end or the report; up to where it broke off; there is none."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Progress:
    """Of one job, for whoever asks meanwhile."""

    begun: bool = False
    waiting: str = "it waits for a place"
    ready: Ready | None = None
    marks: dict[str, float] = field(default_factory=dict)
    """When what happened, on the monotonic clock."""

    def begin(self) -> None:
        if not self.begun:
            self.begun, self.waiting = True, ""
            self.marks["begun"] = time.monotonic()

    def restart(self) -> None:
        """The job begins anew, in another sandbox."""
        self.begun, self.waiting = False, "it is handed to the cluster"
        self.marks.clear()

    def times(self, since: float) -> dict[str, float]:
        """For the record, in ms: until its container spoke, and in all."""
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
        patience: Patience,
        progress: Progress,
    ) -> None:
        self._api = api
        self._job = job
        self._name = name
        self._container = container
        self._patience = patience
        self._progress = progress
        self._lines = LogLines(nonce, longest_line(job))
        self._since = time.monotonic()
        self._unmade = Unmade(api, name)
        self._away: ApiAway | None = None

    async def result(self) -> JobResult:
        """Raises Lost and SandboxUnavailable."""
        async with PodWatch(self._api, names.selector(job=self._name)) as watch:
            tries = 0
            while True:
                pod = watch.newest
                if pod is None or not pod.node:
                    await self._wait_for_node(watch, pod)
                    continue
                if trouble := hopeless(pod):
                    raise trouble
                heard = await self._listen(watch, pod)
                # As it was before its log was read: what a pod said that was over is all that it will ever say.
                if (told := self._told(pod, is_all=pod.over and heard != "broken")) is not None:
                    return told
                self._check_patience(watch)
                self._progress.waiting = why_waiting(watch.pods.get(pod.name, pod))
                tries = 0 if heard == "nothing" else tries + 1
                await watch.changed(max(_NOT_YET_S, OUTAGE.pause_s(tries)))

    def _told(self, pod: Pod, *, is_all: bool) -> JobResult | None:
        lines = self._lines
        if lines.ready is not None:
            self._progress.ready = lines.ready
        if lines.report is not None:
            return believed(self._job, lines.report)
        if lines.unavailable is not None:
            raise SandboxUnavailable(
                f"the runner cannot work in its container: {lines.unavailable.message}",
                suggestion="check the image and its data; docs/kubernetes.md lists what a runner needs",
            )
        if lines.overlong:
            return explain_end(self._job, None, lines.tail, "the runner's report is longer than it may be")
        if is_all:
            log.warning("runner_pod_without_report", job=self._name, pod=str(pod), said=lines.tail)
            if is_lost(pod):
                raise Lost(pod.reason or pod.exit_reason or "its pod was taken away")
            return explain_pod(self._job, pod, lines.tail)
        return None

    async def _wait_for_node(self, watch: PodWatch, pod: Pod | None) -> None:
        if pod is None and watch.listed and "node" in self._progress.marks:
            raise Lost("its pod was deleted")
        if pod is None and watch.listed:
            self._progress.waiting = await self._unmade.reason(begun=self._progress.begun)
        elif pod is not None:
            self._progress.waiting = why_waiting(pod)
        self._check_patience(watch)
        await watch.changed(1.0)

    def _check_patience(self, watch: PodWatch) -> None:
        """An API that is away holds up the whole cluster: the clock starts again when it is back."""
        if watch.refused is not None:
            raise unavailable(watch.refused, self._api)
        now = time.monotonic()
        if watch.lost_sight is not None:
            if watch.out_of_sight_s > self._patience.outage:
                raise unavailable(self._away or ApiAway("it is away"), self._api)
            self._since = now
            return
        if not self._progress.begun:
            if now - self._since > self._patience.queue:
                raise SandboxUnavailable(
                    f"no pod began within {self._patience.queue:g} s: {self._progress.waiting}",
                    suggestion="make room in the cluster or its quota, or run it again later",
                )
            return
        allowed = self._job.limits.wall_ms / 1e3 + self._patience.start + _LATE_S
        if now - max(self._since, self._progress.marks["begun"]) > allowed:
            raise Lost("nothing was heard of it for longer than it may run")

    async def _listen(self, watch: PodWatch, pod: Pod) -> Heard:
        """Read the log until the report, its end, or the pod's."""
        self._progress.marks.setdefault("node", time.monotonic())
        reading = asyncio.create_task(self._read(pod), name=f"log {pod.name}")
        try:
            while not reading.done():
                current = watch.pods.get(pod.name)
                ending = watch.lost_sight is None and (current is None or current.over or current.deleted)
                await asyncio.wait({reading}, timeout=_LAST_WORDS_S if ending else _LOOK_S)
                if ending:
                    break
                if not reading.done():
                    self._check_patience(watch)
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        return "broken" if reading.cancelled() else reading.result()

    async def _read(self, pod: Pod) -> Heard:
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
