"""Settings → the tiers that execute: where runs go, where texts and files are looked at.

Invariant: whatever the backend, nothing of others is parsed or run outside a sandbox; where none is to be had, this
raises SandboxUnavailable.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Literal, TypeVar

import structlog

from sandtable.assemble.session_host import NoSessions, session_host
from sandtable.catalog.store import DataStore
from sandtable.errors import InvalidInput, SandboxUnavailable
from sandtable.sandbox.executor import Hello, Tier
from sandtable.sandbox.local.executor import LocalExecutor
from sandtable.sandbox.session import SessionHost
from sandtable.settings import Settings

log = structlog.get_logger(__name__)

_INDEXING_NICENESS = 10
_INDEXING_PARALLEL = 2

T = TypeVar("T", bound=Tier)
Elsewhere = Literal["docker", "kubernetes", "remote"]
# By name: each needs packages that not every installation has.
_CLASSES: dict[Elsewhere, str] = {
    "docker": "sandtable.sandbox.docker.executor:DockerExecutor",
    "kubernetes": "sandtable.sandbox.kubernetes.executor:KubernetesExecutor",
    "remote": "sandtable.sandbox.remote.executor:RemoteExecutor",
}
_GRACE_S: dict[Elsewhere, float] = {"docker": 30.0, "kubernetes": 900.0, "remote": 60.0}
"""A run's own clock begins when its sandbox has started; how long all the rest may take."""
_LOCAL_GRACE_S = 10.0


@dataclass(slots=True)
class CodeEngine:
    """What the results of code depend on where runs are executed: known once sandboxes for code were seen there."""

    tier: Tier
    engine: str
    said: str = ""

    async def ready(self) -> Hello:
        """Waits until sandboxes for code can be had. Raises SandboxUnavailable."""
        hello = await self.tier.start("py")
        self.said = hello.engine.removeprefix(self.engine).lstrip(", ")
        return hello

    def __call__(self) -> str:
        return self.said


@dataclass(frozen=True, slots=True)
class Tiers:
    runs: Tier
    """Where queries and code are executed."""
    looks: Tier
    """Where texts are parsed and downloads are made."""
    index: Tier
    """Where files are converted and columns looked at."""
    sessions: SessionHost
    hello: Hello
    """Of `runs`."""
    grace_s: float

    @property
    def code_engine(self) -> CodeEngine:
        return CodeEngine(self.runs, self.hello.engine)

    @property
    def in_one_place(self) -> bool:
        """Whether a text is parsed where it will run."""
        return self.runs is self.looks


async def open_tiers(settings: Settings, store: DataStore, stack: AsyncExitStack) -> Tiers:
    """`stack` closes what is opened. Raises SandboxUnavailable, InvalidInput."""
    local = _opened(local_executor(settings, store.root), stack)
    trouble = await _trouble_of(local)
    elsewhere = await _open_elsewhere(settings, store, stack, isolated=trouble is None)
    if elsewhere is None:
        if trouble is not None:
            raise trouble
        return _around(local, local, await local.start(), _LOCAL_GRACE_S, settings, store, stack)
    name, runs = elsewhere
    hello = await runs.start()
    log.info("runs_executed_elsewhere", backend=name, layers=list(hello.layers))
    if trouble is None:
        return _around(local, runs, hello, _GRACE_S[name], settings, store, stack)
    if name != "docker":
        raise SandboxUnavailable(
            f"with the backend `{name}`, texts and files are looked at here, and they cannot be: {trouble.message}",
            suggestion="the server itself needs Landlock (Linux 6.2) or user namespaces;"
            " run it on a machine that has one of them",
        )
    return Tiers(runs, runs, runs, NoSessions(name), hello, _GRACE_S[name])


async def open_runs_tier(settings: Settings, store: DataStore, stack: AsyncExitStack) -> Tier:
    """The tier that runs would go to, whether it works or not."""
    local = _opened(local_executor(settings, store.root), stack)
    elsewhere = await _open_elsewhere(settings, store, stack, isolated=await _trouble_of(local) is None)
    return local if elsewhere is None else elsewhere[1]


