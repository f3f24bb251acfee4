"""Which isolation this host supports: found by trying it in a throw-away process, never by reading a setting."""

from __future__ import annotations

import os

from sandtable_runner import kernel, landlock, root, seal
from sandtable_runner.namespaces import enter_namespaces
from sandtable_runner.syscalls import MACHINE, SUPPORTED

# Older ones do not mediate truncation: without a read-only mount, a job could empty its user's files.
_LANDLOCK_ALONE = 3
SCRATCH = "/scratch"


def _too_little_landlock(version: int) -> str:
    if not version:
        return "landlock: this kernel has none, or has it switched off"
    return f"landlock: version {version} does not stop truncation; version {_LANDLOCK_ALONE} (Linux 6.2) does"


def probe_host(
    store: str, *, allow_namespaces: bool, contained: bool = False
) -> tuple[seal.Isolation | None, list[str]]:
    """The strongest isolation that works here, or None; and why a stronger one does not.

    `contained`: this process runs in a container that holds this job's data and nothing else. The container counts as a
    layer, so the system call filter and limits are enough where the kernel lacks the rest.
    """
    if MACHINE not in SUPPORTED:
        return None, [f"no system call filter for {MACHINE}; supported: {', '.join(SUPPORTED)}"]
    version = landlock.abi()
    kinds = [(True, version), (False, version)] if allow_namespaces else [(False, version)]
    reasons = [] if allow_namespaces else ["namespaces: switched off by configuration"]
    if contained and version:
        kinds.append((False, 0))
    scratch = contained and is_scratch(SCRATCH)
    for namespaces, landlock_version in kinds:
        if not contained and not namespaces and version < _LANDLOCK_ALONE:
            reasons.append(_too_little_landlock(version))
            continue
        isolation = seal.Isolation(
            namespaces=namespaces, landlock=landlock_version, root=os.geteuid() == 0, scratch=scratch
        )
        problem = _try(isolation, store)
        if problem is None:
            if not namespaces and not version:
                reasons.append(_too_little_landlock(version))
            return isolation, reasons
        what = "namespaces" if namespaces else "landlock and seccomp" if landlock_version else "seccomp"
        reasons.append(f"{what}: {problem}")
    return None, reasons


def is_scratch(path: str) -> bool:
    """Whether it is a separate, writable mount, whose size the container limits."""
    return os.path.ismount(path) and os.access(path, os.W_OK)


def _try(isolation: seal.Isolation, store: str) -> str | None:
    """Seal a real child; returns its error, or None."""
    read, write = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        message = b""
        try:
            kernel.die_with_parent(parent)
            _seal_once(isolation, store)
            message = b"ok"
        except OSError as error:
            message = str(error).encode()
        finally:
            os.write(write, message)
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        message = pipe.read()
    os.waitpid(pid, 0)
    return None if message == b"ok" else message.decode() or "the trial process died"


def _seal_once(isolation: seal.Isolation, store: str) -> None:
    store_fd = -1
    if isolation.namespaces:
        enter_namespaces(store, isolation.root)
        kernel.unshare(kernel.CLONE_NEWNS)
        root.add_scratch(1)
    else:
        store_fd = os.open(store, os.O_PATH | os.O_DIRECTORY)
    cell = seal.Cell(folder=None, staging=None, memory_mb=256, tmp_mb=1, file_mb=1, cpu_s=10, pids=8)
    seal.seal(cell, isolation, seal.Baseline.measure(), store_fd)
