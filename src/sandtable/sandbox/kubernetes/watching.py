"""Pods by label, kept up to date: listed, then watched, listed again whenever the watch breaks off.

Invariant: what `pods` says was true at some moment since the last change it announced; a pod that vanished while
nobody could look is seen to be gone by the next list. Nothing that the API does ends the watching but our own end.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from types import TracebackType

from sandtable.sandbox.kubernetes.api import OUTAGE, Api, ApiAway, ApiGone, ApiRefused
from sandtable.sandbox.kubernetes.pods import Pod, read_pod

_BREATH_S = 0.05


class PodWatch:
    """`async with PodWatch(api, selector) as watch:`"""

    def __init__(self, api: Api, selector: str) -> None:
        self.pods: dict[str, Pod] = {}
        self.refused: ApiRefused | None = None
        """We are not allowed to look: nothing will come."""
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
        """Until something changed that was not waited for yet, but not longer."""
        if self._task is not None and self._task.done():
            # It never ends by itself: whatever broke it must not look like a long wait.
            self._task.result()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._changed.wait()
        self._changed.clear()

    def wake(self) -> None:
        """Whoever waits for a change looks again."""
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
                # A role may be corrected while we wait; whoever waits for pods is told meanwhile.
                self.refused = refused
                self._changed.set()
                failures = len(OUTAGE.pauses_s)
            # A server that is going down may end every watch at once.
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
