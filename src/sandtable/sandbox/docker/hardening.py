"""Privileges and limits of a container: the strictest that the engine supports.

Invariant: every container of ours is made from `specification`. Nothing in it is ever loosened; what an engine cannot
limit is left out and listed in the tier's reasons.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from sandtable.sandbox.executor import Kind
from sandtable_runner import environment

USER = "65532:65532"
STORE = "/data"
_BASE_MB: dict[Kind, int] = {"sql": 384, "py": 1024, "jupyter": 1024}
"""Memory of the runner itself, beside what the job may use."""
_SPARE_PIDS = 8
_MOST_FILES = 1024
_MOST_OF_USER = 4096
_DEATH_BEFORE_US = 500
"""When memory runs out, containers are killed before other processes of the machine."""


@dataclass(frozen=True, slots=True)
class Mount:
    source: str
    """Path on the engine's host."""
    target: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Size:
    memory_mb: int
    tmp_mb: int
    pids: int
    threads: int


@dataclass(frozen=True, slots=True)
class Able:
    """What this engine can limit, and how it may run containers."""

    memory: bool = True
    swap: bool = True
    pids: bool = True
    cpus: int = 1
    """How many the engine has; 0 when their use cannot be limited."""
    runtime: str | None = None

    @property
    def reasons(self) -> tuple[str, ...]:
        """What the engine cannot limit."""
        lacking = [
            name
            for name, able in (
                ("memory", self.memory),
                ("processes", self.pids),
                ("processor time", bool(self.cpus)),
            )
            if not able
        ]
        if not lacking:
            return ()
        return (f"the engine cannot limit a container's {', '.join(lacking)}: the runner's own limits hold",)


def specification(
    image: str,
    config: dict[str, Any],
    *,
    kind: Kind,
    size: Size,
    mounts: tuple[Mount, ...],
    able: Able,
    labels: dict[str, str],
) -> dict[str, Any]:
    """The body of a create call. `config` is the runner's one argument."""
    return {
        "Image": image,
        "Cmd": [json.dumps(config, separators=(",", ":"))],
        "User": USER,
        "Env": [f"{name}={value}" for name, value in environment.SQL.items()],
        "WorkingDir": "/",
        "Hostname": "sandbox",
        "Labels": labels,
        "Tty": False,
        "OpenStdin": True,
        # When the server ends, the container's input ends, and then the container.
        "StdinOnce": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "NetworkDisabled": True,
        "StopSignal": "SIGKILL",
        "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": {
            "AutoRemove": True,
            "NetworkMode": "none",
            "ReadonlyRootfs": True,
            "CapDrop": ["ALL"],
            "CapAdd": [],
            "Privileged": False,
            # No `seccomp=` here: the engine's default profile stays.
            "SecurityOpt": ["no-new-privileges"],
            "IpcMode": "none",
            "CgroupnsMode": "private",
            "Devices": [],
            "Init": False,
            "OomScoreAdj": _DEATH_BEFORE_US,
            "RestartPolicy": {"Name": "no"},
            # Results must not be logged.
            "LogConfig": {"Type": "none"},
            "Mounts": [_mount(mount) for mount in mounts],
            "Ulimits": [
                {"Name": "core", "Soft": 0, "Hard": 0},
                {"Name": "nofile", "Soft": _MOST_FILES, "Hard": _MOST_FILES},
                {"Name": "memlock", "Soft": 0, "Hard": 0},
                # For all containers of this user together, unless the engine maps users. `PidsLimit` is per container.
                {"Name": "nproc", "Soft": _MOST_OF_USER, "Hard": _MOST_OF_USER},
            ],
            **_space(size),
            **_limits(kind, size, able),
            **({"Runtime": able.runtime} if able.runtime else {}),
        },
    }


def _mount(mount: Mount) -> dict[str, Any]:
    return {
        "Type": "bind",
        "Source": mount.source,
        "Target": mount.target,
        "ReadOnly": not mount.writable,
        "BindOptions": {"Propagation": "rprivate"},
    }


def _space(size: Size) -> dict[str, Any]:
    if not size.tmp_mb:
        return {}
    return {"Tmpfs": {"/scratch": f"rw,noexec,nosuid,nodev,size={size.tmp_mb}m,mode=1777"}}


def _limits(kind: Kind, size: Size, able: Able) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    if able.memory:
        # Files in the scratch space are memory too.
        limits["Memory"] = (size.memory_mb + size.tmp_mb + _BASE_MB[kind]) << 20
        if able.swap:
            limits["MemorySwap"] = limits["Memory"]
    if able.pids:
        limits["PidsLimit"] = size.pids + _SPARE_PIDS
    if able.cpus:
        limits["NanoCpus"] = min(size.threads, able.cpus) * 1_000_000_000
    return limits


def mounts_of(store: str | None, folder: str | None, staging: str | None) -> tuple[Mount, ...]:
    """The job's data, and nothing else of the store. `store` None: the image has the data."""
    mounts: list[Mount] = []
    if folder and store is not None:
        mounts.append(Mount(_inside(store, folder), _inside(STORE, folder)))
    if staging:
        if store is None:
            raise ValueError("a job that writes needs the data store, not an image with data")
        place = f"staging/{staging}"
        mounts.append(Mount(_inside(store, place), _inside(STORE, place), writable=True))
    return tuple(mounts)


def _inside(root: str, path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or any(part in ("..", "/") for part in parts):
        raise ValueError(f"{path!r} is no place in the data store")
    return str(PurePosixPath(root, *parts))
