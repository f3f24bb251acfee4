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
_FILES = ("limits", "cgroup", "oom_score_adj", "attr/current", "loginuid", "personality", "timerslack_ns")
_LOADING = ("PYTHON", "LD_", "LC_", "LANG", "GLIBC_", "MALLOC_", "OMP_", "OPENBLAS_", "ORT_", "MKL_")
"""Variables that libraries read while they are loaded."""
_PEER = struct.Struct("3i")


def circumstances() -> str:
    """A name for what a forked command would not take from its caller: rights, limits, namespaces, program, libraries.

    A process that waits serves only callers for which this is equal. Raises OSError.
    """
    me = Path("/proc/self")
    status = dict(line.split(":", 1) for line in (me / "status").read_text().splitlines() if ":" in line)
    facts = [
        *(f"{name} {status.get(name, '').strip()}" for name in _STATUS),
        *(_text(me / name) for name in _FILES),
        *(_link(me / "ns" / name) for name in _NAMESPACES),
        _link(me / "root"),
        str((os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0))),
        str((sys.executable, sys.prefix, sys.version, sys.flags, __file__)),
        *sorted(f"{name}={value}" for name, value in read_while_loading().items()),
    ]
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


def is_mine(connection: socket.socket) -> bool:
    """Whether the process at the other end belongs to this user."""
    peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    return _PEER.unpack(peer)[1] == os.geteuid()


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
