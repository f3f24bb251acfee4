"""Settings → the tiers that execute runs, parse texts and index files.

Invariant: with every backend, untrusted input is parsed and run only inside a sandbox; if there is none,
SandboxUnavailable is raised.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Literal, TypeVar

import structlog

from sandtable.assemble.session_host import NoSessions, session_host
from sandtable.catalog.stored.store import DataStore
from sandtable.errors import InvalidInput, SandboxUnavailable
from sandtable.observing import UNOBSERVED, Observer, Tracer
from sandtable.sandbox.executor import Abilities, Hello, Tier, TierClass
from sandtable.sandbox.local.executor import LocalExecutor
from sandtable.sandbox.session import SessionHost
from sandtable.settings import Settings

log = structlog.get_logger(__name__)

_INDEXING_NICENESS = 10
_INDEXING_PARALLEL = 2

T = TypeVar("T", bound=Tier)
Elsewhere = Literal["docker", "kubernetes", "remote"]
# Imported by name: each needs optional dependencies.
_CLASSES: dict[Elsewhere, str] = {
    "docker": "sandtable.sandbox.docker.executor:DockerExecutor",
    "kubernetes": "sandtable.sandbox.kubernetes.executor:KubernetesExecutor",
    "remote": "sandtable.sandbox.remote.executor:RemoteExecutor",
}


@dataclass(slots=True)
class CodeEngine:
    """The versions that results of code depend on, in the tier that runs it: known once its sandboxes were ready."""

    tier: Tier
    engine: str
    said: str = ""

    async def ready(self) -> Hello:
        """Waits until sandboxes for code are available. Raises SandboxUnavailable."""
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
    """Where files are converted and columns profiled."""
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


async def open_tiers(
    settings: Settings, store: DataStore, stack: AsyncExitStack, observer: Observer = UNOBSERVED
) -> Tiers:
    """`stack` closes what is opened. Raises SandboxUnavailable, InvalidInput."""
    local = _opened(local_executor(settings, store.root, observer), stack)
    trouble = await _trouble_of(local)
    elsewhere = await _open_elsewhere(settings, store, stack, observer.tracer, isolated=trouble is None)
    if elsewhere is None:
        if trouble is not None:
            raise trouble
        return _around(local, local, LocalExecutor.abilities, await local.start(), settings, store, stack)
    abilities, runs = elsewhere
    hello = await runs.start()
    log.info("runs_executed_elsewhere", backend=abilities.name, layers=list(hello.layers))
    if trouble is None:
        return _around(local, runs, abilities, hello, settings, store, stack)
    if not abilities.handles_files:
        raise SandboxUnavailable(
            f"with the backend `{abilities.name}`, texts and files are looked at here, and they cannot be:"
            f" {trouble.message}",
            suggestion="Run the server on a machine with Landlock (Linux 6.2) or user namespaces.",
        )
    return Tiers(runs, runs, runs, NoSessions(abilities.name), hello, abilities.grace_s)


async def open_runs_tier(settings: Settings, store: DataStore, stack: AsyncExitStack) -> Tier:
    """The tier that would execute runs, whether it works or not."""
    local = _opened(local_executor(settings, store.root), stack)
    isolated = await _trouble_of(local) is None
    elsewhere = await _open_elsewhere(settings, store, stack, UNOBSERVED.tracer, isolated=isolated)
    return local if elsewhere is None else elsewhere[1]


def _around(
    local: LocalExecutor,
    runs: Tier,
    abilities: Abilities,
    hello: Hello,
    settings: Settings,
    store: DataStore,
    stack: AsyncExitStack,
) -> Tiers:
    """Texts, files and sessions are handled on this machine, wherever runs are executed."""
    index = _opened(indexing_executor(settings, store), stack)
    return Tiers(runs, local, index, session_host(settings, store, local, stack), hello, abilities.grace_s)


async def _trouble_of(local: LocalExecutor) -> SandboxUnavailable | None:
    try:
        await local.start()
    except SandboxUnavailable as error:
        return error
    return None


async def _open_elsewhere(
    settings: Settings, store: DataStore, stack: AsyncExitStack, tracer: Tracer, *, isolated: bool
) -> tuple[Abilities, Tier] | None:
    """None: runs are executed on this machine. `isolated`: whether this machine has isolation."""
    if settings.backend in _CLASSES:
        return _open(settings.backend, settings, store, stack, tracer)
    if settings.backend != "auto" or (isolated and not settings.prefer_docker):
        return None
    try:
        abilities, docker = _open("docker", settings, store, stack, tracer)
        await docker.start()
    except (SandboxUnavailable, InvalidInput) as error:
        log.info("docker_not_used", reason=error.message)
        return None
    return abilities, docker


def _open(
    name: Elsewhere, settings: Settings, store: DataStore, stack: AsyncExitStack, tracer: Tracer
) -> tuple[Abilities, Tier]:
    chosen = _class(name)
    return chosen.abilities, _opened(chosen.configured(settings, store.root, tracer), stack)


def _opened(tier: T, stack: AsyncExitStack) -> T:
    stack.push_async_callback(tier.aclose)
    return tier


def local_executor(settings: Settings, store: Path, observer: Observer = UNOBSERVED) -> LocalExecutor:
    return LocalExecutor(
        store,
        isolation=settings.isolation,
        parallel=settings.places,
        memory_mb=settings.memory_mb + settings.tmp_mb,
        standby=settings.standby,
        presealed=settings.presealed,
        sessions=settings.max_sessions,
        observer=observer,
    )


def indexing_executor(settings: Settings, store: DataStore) -> LocalExecutor:
    """A separate pool at lower priority: converting a large file never makes a question wait."""
    return LocalExecutor(
        store.root,
        isolation=settings.isolation,
        nice=_INDEXING_NICENESS,
        parallel=_INDEXING_PARALLEL,
        memory_mb=4096,
        standby=0,
        presealed=0,
    )


def _class(name: Elsewhere) -> TierClass:
    try:
        return resolve_name(_CLASSES[name])
    except ImportError as error:
        raise SandboxUnavailable(
            f"the backend `{name}` needs packages that are not installed: {error.name or error}",
            suggestion=f"Install them with `pip install 'sandtable[{name}]'`.",
        ) from error