def _around(
    local: LocalExecutor,
    runs: Tier,
    hello: Hello,
    grace_s: float,
    settings: Settings,
    store: DataStore,
    stack: AsyncExitStack,
) -> Tiers:
    """Texts, files and sessions stay here, wherever runs go."""
    index = _opened(indexing_executor(settings, store), stack)
    return Tiers(runs, local, index, session_host(settings, store, local, stack), hello, grace_s)


async def _trouble_of(local: LocalExecutor) -> SandboxUnavailable | None:
    try:
        await local.start()
    except SandboxUnavailable as error:
        return error
    return None


async def _open_elsewhere(
    settings: Settings, store: DataStore, stack: AsyncExitStack, *, isolated: bool
) -> tuple[Elsewhere, Tier] | None:
    """None: runs stay here. `isolated`: whether this machine can isolate by itself."""
    if settings.backend in _MAKE:
        return settings.backend, _opened(_MAKE[settings.backend](settings, store), stack)
    if settings.backend != "auto" or (isolated and not settings.prefer_docker):
        return None
    try:
        docker = _opened(_docker(settings, store), stack)
        await docker.start()
    except (SandboxUnavailable, InvalidInput) as error:
        log.info("docker_not_used", reason=error.message)
        return None
    return "docker", docker


def _opened(tier: T, stack: AsyncExitStack) -> T:
    stack.push_async_callback(tier.aclose)
    return tier


def local_executor(settings: Settings, store: Path) -> LocalExecutor:
    return LocalExecutor(
        store,
        isolation=settings.isolation,
        parallel=settings.places,
        memory_mb=settings.memory_mb + settings.tmp_mb,
        standby=settings.standby,
        presealed=settings.presealed,
        sessions=settings.max_sessions,
    )


def indexing_executor(settings: Settings, store: DataStore) -> LocalExecutor:
    """Its own pool at lower priority: converting a large file never makes a question wait."""
    return LocalExecutor(
        store.root,
        isolation=settings.isolation,
        nice=_INDEXING_NICENESS,
        parallel=_INDEXING_PARALLEL,
        memory_mb=4096,
        standby=0,
        presealed=0,
    )


def _docker(settings: Settings, store: DataStore) -> Tier:
    return _class("docker")(
        store.root,
        image=settings.docker_image,
        host=settings.docker_host,
        runtime=settings.docker_runtime,
        warm=settings.docker_warm,
        parallel=settings.places,
        memory_mb=settings.memory_mb,
        data=settings.docker_data,
    )


def _kubernetes(settings: Settings, store: DataStore) -> Tier:
    host = settings.kubernetes_service_host
    return _class("kubernetes")(
        namespace=settings.kubernetes_namespace,
        image=settings.kubernetes_image,
        template=settings.kubernetes_template,
        warm=settings.kubernetes_warm,
        parallel=settings.concurrency + settings.verifications,
        instance=settings.kubernetes_instance,
        kubeconfig=tuple(Path(each) for each in (settings.kubeconfig or "").split(os.pathsep) if each),
        service=(host, settings.kubernetes_service_port) if host else None,
    )


def _remote(settings: Settings, store: DataStore) -> Tier:
    if settings.execd_url is None or settings.execd_token is None:
        raise InvalidInput(
            "the backend `remote` needs to know where its service is, and what proves that it is the right one",
            suggestion="Set SANDTABLE_EXECD_URL and SANDTABLE_EXECD_TOKEN, the same token as for `sandtable execd`.",
        )
    return _class("remote")(
        settings.execd_url, settings.execd_token.get_secret_value(), parallel=settings.places
    )


_MAKE: dict[Elsewhere, Callable[[Settings, DataStore], Tier]] = {
    "docker": _docker,
    "kubernetes": _kubernetes,
    "remote": _remote,
}


def _class(name: Elsewhere) -> Callable[..., Tier]:
    try:
        return resolve_name(_CLASSES[name])
    except ImportError as error:
        raise SandboxUnavailable(
            f"the backend `{name}` needs packages that are not installed: {error.name or error}",
            suggestion=f"Install them with `pip install 'sandtable[{name}]'`.",
        ) from error
