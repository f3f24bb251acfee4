"""Pods that wait for a job: each serves one, over one connection, and is replaced when taken, too old or dead.

Invariant: a pod is handed out at most once, and only its maker knows its token. No pod outlives its own deadline, so
the pods of a dead server end by themselves.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import secrets
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from sandtable.retrying import Backoff
from sandtable.sandbox.executor import Kind
from sandtable.sandbox.job import Job
from sandtable.sandbox.kubernetes import names
from sandtable.sandbox.kubernetes.api import Api, ApiAway, ApiRefused, Object
from sandtable.sandbox.kubernetes.deleting import Deletions
from sandtable.sandbox.kubernetes.loglines import LogLines, longest_line
from sandtable.sandbox.kubernetes.manifest import PORT, Filling, Size, Timeouts, fill
from sandtable.sandbox.kubernetes.pods import Pod, PodLost, PodWatch, hopeless
from sandtable.sandbox.report import Ready, RunnerReport
from sandtable.sandbox.wire import order_of, parse_strictly

IDLE_S = 900.0
_TOO_OLD = 0.8
_LOOK_S = 1.0
_TROUBLE = Backoff((1.0, 5.0, 15.0, 60.0, 300.0))
_READY_BYTES = 64 << 10
_IN_VAIN = 3
"""After this many unreachable pods in a row, a network policy is the likely cause."""
_LENGTH = struct.Struct(">I")
_CONNECT_S = 2.0
_LATE_S = 15.0

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class WarmPod:
    name: str
    token: str
    nonce: str
    size: Size
    made: float = field(default_factory=time.monotonic)
    address: str = ""
    ready: Ready | None = None
    created: bool = False
    """The API has confirmed its creation. Until then the creation may be under way."""
    seen: bool = False
    reading: asyncio.Task[None] | None = None


class WarmPods:
    def __init__(
        self,
        api: Api,
        template: Object,
        container: str,
        instance: str,
        replica: str,
        deletions: Deletions,
        *,
        kind: Kind,
        count: int,
        timeouts: Timeouts,
        idle_s: float = IDLE_S,
        on_ready: Callable[[Kind, Ready], None],
    ) -> None:
        self.size = Size(kind)
        self._api = api
        self._template = template
        self._container = container
        self._instance = instance
        self._replica = replica
        self._deletions = deletions
        self._count = count
        self._timeouts = timeouts
        self._idle_s = idle_s
        self._on_ready = on_ready
        self._pods: dict[str, WarmPod] = {}
        self._task: asyncio.Task[None] | None = None
        self._watch: PodWatch | None = None
        self._trouble = 0
        self._not_before = 0.0
        self._unreached = 0

    def start(self) -> None:
        if self._task is None and self._count:
            self._task = asyncio.create_task(self._keep(), name="warm pods")

    @property
    def ready(self) -> int:
        return sum(pod.ready is not None for pod in self._pods.values())

    def fit(self, size: Size) -> None:
        """Prepare for jobs of this size. Pods that are too small for them are replaced."""
        if size.kind == self.size.kind and not self.size.holds(size):
            self.size = self.size.and_also(size)
            for pod in [pod for pod in self._pods.values() if not pod.size.holds(self.size)]:
                self._drop(pod)

    def take(self, size: Size) -> WarmPod | None:
        """One that is ready and large enough; the oldest, because it would be replaced first."""
        fitting = [pod for pod in self._pods.values() if pod.ready is not None and pod.size.holds(size)]
        if not fitting:
            return None
        taken = min(fitting, key=lambda pod: pod.made)
        del self._pods[taken.name]
        if self._watch is not None:
            self._watch.wake()
        return taken

    def met(self, *, reached: bool) -> None:
        """Record whether the pod that was taken could be reached."""
        self._unreached = 0 if reached else self._unreached + 1
        if self._unreached == _IN_VAIN:
            log.error("warm_pods_given_up", reason=f"their port {PORT} cannot be reached from this server")
            self._count = 0
            for pod in list(self._pods.values()):
                self._drop(pod)

    async def _keep(self) -> None:
        selected = names.selector(instance=self._instance, replica=self._replica, warm="true")
        async with PodWatch(self._api, selected) as self._watch:
            while True:
                by_job = {pod.job: pod for pod in self._watch.pods.values()}
                for pod in list(self._pods.values()):
                    self._look(pod, by_job.get(pod.name), self._watch)
                await self._make_some()
                await self._watch.changed(_LOOK_S)

    def _look(self, pod: WarmPod, found: Pod | None, watch: PodWatch) -> None:
        if time.monotonic() - pod.made > self._idle_s * _TOO_OLD:
            self._drop(pod)
            return
        if found is None:
            if pod.seen and watch.lost_sight is None:
                self._drop(pod)
            return
        pod.seen = True
        if found.over or found.deleted:
            self._drop(pod)
        elif trouble := hopeless(found):
            self._drop(pod)
            self._hold_back(trouble.message)
        elif found.running and found.address and pod.reading is None:
            pod.address = found.address
            pod.reading = asyncio.create_task(
                self._read_until_ready(pod, found.name), name=f"read {found.name}"
            )

    async def _read_until_ready(self, pod: WarmPod, name: str) -> None:
        """Read its log until it reports that it waits for its job."""
        lines = LogLines(pod.nonce, _READY_BYTES)
        try:
            async with contextlib.aclosing(self._api.log(name, self._container, follow=True)) as chunks:
                async for chunk in chunks:
                    lines.feed(chunk)
                    if lines.ready is not None or lines.unavailable is not None:
                        break
        except (ApiAway, ApiRefused):
            pod.reading = None
            return
        if lines.ready is None:
            self._drop(pod)
            refusal = lines.unavailable
            self._hold_back(refusal.message if refusal else "a warm pod ended before it was ready")
            return
        pod.ready = lines.ready
        self._trouble = 0
        self._on_ready(pod.size.kind, lines.ready)

    async def _make_some(self) -> None:
        while len(self._pods) < self._count and time.monotonic() >= self._not_before:
            token, nonce = secrets.token_urlsafe(32), secrets.token_hex(16)
            name = f"sandtable-warm-{names.label_value(self._replica)[:16]}-{secrets.token_hex(4)}"
            pod = WarmPod(name, token, nonce, self.size)
            self._pods[name] = pod
            try:
                await self._api.create_job(self._manifest(pod))
                pod.created = True
                if name not in self._pods:
                    self._drop(pod)
            except (ApiAway, ApiRefused) as error:
                self._drop(pod)
                self._hold_back(str(error))

    def _manifest(self, pod: WarmPod) -> Object:
        cell = {"tmp_mb": pod.size.tmp_mb, "memory_mb": pod.size.memory_mb}
        given = Filling(
            name=pod.name,
            labels={**names.labels_of(self._instance, self._replica, pod.name), names.WARM: "true"},
            config={
                "kind": pod.size.kind,
                "input": f"tcp:{PORT}",
                "nonce": pod.nonce,
                "token_sha256": hashlib.sha256(pod.token.encode()).hexdigest(),
                "wait_s": self._idle_s,
                "ready": {"presealed": False, "warm": True, "cell": cell},
            },
            size=pod.size,
            annotations={names.NONCE: pod.nonce},
            waits_s=self._idle_s,
        )
        return fill(self._template, given, self._timeouts)

    def _hold_back(self, reason: str) -> None:
        """Backoff: a cluster that has no room now is not asked every second."""
        self._trouble += 1
        wait = _TROUBLE.pause_s(self._trouble)
        self._not_before = time.monotonic() + wait
        log.warning("warm_pod_not_made", reason=reason, again_in_s=wait)

    def _drop(self, pod: WarmPod) -> None:
        self._pods.pop(pod.name, None)
        self._deletions.start(pod.name, uncertain=not pod.created)
        if pod.reading is not None and pod.reading is not asyncio.current_task():
            pod.reading.cancel()

    async def aclose(self) -> None:
        pods = list(self._pods.values())
        tasks = [task for task in (self._task, *(pod.reading for pod in pods)) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for pod in pods:
            self._drop(pod)


class Unreached(Exception):
    """No order was sent: the pod did not receive the job."""


async def talk(address: str, token: str, nonce: str, job: Job) -> RunnerReport:
    """Raises Unreached, and PodLost when the order was sent and no report came back."""
    try:
        async with asyncio.timeout(_CONNECT_S):
            reader, writer = await asyncio.open_connection(address, PORT)
    except (OSError, TimeoutError) as error:
        raise Unreached(f"{address}: {str(error) or 'no answer'}") from error
    try:
        async with asyncio.timeout(job.limits.wall_ms / 1e3 + _LATE_S):
            order = json.dumps(order_of(job), separators=(",", ":")).encode()
            writer.write(token.encode() + b"\n" + _LENGTH.pack(len(order)) + order)
            await writer.drain()
            return _report(await _frame(reader, longest_line(job)), nonce)
    except (OSError, EOFError, TimeoutError) as error:
        raise PodLost(f"the connection to its pod broke off: {str(error) or type(error).__name__}") from error
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _frame(reader: asyncio.StreamReader, most: int) -> bytes:
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    if length > most:
        raise PodLost(f"a report of {length} bytes is over the limit of {most}")
    return await reader.readexactly(length)


def _report(frame: bytes, nonce: str) -> RunnerReport:
    try:
        report = RunnerReport.model_validate(parse_strictly(frame))
    except (ValueError, RecursionError) as error:
        # pydantic's error is a ValueError, too.
        raise PodLost(f"its report does not have the agreed form: {type(error).__name__}") from error
    if report.nonce != nonce:
        raise PodLost("its report is not for this job")
    return report
