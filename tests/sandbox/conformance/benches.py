"""The executors that must all behave alike. A new back end is one more entry here."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from sandtable.sandbox.docker.executor import DockerExecutor
from sandtable.sandbox.executor import Executor
from sandtable.sandbox.fake import FakeExecutor, Script
from sandtable.sandbox.job import Job, JobResult
from sandtable.sandbox.local.executor import LocalExecutor
from tests.kubernetes.target import Target, named_images
from tests.needs import RUNNER_IMAGE
from tests.sandbox.kubernetes.live import InItsNamespace
from tests.sandbox.remote.process import WithItsService
from tests.sandbox.stores import Store, sql_job

QUICK = "SELECT 42 AS answer"
SLOW = "SELECT count(*) FROM range(10000000) AS a, range(10000000) AS b WHERE a.range + b.range = 7"
SLOTS = 2
_ids = count()
_START_MS = {"docker": 1000, "kubernetes": 10_000}
"""What it may take until a sandbox is there when none waits, on a busy machine. A fork takes next to nothing."""


@dataclass(frozen=True, slots=True)
class Bench:
    """An executor with `SLOTS` places, and the data it runs on."""

    executor: Executor
    store: Store

    @property
    def start_ms(self) -> int:
        return _START_MS.get(self.executor.name, 0)

    def job(self, text: str, **given: Any) -> Job:
        return sql_job(self.store, f"job-{next(_ids)}", text, **given)

    async def ready_for(self, text: str, **given: Any) -> None:
        """Have a sandbox wait for such a job, where the tier can."""
        if (warm := getattr(self.executor, "warm", None)) is not None:
            await warm(self.job(text, **given))

    async def run(self, text: str, **given: Any) -> JobResult:
        job = self.job(text, **given)
        await self.executor.submit(job)
        return await self.executor.result(job.id)


def _fake(store: Store) -> Executor:
    executor = FakeExecutor()
    executor.on(SLOW, Script(delay_s=3600))
    return executor


def _local(store: Store) -> Executor:
    return LocalExecutor(store.root, parallel=SLOTS)


def _local_landlock(store: Store) -> Executor:
    return LocalExecutor(store.root, parallel=SLOTS, isolation="landlock")


def _remote(store: Store) -> Executor:
    return WithItsService(store.root, parallel=SLOTS)


def _docker(store: Store) -> Executor:
    host = os.environ.get("DOCKER_HOST")
    return DockerExecutor(store.root, image=RUNNER_IMAGE, host=host, parallel=SLOTS, warm=1)


def _kubernetes(store: Store) -> Executor:
    images = named_images(os.environ.get("SANDTABLE_TEST_IMAGES", ""))
    # The image with Python's libraries does queries too.
    image = images["runner"].replace("sandtable-runner:", "sandtable-runner-python:")
    return InItsNamespace(Target(os.environ["KUBECONFIG"], images), image, store.root, parallel=SLOTS)


SCRIPTED: dict[str, Callable[[Store], Executor]] = {"fake": _fake}
"""Keep the seam's rules, but run nothing."""
REAL: dict[str, tuple[Callable[[Store], Executor], tuple[str, ...]]] = {
    "local": (_local, ("userns",)),
    "local-landlock": (_local_landlock, ("landlock",)),
    "docker": (_docker, ("docker_images",)),
    "remote": (_remote, ("userns",)),
    "kubernetes": (_kubernetes, ("cluster",)),
}
"""Run the text. Each with what it needs of the machine (`tests/needs.py`)."""
