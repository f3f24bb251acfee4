"""One container engine: its facts, its abilities, and its containers. Facts are read again after the engine went away.

Invariant: containers that a dead server left on this engine are removed before this server creates its first one. A
container is removed only when its owner is known to be gone (labels name the owner), or when it is older than any
container gets.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import json
import os
import re
import secrets
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog

from sandtable.errors import SandboxUnavailable
from sandtable.observing import UNOBSERVED, Tracer
from sandtable.retrying import Backoff, retried
from sandtable.sandbox.docker import trouble
from sandtable.sandbox.docker.api import NEWEST, OLDEST, Api, EngineAway, EngineRefused
from sandtable.sandbox.docker.container import Container, ContainerLost
from sandtable.sandbox.docker.hardening import STORE, Able, Mount, Size, specification
from sandtable.sandbox.executor import Kind

NAME = "app.kubernetes.io/name"
APP = "sandtable-runner"
INSTANCE = "sandtable.dev/instance"
OWNER = "sandtable.dev/owner"
RUN = "sandtable.dev/run"
WARM = "sandtable.dev/warm"
KIND = "sandtable.dev/kind"

WAIT_S = 7 * 24 * 3600
"""How long a container waits for its job. It ends sooner when this server does."""
_UNSTARTED_S = 600
_RESTARTING = Backoff((0.25,))
_NOT_FOUND, _CONFLICT = 404, 409
_OLDEST_S = 24 * 3600 + WAIT_S
_FRACTION = re.compile(r"\.\d+")
_VERSION = re.compile(r"(\d+)\.(\d+)")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """What an engine reports about itself."""

    name: str
    able: Able
    layers: tuple[str, ...]
    reasons: tuple[str, ...]


def _world() -> str:
    """Identifies this boot and process namespace: process ids are comparable only within them."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    try:
        return f"{boot.read_text().strip()}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        # Not Linux: containers that this process leaves behind are recognised by age alone.
        return f"unknown-{secrets.token_hex(8)}/"


def _born(pid: int) -> str | None:
    """The process's start time in clock ticks; None when it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


@dataclass(frozen=True, slots=True)
class Owner:
    instance: str = field(default_factory=lambda: secrets.token_hex(6))
    world: str = field(default_factory=_world)
    pid: int = field(default_factory=os.getpid)

    def labels(self, run: str | None, kind: str) -> dict[str, str]:
        """`run` None: the container will wait for a job."""
        me = f"{self.world}/{self.pid}/{_born(self.pid)}"
        purpose = {WARM: "true"} if run is None else {RUN: run}
        return {NAME: APP, INSTANCE: self.instance, OWNER: me, KIND: kind, **purpose}

    def knows_gone(self, labels: dict[str, str]) -> bool:
        """Whether the owner of a container with these labels lived in this process namespace, and has ended."""
        world, _, rest = labels.get(OWNER, "").rpartition("/")
        world, _, pid = world.rpartition("/")
        return world == self.world and pid.isdigit() and _born(int(pid)) != rest


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a container is for."""

    kind: Kind
    size: Size
    mounts: tuple[Mount, ...]
    ready: dict[str, Any]
    run: str | None
    """The run of its job; None when it will wait for one."""
    tracer: Tracer = UNOBSERVED.tracer


