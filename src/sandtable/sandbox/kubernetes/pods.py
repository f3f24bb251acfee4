"""Pods: reduced to what matters (is it waiting and why, has it begun, how did it end), and watched by label.

Invariant: parsing never fails: what is missing in the object counts as not known yet. `PodWatch.pods` was true at some
moment since the last announced change: pods are listed, then watched, and listed again when the watch breaks off, so
that a pod that was deleted meanwhile is noticed. A failure of the API does not end a watch.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.job import Job, JobResult
from sandtable.sandbox.kubernetes.api import OUTAGE, Api, ApiAway, ApiGone, ApiRefused
from sandtable.sandbox.kubernetes.template import CONTAINER
from sandtable.sandbox.outcome import Ended, explain_end, timed_out

_NEVER = frozenset(
    "ErrImageNeverPull ImagePullBackOff InvalidImageName ImageInspectError RegistryUnavailable "
    "CreateContainerConfigError CreateContainerError RunContainerError StartError ContainerCannotRun".split()
)
"""Waiting reasons that do not resolve by themselves."""
_IMAGE = frozenset(
    "ErrImageNeverPull ImagePullBackOff ErrImagePull InvalidImageName ImageInspectError".split()
)
_NO_SUCH_IMAGE = ("not found", "denied", "unauthorized", "no such host", "not present", "manifest unknown")
_KILLED = 9
_SIGNALLED = 128
_BREATH_S = 0.05


class PodLost(Exception):
    """The cluster took the sandbox away during the job. Jobs only read, so another attempt is safe."""


@dataclass(frozen=True, slots=True)
class Pod:
    name: str
    job: str
    """The name of the Job that made it."""
    made: str
    """Creation time as the API writes it: sorts by time."""
    node: str
    address: str
    phase: str
    reason: str
    """The pod's reason, such as `DeadlineExceeded` or `Evicted`."""
    message: str
    deleted: bool
    disrupted: bool
    unschedulable: str
    running: bool
    waiting: str
    waiting_message: str
    exit_code: int | None
    exit_reason: str

    @property
    def begun(self) -> bool:
        return self.running or self.exit_code is not None

    @property
    def over(self) -> bool:
        return self.phase in ("Succeeded", "Failed") or self.exit_code is not None


def read_pod(raw: dict[str, Any]) -> Pod:
    metadata, spec, status = (raw.get(part) or {} for part in ("metadata", "spec", "status"))
    conditions = {entry.get("type"): entry for entry in status.get("conditions") or ()}
    scheduled = conditions.get("PodScheduled") or {}
    unschedulable = scheduled.get("message") or "" if scheduled.get("status") == "False" else ""
    main = _main_container(spec)
    states = {entry.get("name"): entry.get("state") or {} for entry in status.get("containerStatuses") or ()}
    before = [entry.get("state") or {} for entry in status.get("initContainerStatuses") or ()]
    state = states.get(main) or {}
    # An init container that will never finish is what the pod waits for.
    blocked = next((s["waiting"] for s in before if (s.get("waiting") or {}).get("reason") in _NEVER), None)
    waiting = blocked or state.get("waiting") or {}
    ended = state.get("terminated") or {}
    return Pod(
        name=metadata.get("name") or "",
        job=(metadata.get("labels") or {}).get("job-name") or "",
        made=metadata.get("creationTimestamp") or "",
        node=spec.get("nodeName") or "",
        address=status.get("podIP") or "",
        phase=status.get("phase") or "",
        reason=status.get("reason") or "",
        message=status.get("message") or "",
        deleted=bool(metadata.get("deletionTimestamp")),
        disrupted=(conditions.get("DisruptionTarget") or {}).get("status") == "True",
        unschedulable=unschedulable,
        running=state.get("running") is not None,
        waiting=waiting.get("reason") or "",
        waiting_message=waiting.get("message") or "",
        exit_code=ended.get("exitCode"),
        exit_reason=ended.get("reason") or "",
    )


def _main_container(spec: dict[str, Any]) -> str:
    named = [entry.get("name") for entry in spec.get("containers") or ()]
    return CONTAINER if CONTAINER in named or not named else str(named[0])


def why_waiting(pod: Pod) -> str:
    """Why it waits, as text for a person. Empty once it has begun."""
    if pod.begun or pod.over:
        return ""
    if pod.unschedulable:
        return f"the cluster has no room for it: {pod.unschedulable}"
    if pod.waiting and pod.waiting != "ContainerCreating":
        return f"{pod.waiting}: {pod.waiting_message}".rstrip(": ")
    return "its container is being made" if pod.node else "it waits for a node"


