"""Sealing: how a forked child isolates itself before it reads anything untrusted.

Order matters. Mounts, then identity, then limits, then capabilities, Landlock, and last the system call filter, which
forbids all of the former. The child is still single-threaded: Landlock and seccomp apply to the calling thread and the
ones it starts later.
"""

from __future__ import annotations

import os
import resource
from dataclasses import dataclass
from pathlib import Path

from sandtable_runner import kernel, landlock, root, seccomp
from sandtable_runner.namespaces import NOBODY

_MAX_FILES = 256
_STACK = 8 << 20
_THREAD_SLACK = 16 << 20
_ADDRESS_SLACK = 512 << 20


@dataclass(frozen=True, slots=True)
class Isolation:
    """The isolation that the host supports, found by trying."""

    namespaces: bool
    landlock: int
    root: bool
    scratch: bool = False
    """Without namespaces: whether the container has a space of limited size at /scratch."""

    @property
    def spills(self) -> bool:
        return self.namespaces or self.scratch

    @property
    def layers(self) -> list[str]:
        names = ["user", "mount", "pid", "network", "ipc", "uts", "cgroup"] if self.namespaces else []
        listed = [f"namespace:{name}" for name in names]
        if self.namespaces:
            listed.append("private-root")
        if self.landlock:
            listed.append(f"landlock:{self.landlock}")
        return [
            *listed,
            "seccomp",
            "rlimits",
            "no-new-privileges",
            "no-capabilities",
            f"uid:{NOBODY if self.root else os.getuid()}",
        ]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The template's memory when it was ready: limits are counted on top of it."""

    address_space: int
    data: int

    @classmethod
    def measure(cls) -> Baseline:
        sizes: dict[str, int] = {}
        for line in Path("/proc/self/status").read_text().splitlines():
            key, _, value = line.partition(":")
            if key in ("VmSize", "VmData"):
                sizes[key] = int(value.split()[0]) * 1024
        return cls(sizes["VmSize"], sizes["VmData"])


@dataclass(frozen=True, slots=True)
class Cell:
    """What one sandbox is sealed for."""

    folder: str | None
    """The dataset's folder in the data store, such as `versions/<hash>`."""
    staging: str | None
    memory_mb: int
    tmp_mb: int
    file_mb: int
    cpu_s: int
    pids: int
    sockets: int = 0
    """Listening sockets that the sandbox is given."""
    port: int = 0
    """The one port on its own loopback that it may connect to."""

    @property
    def out(self) -> str:
        """Where an ingest job writes, relative to its data in Landlock-only mode."""
        return f"../../staging/{self.staging}"


def seal(cell: Cell, isolation: Isolation, baseline: Baseline, store_fd: int) -> None:
    """`store_fd` is the data store's folder, used where there is no private root."""
    if isolation.namespaces:
        _close_root(cell, isolation.root)
    else:
        _enter_store(cell, store_fd, isolation.root)
    _limit(cell, baseline)
    if isolation.namespaces:
        # Without namespaces it would count every process of this user, not this sandbox's threads.
        resource.setrlimit(resource.RLIMIT_NPROC, (cell.pids, cell.pids))
    kernel.no_new_privileges()
    kernel.die_with_parent()
    if isolation.landlock:
        _confine(cell, isolation)
    if store_fd >= 0:
        os.close(store_fd)
    kernel.drop_capabilities()
    seccomp.load_filter(
        seccomp.build_filter(
            os.getpid(),
            private_files=isolation.namespaces,
            answering=cell.sockets > 0,
            connecting=cell.port > 0,
        )
    )


def _become_nobody() -> None:
    """Real root only."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    kernel.set_dumpable()


def _close_root(cell: Cell, is_root: bool) -> None:
    me = os.open("/proc/self", os.O_PATH | os.O_DIRECTORY)
    root.show_data(cell.folder, cell.staging)
    if is_root:
        _become_nobody()
    kernel.unshare(kernel.CLONE_NEWUSER)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{NOBODY} {NOBODY} 1"),
        ("gid_map", f"{NOBODY} {NOBODY} 1"),
    ):
        fd = os.open(name, os.O_WRONLY, dir_fd=me)
        os.write(fd, text.encode())
        os.close(fd)
    os.close(me)
    os.chdir("/data")


def _enter_store(cell: Cell, store_fd: int, is_root: bool) -> None:
    os.fchdir(store_fd)
    os.chdir(cell.folder or ".")
    if is_root:
        _become_nobody()


def _limit(cell: Cell, baseline: Baseline) -> None:
    memory = cell.memory_mb << 20
    slack = cell.pids * _THREAD_SLACK
    for what, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_FSIZE, cell.file_mb << 20),
        (resource.RLIMIT_NOFILE, _MAX_FILES),
        (resource.RLIMIT_STACK, _STACK),
        (resource.RLIMIT_AS, baseline.address_space + memory + slack + _ADDRESS_SLACK),
        (resource.RLIMIT_DATA, baseline.data + memory),
    ):
        resource.setrlimit(what, (value, value))
    resource.setrlimit(resource.RLIMIT_CPU, (cell.cpu_s, cell.cpu_s + 1))


def _confine(cell: Cell, isolation: Isolation) -> None:
    readable = [os.open(".", os.O_PATH)] if cell.folder else []
    writable: list[int] = []
    if isolation.namespaces:
        readable += [os.open(f"/dev/{name}", os.O_PATH) for name in ("null", "zero", "urandom")]
    if isolation.spills and cell.tmp_mb:
        writable.append(os.open("/scratch", os.O_PATH))
    if cell.staging:
        writable.append(os.open("/out" if isolation.namespaces else cell.out, os.O_PATH))
    landlock.restrict(isolation.landlock, readable, writable, [cell.port] if cell.port else [])
    for fd in (*readable, *writable):
        os.close(fd)