class Engine:
    def __init__(self, path: str, *, image: str, runtime: str | None, store: str) -> None:
        self.api = Api(path)
        self.owner = Owner()
        self._image = image
        self._code_image: str | None = None
        self._runtime = runtime
        self._store = store
        self._facts: EngineFacts | None = None
        self._was_there = False
        self._asking = asyncio.Lock()
        self._removals: set[asyncio.Task[None]] = set()

    async def facts(self) -> EngineFacts:
        """Raises SandboxUnavailable; ContainerLost if the engine had answered before."""
        async with self._asking:
            if self._facts is None:
                try:
                    self._facts = await self._ask_facts()
                    await self.reap()
                except (EngineAway, EngineRefused) as error:
                    raise self._trouble(error) from error
            self._was_there = True
            return self._facts

    async def container(self, wanted: Wanted) -> Container:
        """Started and ready. Raises SandboxUnavailable, and ContainerLost."""
        facts = await self.facts()
        image = self._image if wanted.kind == "sql" else await self._image_for_code()
        nonce = secrets.token_hex(16)
        config = {
            "store": STORE, "kind": wanted.kind, "input": "stdin", "nonce": nonce, "wait_s": WAIT_S,
            "leash": True, "ready": wanted.ready,
        }  # fmt: skip
        body = specification(
            image, config, kind=wanted.kind, size=wanted.size, mounts=wanted.mounts,
            able=facts.able, labels=self.owner.labels(wanted.run, wanted.kind),
        )  # fmt: skip
        try:
            container = await Container.launch(
                self.api, body, nonce=nonce, later=self.later, tracer=wanted.tracer
            )
        except (EngineAway, EngineRefused) as error:
            # The next container reads the engine's facts again.
            self._facts = None
            raise self._trouble(error) from error
        try:
            with wanted.tracer.span("container.ready"):
                await container.get_ready()
        except BaseException as error:
            container.dispose()
            if isinstance(error, ContainerLost):
                self._facts = None
            raise
        return container

    async def _image_for_code(self) -> str:
        """The image with Python's libraries, if it exists; otherwise the configured image must have them."""
        if self._code_image is None:
            other = with_python(self._image)
            self._code_image = other if other and await self._has(other) else self._image
        return self._code_image

    async def _has(self, image: str) -> bool:
        try:
            await self.api.get(f"/images/{image}/json")
        except EngineRefused as refused:
            if refused.status == _NOT_FOUND:
                return False
            raise self._trouble(refused) from refused
        except EngineAway as away:
            raise self._trouble(away) from away
        return True

    def _trouble(self, error: EngineAway | EngineRefused) -> SandboxUnavailable | ContainerLost:
        """An engine that answered before may come back; one that never did needs its operator."""
        found = trouble.unavailable(error, image=self._image, store=self._store)
        return ContainerLost(found) if isinstance(error, EngineAway) and self._was_there else found

    async def _ask_facts(self) -> EngineFacts:
        version = await self.api.version()
        self.api.use_version(_agreed(version))
        info = await self.api.describe("/info")
        if not await self._has(self._image):
            raise trouble.image_missing(self._image)
        names = [str(entry.get("Name", "")) for entry in version.get("Components") or ()]
        name = "podman" if any("podman" in entry.lower() for entry in names) else "docker"
        self._check_runtime(name, info)
        able = Able(
            memory=bool(info.get("MemoryLimit", True)),
            swap=bool(info.get("SwapLimit", True)),
            pids=bool(info.get("PidsLimit", True)),
            cpus=int(info.get("NCPU") or 1) if info.get("CpuCfsQuota", True) else 0,
            runtime=self._runtime,
        )
        options = [str(option) for option in info.get("SecurityOptions") or ()]
        return EngineFacts(name, able, _layers(name, able, options), (*able.reasons, *_warnings(options)))

    def _check_runtime(self, engine: str, info: dict[str, Any]) -> None:
        """Docker accepts a runtime per container. Podman silently ignores it: the runtime must be Podman's default."""
        known = [info.get("DefaultRuntime")] if engine == "podman" else list(info.get("Runtimes") or ())
        if self._runtime and self._runtime not in known:
            raise trouble.no_runtime(self._runtime, engine)

    async def back(self, within_s: float) -> None:
        """Wait until an engine that went away answers, at most `within_s` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await retried(
                    lambda: self.api.get("/_ping"), on=(EngineAway, EngineRefused), backoff=_RESTARTING
                )

    async def reap(self) -> None:
        """Remove containers whose server is gone. Those of living servers, this one included, are kept."""
        label = json.dumps({"label": [f"{NAME}={APP}"]})
        found = await self.api.get("/containers/json", all="true", filters=label)
        now = _moment((await self.api.describe("/info")).get("SystemTime"))
        for entry in found or ():
            labels = entry.get("Labels") or {}
            if self.owner.knows_gone(labels) or _is_too_old(entry, now):
                log.info("container_reaped", container=entry["Id"][:12], state=entry.get("State"))
                try:
                    await self.api.call("DELETE", f"/containers/{entry['Id']}", force="true", v="true")
                except EngineRefused as refused:
                    if refused.status not in (_NOT_FOUND, _CONFLICT):
                        raise

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name="remove container")
        self._removals.add(task)
        task.add_done_callback(self._removals.discard)

    async def aclose(self) -> None:
        """Waits until disposed containers are removed."""
        while self._removals:
            await asyncio.gather(*self._removals, return_exceptions=True)
        await self.api.aclose()


def with_python(image: str) -> str | None:
    """`sandtable-runner:dev` → `sandtable-runner-python:dev`. None for an image that is named by its digest."""
    name, colon, tag = image.rpartition(":")
    if "@" in image:
        return None
    if not colon or "/" in tag:
        name, tag = image, ""
    return None if name.endswith("-python") else f"{name}-python{colon if tag else ''}{tag}"


def _agreed(version: dict[str, Any]) -> tuple[int, int]:
    spoken, least = (_number(version.get(name)) for name in ("ApiVersion", "MinAPIVersion"))
    if spoken is None or spoken < OLDEST or (least is not None and least > NEWEST):
        raise trouble.wrong_version(str(version.get("ApiVersion") or ""))
    return min(spoken, NEWEST)


def _number(text: object) -> tuple[int, int] | None:
    found = _VERSION.fullmatch(str(text))
    return (int(found[1]), int(found[2])) if found else None


def _layers(name: str, able: Able, options: list[str]) -> tuple[str, ...]:
    layers = [f"container:{name}", "network:none", "read-only-root", "cap-drop:all"]
    if able.runtime:
        layers.append(f"runtime:{able.runtime}")
    if any("rootless" in option for option in options):
        layers.append("rootless-engine")
    if any("seccomp" in option and "unconfined" not in option for option in options):
        layers.append("engine-seccomp")
    if able.memory and able.pids:
        layers.append("cgroup")
    return tuple(layers)


def _warnings(options: list[str]) -> tuple[str, ...]:
    if any("seccomp" in option and "unconfined" not in option for option in options):
        return ()
    return ("the engine has no system call filter of its own: the runner's holds",)


def _is_too_old(entry: dict[str, Any], now: float | None) -> bool:
    """For owners in other process namespaces: unstarted for too long, or older than any container of ours gets."""
    if now is None or not isinstance(entry.get("Created"), int):
        return False
    age = now - entry["Created"]
    return age > (_OLDEST_S if entry.get("State") in ("running", "paused") else _UNSTARTED_S)


def _moment(text: object) -> float | None:
    """Parses the engine's clock, which need not agree with ours."""
    try:
        return dt.datetime.fromisoformat(_FRACTION.sub("", str(text))).timestamp()
    except ValueError:
        return None
