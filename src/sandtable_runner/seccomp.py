"""The system call allow list, as a BPF program without libseccomp.

Invariant: what is not named here fails with EPERM. Threads may be created; processes, sockets, programs, namespaces,
mounts, keys, tracing and shared memory may not. A Jupyter kernel answers on listening sockets that it was given; it can
neither create nor connect one. The driver of a database may create TCP sockets and connect them, and nothing else may:
its network namespace decides where they lead.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from functools import cache

from sandtable_runner.kernel import syscall
from sandtable_runner.syscalls import MACHINE, NUMBER

_ALLOWED = """
read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek open openat close
close_range fstat stat lstat newfstatat statx statfs fstatfs access faccessat faccessat2 readlink
readlinkat getdents64 mkdir mkdirat unlink unlinkat rmdir rename renameat renameat2 ftruncate truncate
fallocate fsync fdatasync sync_file_range fadvise64 dup dup2 dup3 pipe2 getcwd chdir fchdir
umask copy_file_range sendfile munmap mremap madvise brk mincore membarrier msync futex_waitv
set_robust_list get_robust_list rseq set_tid_address arch_prctl sched_yield sched_getaffinity
sched_getscheduler sched_getparam sched_get_priority_max sched_get_priority_min getcpu
nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times getrusage getrandom uname
sysinfo getpid getppid gettid getuid geteuid getgid getegid getresuid getresgid getgroups getpgid getpgrp
getsid capget getpriority rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait
rt_sigsuspend sigaltstack pause alarm setitimer getitimer restart_syscall exit exit_group wait4 waitid
epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 poll ppoll select pselect6 eventfd2
timerfd_create timerfd_settime timerfd_gettime getrlimit
""".split()
# Landlock does not mediate these: they are safe only where the mount tree is private.
_METADATA = ("chmod", "fchmod", "fchmodat", "utimensat")
# With listening sockets: accept a connection, and use it.
_ANSWERING = ("accept4", "getsockname", "recvfrom")
_CONNECTING = tuple("connect getsockopt setsockopt getsockname getpeername recvfrom shutdown".split())
# Callers fall back on ENOSYS; EPERM would make them fail.
_ABSENT = (
    "clone3 io_uring_setup io_uring_enter io_uring_register openat2 fchmodat2 "
    "sched_setparam sched_setattr setpriority"
).split()

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000
_LOAD, _AND, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x50000, 0x80000000
_CLONE_THREAD = 0x10000
_SHARED_ANONYMOUS = 0x21
_PROT_EXEC = 4
_IOCTLS = (
    0x5401,
    0x541B,
    0x5421,
    0x5450,
    0x5451,
    0x5413,
)  # TCGETS FIONREAD FIONBIO FIONCLEX FIOCLEX TIOCGWINSZ
# Duplicate, flags. Not F_SETOWN and F_SETSIG: they signal any process of the same user. Not F_GETLK and its like:
# sandboxes on one dataset share its files, and would read each other's locks.
_FCNTLS = (0, 1, 2, 3, 4, 1030)
# F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW succeed without an effect: the engine locks a database that it creates,
# and a sandbox is the only process that can open it.
_LOCKING_FCNTLS = (6, 7, 37, 38)
_FUTEX_PRIVATE, _FUTEX_COMMAND = 0x80, 0x7F
_FUTEX_WAITS = (0, 9)
_AF_UNIX, _AF_INET, _STREAM, _STREAM_FLAGS = 1, 2, 1, 0x80800  # close-on-exec, non-blocking
_PRCTLS = (15, 16, 3, 0x53564D41)  # set name, get name, get dumpable, name a mapping

_Instruction = tuple[int, int, int, int]
_YES: _Instruction = (_RETURN, 0, 0, _ALLOW)
_NO: _Instruction = (_RETURN, 0, 0, _ERRNO | errno.EPERM)
_DONE: _Instruction = (_RETURN, 0, 0, _ERRNO)


def _argument(index: int, *, high: bool = False) -> _Instruction:
    return (_LOAD, 0, 0, 16 + 8 * index + (4 if high else 0))


_NO_ADDRESS: list[_Instruction] = [
    _argument(4), (_EQUAL, 0, 2, 0),
    _argument(4, high=True), (_EQUAL, 1, 0, 0),
    _NO, _YES,
]  # fmt: skip
"""For `sendto` on a socket that is connected already."""


def _only(index: int, values: tuple[int, ...]) -> list[_Instruction]:
    count = len(values)
    tests = [(_EQUAL, count - i, 0, value & 0xFFFFFFFF) for i, value in enumerate(values)]
    return [_argument(index), *tests, _NO, _YES]


def _fcntl() -> list[_Instruction]:
    locking = [(_EQUAL, 0, 1, value) for value in _LOCKING_FCNTLS]
    done = [instruction for test in locking for instruction in (test, _DONE)]
    return [_argument(1), *done, *_only(1, _FCNTLS)]


def _futex() -> list[_Instruction]:
    """Without the private flag, a wake reaches every waiter on the same page of a file, in any process. A wait for a
    thread's end has no flag; the kernel wakes it."""
    waits = [(_EQUAL, len(_FUTEX_WAITS) - i, 0, value) for i, value in enumerate(_FUTEX_WAITS)]
    return [
        _argument(1), (_ANY_BIT, 0, 1, _FUTEX_PRIVATE), _YES,
        (_AND, 0, 0, _FUTEX_COMMAND), *waits, _NO, _YES,
    ]  # fmt: skip


