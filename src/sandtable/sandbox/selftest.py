"""The doctor: what isolation a tier gives, layer by layer, proved by real escape attempts from inside."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from pathlib import Path

from sandtable.catalog.stored.store import BAIT
from sandtable.errors import Problem, SandboxUnavailable
from sandtable.sandbox.executor import Tier
from sandtable.sandbox.job import Job, JobResult, Limits

_LIMITS = Limits(wall_ms=20_000, cpu_s=10, memory_mb=256, tmp_mb=16, rows=0)
_LAYERS = {
    "namespace:user": "root inside means nothing outside",
    "namespace:mount": "its own file tree",
    "namespace:pid": "sees no other process",
    "namespace:network": "no network interface at all",
    "namespace:ipc": "no shared memory with others",
    "namespace:uts": "its own host name",
    "namespace:cgroup": "its own view of resource groups",
    "private-root": "an almost empty root: no /etc, /usr, /home",
    "landlock": "opens only its data and scratch, whatever else happens",
    "seccomp": "system calls by allow list: no sockets, processes, programs",
    "rlimits": "memory, processor time, files, threads",
    "no-new-privileges": "cannot gain rights by starting a program",
    "no-capabilities": "no special right of root",
    "cgroup": "memory and processes of all sandboxes together are capped",
}

_AROUND = {
    "container:docker": "a container of its own for every run",
    "container:podman": "a container of its own for every run",
    "container:kubernetes": "a Job and a pod of its own for every run",
    "remote": "a service of its own executes runs",
    "network:none": "the container has no network",
    "read-only-root": "nothing in the container can be changed",
    "cap-drop:all": "no special right of root in the container",
    "engine-seccomp": "the container engine's own system call filter",
    "rootless-engine": "the container engine itself has no right of root",
    "runtime:runsc": "a kernel of its own (gVisor) between the run and the machine",
    "pod-security:restricted": "as Kubernetes' strictest pod standard has it",
}
"""Isolation layers around those that a sandbox sets up itself."""


@dataclass(frozen=True, slots=True)
class Layer:
    name: str
    active: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Attempt:
    name: str
    escaped: bool
    detail: str


@dataclass(frozen=True, slots=True)
class DoctorReport:
    layers: tuple[Layer, ...]
    attempts: tuple[Attempt, ...]
    engine: str
    reasons: tuple[str, ...]
    """Why a stronger isolation is not used here."""
    problem: Problem | None

    @property
    def ok(self) -> bool:
        return self.problem is None


async def examine(executor: Tier, store: Path) -> DoctorReport:
    try:
        hello = await executor.start()
    except SandboxUnavailable as error:
        reasons = tuple(error.details.get("reasons", ()))
        return DoctorReport(_layers(()), (), "", reasons, error.problem)
    version = _place_bait(store)
    job = Job(id=f"probe_{secrets.token_hex(8)}", mode="probe", dataset_version=version, limits=_LIMITS)
    await executor.submit(job)
    result = await executor.result(job.id)
    attempts = tuple(Attempt(a["name"], a["escaped"], a["detail"]) for a in result.output.get("attempts", []))
    layers = _layers(hello.layers)
    return DoctorReport(layers, attempts, hello.engine, hello.reasons, _problem(result, attempts))


def _place_bait(store: Path) -> str:
    """A data folder as a target for the attempts; no dataset is put at risk. Empty where nothing can be written."""
    name = hashlib.sha256(b"sandtable self-test").hexdigest()
    folder = store / "versions" / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        bait = folder / BAIT
        bait.write_bytes(b"untouched")
        bait.chmod(0o644)
    except OSError:
        return ""
    return f"sha256:{name}"


def _layers(active: tuple[str, ...]) -> tuple[Layer, ...]:
    """`active` may carry a value after the layer's name, such as `landlock:7`."""
    found: list[Layer] = []
    for name, detail in _LAYERS.items():
        match = next((entry for entry in active if entry == name or entry.startswith(name + ":")), None)
        version = match.removeprefix(name).lstrip(":") if match else ""
        found.append(Layer(name, match is not None, f"{detail} (version {version})" if version else detail))
    around = [Layer(name, True, _AROUND[name]) for name in active if name in _AROUND]
    return (*around, *found)


def _problem(result: JobResult, attempts: tuple[Attempt, ...]) -> Problem | None:
    escaped = [attempt.name for attempt in attempts if attempt.escaped]
    if escaped:
        message = f"the self-test got out of the sandbox: {', '.join(escaped)}"
    elif result.status != "succeeded" or not attempts:
        message = f"the self-test did not finish: {result.error.message if result.error else result.status}"
    else:
        return None
    error = SandboxUnavailable(
        message, suggestion="Do not run untrusted queries here; use another machine or back end"
    )
    return error.problem
