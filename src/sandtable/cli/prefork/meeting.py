"""Where a command and the process that waits for it find each other, and what both must have in common.

Only the standard library is imported here: this runs before a command loads anything else.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import socket
import stat
import struct
import sys
from pathlib import Path

BRIEF = frozenset({"ask", "run", "datasets", "schema", "check", "runs", "verify", "key"})
"""Commands that end soon."""

_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts")
_STATUS = (
    "Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp",
    "Seccomp_filters", "Cpus_allowed", "Mems_allowed",
)  # fmt: skip
_FILES = ("limits", "cgroup", "oom_score_adj", "attr/current", "loginuid")
_LOADING = ("PYTHON", "LD_", "LC_", "LANG", "GLIBC_", "MALLOC_", "OMP_", "OPENBLAS_", "ORT_", "MKL_")
"""Variables that libraries read while they are loaded."""
PROOF_FD, PROOF_BYTES = 100, 32
"""The descriptor under which the process that waits keeps random bytes. By way of `/proc`, the kernel opens it only for
a caller who may look into that process: not for one with fewer capabilities, or within Landlock."""
_PEER = struct.Struct("3i")


def circumstances() -> str:
    """A name for what a forked command would not take from its caller: rights, limits, namespaces, program, libraries.

    A process that waits serves only callers for which this is equal. Raises OSError.
    """
    program = [
        str((sys.executable, sys.prefix, sys.version, sys.flags, __file__)),
        *sorted(f"{name}={value}" for name, value in read_while_loading().items()),
    ]
    return _digest([rights_of(os.getpid()), *program])


def rights_of(process: int) -> str:
    """What the kernel says of a process: its rights, limits and namespaces. Raises OSError."""
    place = Path(f"/proc/{process}")
    status = dict(line.split(":", 1) for line in (place / "status").read_text().splitlines() if ":" in line)
    return _digest(
        [
            *(f"{name} {status.get(name, '').strip()}" for name in _STATUS),
            *(_text(place / name) for name in _FILES),
            *(_link(place / "ns" / name) for name in _NAMESPACES),
            _place(place / "root"),
            str((os.getpriority(os.PRIO_PROCESS, process), os.sched_getscheduler(process))),
        ]
    )


def _digest(facts: list[str]) -> str:
    return hashlib.sha256("\0".join(facts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def read_while_loading() -> dict[str, str]:
    """The variables of this process that libraries may have read while they were loaded."""
    return {name: value for name, value in os.environ.items() if name.startswith(_LOADING)}


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="surrogateescape")
    except OSError:
        return ""  # Not every kernel has it; what is missing is missing for both.


def _link(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""


def _place(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return ""
    return f"{found.st_dev} {found.st_ino}"


def folder() -> Path:
    """A folder of this user alone, for sockets. Raises OSError."""
    mine = os.geteuid()
    system = Path(f"/run/user/{mine}")
    path = system / "sandtable" if is_private(system) else Path(f"/tmp/sandtable-{mine}")  # noqa: S108 - refused below unless it is this user's alone
    path.mkdir(mode=0o700, exist_ok=True)
    if not is_private(path):
        raise PermissionError(f"{path} does not belong to this user alone")
    return path


def is_private(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return (
        stat.S_ISDIR(found.st_mode)
        and found.st_uid == os.geteuid()
        and not stat.S_IMODE(found.st_mode) & 0o077
    )


def peer_of(connection: socket.socket) -> int:
    """The process at the other end. Raises PermissionError if it is another user's."""
    peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    process, user, _ = _PEER.unpack(peer)
    if user != os.geteuid():
        raise PermissionError("a process of another user")
    return process


def proof_of(process: int) -> bytes:
    """Raises OSError where this process may not look into that one."""
    return Path(f"/proc/{process}/fd/{PROOF_FD}").read_bytes()


def lock(circumstances: str) -> int | None:
    """A descriptor that makes this process the only one that waits for callers of these circumstances; None where
    another is. Raises OSError."""
    descriptor = os.open(folder() / f"{circumstances}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def is_there(circumstances: str) -> bool:
    """Whether a process waits, or is loading what it needs. Raises OSError."""
    descriptor = lock(circumstances)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False
