"""Whose a container is, written on it so that a later server can tell whether its owner still lives.

Invariant: a container is reaped only when its owner is known to be gone, or when it is older than any could be.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

NAME = "app.kubernetes.io/name"
APP = "sandtable-runner"
INSTANCE = "sandtable.dev/instance"
OWNER = "sandtable.dev/owner"
RUN = "sandtable.dev/run"
WARM = "sandtable.dev/warm"
KIND = "sandtable.dev/kind"


def _world() -> str:
    """Process ids mean the same to those who share a boot of a machine and a process namespace."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    try:
        return f"{boot.read_text().strip()}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        # Not Linux: what this process leaves behind is told by its age alone.
        return f"unknown-{secrets.token_hex(8)}/"


def _born(pid: int) -> str | None:
    """When the process started, in the kernel's own count; None when it is no more."""
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
        """`run` None: it will wait for a job."""
        me = f"{self.world}/{self.pid}/{_born(self.pid)}"
        purpose = {WARM: "true"} if run is None else {RUN: run}
        return {NAME: APP, INSTANCE: self.instance, OWNER: me, KIND: kind, **purpose}

    def knows_gone(self, labels: dict[str, str]) -> bool:
        """Whether the owner of a container with these labels lived where we can look, and is no more."""
        world, _, rest = labels.get(OWNER, "").rpartition("/")
        world, _, pid = world.rpartition("/")
        return world == self.world and pid.isdigit() and _born(int(pid)) != rest
