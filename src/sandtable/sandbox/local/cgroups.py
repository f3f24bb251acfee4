"""A control group around a template and all its sandboxes, where this process may create one.

Each sandbox already has its own limits; the group caps their sum, so that a full pool cannot take the machine's memory.
Version 2 and version 1 hierarchies; None where neither can be written.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

_MOUNT = Path("/sys/fs/cgroup")
_SWEPT_AFTER_S = 60.0


@dataclass(frozen=True, slots=True)
class ResourceGroup:
    folders: tuple[Path, ...]

    def remove(self) -> None:
        """Call after its processes are gone. A group that cannot be removed is empty and harmless."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                folder.rmdir()


def enclose(pid: int, *, memory_bytes: int, pids: int) -> ResourceGroup | None:
    """Put the process, and all it will fork, into its own group."""
    name = f"sandtable-{os.getpid()}-{pid}"
    unified, controllers = _own_groups()
    if unified is not None:
        made = _make(
            unified / name, pid, {"memory.max": memory_bytes, "memory.swap.max": 0, "pids.max": pids}
        )
        if made:
            return ResourceGroup((made,))
    folders = [
        made
        for controller, settings in (
            ("memory", {"memory.limit_in_bytes": memory_bytes}),
            ("pids", {"pids.max": pids}),
        )
        if controller in controllers and (made := _make(controllers[controller] / name, pid, settings))
    ]
    return ResourceGroup(tuple(folders)) if folders else None


def _own_groups() -> tuple[Path | None, dict[str, Path]]:
    """This process's group in the version 2 tree, and in each version 1 tree by controller."""
    unified: Path | None = None
    controllers: dict[str, Path] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, names, path = line.split(":", 2)
            if not names:
                unified = _MOUNT / path.lstrip("/")
            for name in names.split(","):
                controllers[name] = _MOUNT / name / path.lstrip("/")
    return unified, controllers


def _make(folder: Path, pid: int, settings: dict[str, int]) -> Path | None:
    _sweep(folder.parent)
    try:
        folder.mkdir()
    except OSError:
        return None
    try:
        for name, value in settings.items():
            if not (folder / name).exists():
                if name == "memory.swap.max":
                    continue
                raise FileNotFoundError(name)
            (folder / name).write_text(str(value))
        (folder / "cgroup.procs").write_text(str(pid))
    except OSError:
        with contextlib.suppress(OSError):
            folder.rmdir()
        return None
    return folder


def _sweep(parent: Path) -> None:
    """Remove groups of servers that were killed. Only an empty group can be removed, and a young one may be about to
    get its process."""
    oldest = time.time() - _SWEPT_AFTER_S
    for group in parent.glob("sandtable-*-*"):
        with contextlib.suppress(OSError):
            if group.stat().st_mtime < oldest:
                group.rmdir()
