"""System calls that Python's standard library lacks, through libc.

Every wrapper raises OSError naming the call and its subject; none returns an error code.
"""

from __future__ import annotations

import ctypes
import os
import struct

from sandtable_runner.syscalls import NUMBER

_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 4096, 16384, 1 << 18
MNT_DETACH = 2

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 4, 24
_PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_LAST_CAP = 63

# Built once: a forked child must not spend time on allocation here.
_CAP_HEADER = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0))
_CAP_NONE = ctypes.create_string_buffer(24)


def checked(code: int, what: str) -> int:
    if code < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return code


def syscall(name: str, *args: object) -> int:
    return checked(_syscall(NUMBER[name], *args), name)


def syscall_raw(name: str, *args: object) -> int:
    """For probes: the plain return value, negative on failure."""
    return _syscall(NUMBER[name], *args)


def unshare(flags: int) -> None:
    checked(_libc.unshare(flags), f"unshare({flags:#x})")


def setns(fd: int, kind: int) -> None:
    checked(_libc.setns(fd, kind), "setns")


def mount(source: str | None, target: str, kind: str | None, flags: int = 0, data: str | None = None) -> None:
    encoded = [None if part is None else part.encode() for part in (source, target, kind, data)]
    code = _libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3])
    checked(code, f"mount {source} on {target}")


def bind(source: str, target: str, *, recursive: bool = False) -> None:
    mount(source, target, None, MS_BIND | (MS_REC if recursive else 0))


def make_read_only(path: str, *, noexec: bool = False, recursive: bool = True) -> None:
    attributes = MS_RDONLY | MS_NOSUID | MS_NODEV | (MS_NOEXEC if noexec else 0)
    _set_mount_attributes(path, attributes, recursive)


def make_unchangeable(path: str) -> None:
    """For a device: it stays usable, and its times and mode cannot change."""
    _set_mount_attributes(path, MS_RDONLY, recursive=False)


def make_inert(path: str) -> None:
    """Writable, but without set-uid, devices or execution."""
    _set_mount_attributes(path, MS_NOSUID | MS_NODEV | MS_NOEXEC, recursive=False)


def _set_mount_attributes(path: str, attributes: int, recursive: bool) -> None:
    attr = ctypes.create_string_buffer(struct.pack("QQQQ", attributes, 0, 0, 0))
    flags = _AT_RECURSIVE if recursive else 0
    syscall("mount_setattr", _AT_FDCWD, path.encode(), flags, attr, ctypes.c_size_t(32))


def pivot_root(new: str, old: str) -> None:
    syscall("pivot_root", new.encode(), old.encode())


def unmount(path: str) -> None:
    checked(_libc.umount2(path.encode(), MNT_DETACH), f"umount {path}")


def set_hostname(name: str) -> None:
    checked(_libc.sethostname(name.encode(), len(name)), "sethostname")


def _prctl(option: int, first: int = 0, second: int = 0) -> int:
    args = [ctypes.c_ulong(value) for value in (first, second, 0, 0)]
    return checked(_libc.prctl(option, *args), f"prctl({option})")


def die_with_parent(parent: int | None = None) -> None:
    """`parent`: its process id, where this process can see it. If the parent is gone already, the kernel sends no
    signal: this process ends at once. The kernel counts the end of the thread that created this process as the
    parent's."""
    _prctl(_PR_SET_PDEATHSIG, 9)
    if parent is not None and os.getppid() != parent:
        os._exit(0)


def set_dumpable() -> None:
    """Call after a uid change, so that /proc/self belongs to this user again."""
    _prctl(_PR_SET_DUMPABLE, 1)


def hide_memory() -> None:
    """Keep other processes of the same user from tracing this one or opening its memory."""
    _prctl(_PR_SET_DUMPABLE, 0)


def no_new_privileges() -> None:
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_bounding_set() -> None:
    """Capabilities can then not be regained, even by a program with file capabilities. Needs CAP_SETPCAP."""
    for capability in range(_LAST_CAP + 1):
        try:
            _prctl(_PR_CAPBSET_DROP, capability)
        except OSError:
            if capability == 0:
                raise
            return


def drop_capabilities() -> None:
    _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    syscall("capset", _CAP_HEADER, _CAP_NONE)


def close_all_from(first: int) -> None:
    syscall("close_range", ctypes.c_uint(first), ctypes.c_uint(0xFFFFFFFF), 0)


def close_everything() -> None:
    """Call before `_exit`: the reader must not wait until the kernel has freed this process's memory."""
    close_all_from(0)


def give_back_free_memory() -> None:
    """Return free heap memory to the kernel: a child that reused it after a fork would have to copy its pages."""
    # glibc only; other C libraries keep less.
    if trim := getattr(_libc, "malloc_trim", None):
        trim(0)