def _guarded(pid: int, executable_memory: bool) -> dict[str, list[_Instruction]]:
    """Calls that are allowed for some arguments only."""
    no_exec: list[_Instruction] = [_argument(2), (_ANY_BIT, 0, 1, _PROT_EXEC), _NO]
    # Shared anonymous memory escapes RLIMIT_DATA.
    private = [_argument(3), (_AND, 0, 0, _SHARED_ANONYMOUS), (_EQUAL, 0, 1, _SHARED_ANONYMOUS), _NO, _YES]
    own_limits_read_only = [
        _argument(0), (_EQUAL, 0, 4, 0),
        _argument(2), (_EQUAL, 0, 2, 0),
        _argument(2, high=True), (_EQUAL, 1, 0, 0),
        _NO, _YES,
    ]  # fmt: skip
    own_without_effect = [_argument(0), (_EQUAL, 0, 1, 0), _DONE, _NO]
    return {
        "mmap": private if executable_memory else [*no_exec, *private],
        "mprotect": [_YES] if executable_memory else [*no_exec, _YES],
        "clone": [_argument(0), (_ANY_BIT, 0, 1, _CLONE_THREAD), _YES, _NO],
        "kill": _only(0, (pid,)),
        "tgkill": _only(0, (pid,)),
        "fcntl": _fcntl(),
        "ioctl": _only(1, _IOCTLS),
        "prctl": _only(0, _PRCTLS),
        "prlimit64": own_limits_read_only,
        "futex": _futex(),
        # Without an effect: without namespaces, other processes could observe it.
        "sched_setaffinity": own_without_effect,
        "sched_setscheduler": own_without_effect,
    }


def _answering() -> dict[str, list[_Instruction]]:
    """A stream pair is connected only to itself. A datagram socket could send to any address by path."""
    pair = [
        _argument(0), (_EQUAL, 0, 3, _AF_UNIX),
        _argument(1), (_AND, 0, 0, ~_STREAM_FLAGS & 0xFFFFFFFF), (_EQUAL, 1, 0, _STREAM),
        _NO, _YES,
    ]  # fmt: skip
    # ZeroMQ aborts when its thread may not set the scheduling that it already has.
    return {"sendto": _NO_ADDRESS, "socketpair": pair, "sched_setscheduler": [_DONE]}


def _connecting() -> dict[str, list[_Instruction]]:
    tcp = [
        _argument(0), (_EQUAL, 0, 3, _AF_INET),
        _argument(1), (_AND, 0, 0, ~_STREAM_FLAGS & 0xFFFFFFFF), (_EQUAL, 1, 0, _STREAM),
        _NO, _YES,
    ]  # fmt: skip
    return {"sendto": _NO_ADDRESS, "socket": tcp}


@cache
def build_filter(
    pid: int,
    *,
    private_files: bool,
    executable_memory: bool = False,
    answering: bool = False,
    connecting: bool = False,
) -> bytes:
    """`pid` is the process's id in its own namespace: the only one it may signal."""
    program: list[_Instruction] = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, _AUDIT_ARCH[MACHINE]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
    ]
    if MACHINE == "x86_64":
        program += [(_AT_LEAST, 0, 1, _X32_BIT), _NO]
    guarded = _guarded(pid, executable_memory) | (_answering() if answering else {})
    guarded |= _connecting() if connecting else {}
    for name, body in guarded.items():
        program += [(_EQUAL, 0, len(body), NUMBER[name]), *body]
    allowed = [*_ALLOWED, *(_METADATA if private_files else ()), *(_ANSWERING if answering else ())]
    allowed += _CONNECTING if connecting else ()
    for name in allowed:
        if name in NUMBER:
            program += [(_EQUAL, 0, 1, NUMBER[name]), _YES]
    for name in _ABSENT:
        if name in NUMBER:
            program += [(_EQUAL, 0, 1, NUMBER[name]), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    program.append(_NO)
    return b"".join(struct.pack("HBBI", code, jt, jf, k) for code, jt, jf, k in program)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def load_filter(program: bytes) -> None:
    buffer = ctypes.create_string_buffer(program, len(program))
    argument = _Program(len(program) // 8, ctypes.addressof(buffer))
    syscall("seccomp", 1, 0, ctypes.byref(argument))