def hopeless(pod: Pod) -> SandboxUnavailable | None:
    """The error when waiting will not help, with what to do instead."""
    why = f"{pod.waiting}: {pod.waiting_message}".rstrip(": ")
    if pod.exit_reason in ("StartError", "ContainerCannotRun"):
        return SandboxUnavailable(
            f"the runner's container does not start: {pod.exit_reason} {pod.message}".strip(),
            suggestion="Use the image of a Sandtable runner, with its own entry point",
        )
    missing = pod.waiting == "ErrImagePull" and any(
        word in pod.waiting_message.lower() for word in _NO_SUCH_IMAGE
    )
    if pod.waiting not in _NEVER and not missing:
        return None
    if pod.waiting in _IMAGE:
        return SandboxUnavailable(
            f"the runner's image cannot be pulled: {why}",
            suggestion="Name an image that the nodes can pull in SANDTABLE_KUBERNETES_IMAGE or in the Job template, "
            "with its pull secret; or load it onto the nodes",
        )
    return SandboxUnavailable(
        f"the runner's container cannot be made: {why}",
        suggestion="Correct the Job template: a volume, a secret or the user that it names is not there",
    )


def is_lost(pod: Pod) -> bool:
    """Whether the cluster ended it, not its own behaviour: another attempt may succeed."""
    if pod.deleted or pod.disrupted:
        return True
    by_node = pod.phase == "Failed" and pod.reason not in ("", "DeadlineExceeded")
    # Its node went away: no kubelet can report an exit code.
    unknown = pod.exit_reason == "ContainerStatusUnknown" or pod.phase == "Unknown"
    return by_node or unknown


def explain_pod(job: Job, pod: Pod, tail: str) -> JobResult:
    """For a pod whose log holds no report; `tail` is the end of that log."""
    if pod.exit_reason == "OOMKilled":
        return explain_end(job, Ended(_KILLED), f"{tail}\nthe container ran out of memory".lstrip(), "")
    if pod.reason == "DeadlineExceeded":
        return timed_out(job)
    code = pod.exit_code
    if code is not None and code > _SIGNALLED:
        return explain_end(job, Ended(code - _SIGNALLED), tail, "")
    why = (
        f"the runner ended without a report (exit code {code}, {pod.exit_reason or pod.reason or pod.phase})"
    )
    return explain_end(job, None, tail, why)


class PodWatch:
    """`async with PodWatch(api, selector) as watch:`"""

    def __init__(self, api: Api, selector: str) -> None:
        self.pods: dict[str, Pod] = {}
        self.refused: ApiRefused | None = None
        """The API does not allow the watch."""
        self.listed = False
        self.lost_sight: float | None = None
        """Since when the API has not answered."""
        self._api = api
        self._selector = selector
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> PodWatch:
        self._task = asyncio.create_task(self._watch(), name=f"watch {self._selector}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def newest(self) -> Pod | None:
        """A Job may make a second pod when the first was lost; one that is being deleted counts last."""
        return max(self.pods.values(), key=lambda pod: (not pod.deleted, pod.made, pod.name), default=None)

    @property
    def out_of_sight_s(self) -> float:
        return 0.0 if self.lost_sight is None else time.monotonic() - self.lost_sight

    async def changed(self, within_s: float) -> None:
        """Wait for the next change, at most `within_s` seconds."""
        if self._task is not None and self._task.done():
            # The task never returns: raise its exception.
            self._task.result()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._changed.wait()
        self._changed.clear()

    def wake(self) -> None:
        """Wake up `changed`."""
        self._changed.set()

    async def _watch(self) -> None:
        failures = 0
        while True:
            try:
                await self._look()
                failures = 0
            except ApiGone:
                failures = 0
            except ApiAway:
                failures += 1
                if self.lost_sight is None:
                    self.lost_sight = time.monotonic()
            except ApiRefused as refused:
                # The operator may correct the role later; until then `refused` is set.
                self.refused = refused
                self._changed.set()
                failures = len(OUTAGE.pauses_s)
            # A server that is shutting down may end every watch immediately.
            await asyncio.sleep(max(_BREATH_S, OUTAGE.pause_s(failures)))

    async def _look(self) -> None:
        found, version = await self._api.pods(self._selector)
        self._seen()
        self.listed = True
        self.pods = {pod.name: pod for pod in map(read_pod, found)}
        self._changed.set()
        async with contextlib.aclosing(self._api.watch_pods(self._selector, version)) as changes:
            async for event, raw in changes:
                self._seen()
                pod = read_pod(raw)
                if event == "DELETED":
                    self.pods.pop(pod.name, None)
                else:
                    self.pods[pod.name] = pod
                self._changed.set()

    def _seen(self) -> None:
        self.lost_sight = None
        self.refused = None
