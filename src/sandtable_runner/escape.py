"""Real escape attempts, made from inside a sealed sandbox: the doctor's self-test.

Each attempt performs the forbidden action and returns whether it worked. It must not. A failed attempt means the
sandbox works; a successful one is a hole, reported by name.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import resource
import socket
import stat
from collections.abc import Callable

from sandtable_runner.escape_calls import forbidden_calls
from sandtable_runner.kernel import syscall_raw

_libc = ctypes.CDLL(None, use_errno=True)
_SET_OWNER, _SET_SIGNAL, _NOTIFY, _LEASE = 8, 10, 1026, 1024
_DEATH_SIGNAL, _DUMPABLE, _SECCOMP, _MEMORY_MAP = 1, 4, 22, 35
_INJECT_INPUT = 0x5412
_FAMILIES = {"vsock": 40, "crypto": 38, "bluetooth": 31, "raw network": 17, "key": 15}


def _opens(path: str, flags: int = os.O_RDONLY) -> bool:
    os.close(os.open(path, flags))
    return True


def _reads(path: str) -> Callable[[], bool]:
    return lambda: _opens(path)


def _lists(path: str) -> Callable[[], bool]:
    return lambda: len(os.listdir(path)) > 0


def _creates(path: str) -> Callable[[], bool]:
    return lambda: _opens(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)


def _makes_socket(family: int, kind: int) -> Callable[[], bool]:
    def attempt() -> bool:
        socket.socket(family, kind).close()
        return True

    return attempt


def _forks() -> bool:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return True


def _executes() -> bool:
    """Success means that it never returns; the caller then sees a broken answer, which also counts as a hole."""
    os.execv("/bin/sh", ["sh", "-c", "exit 0"])


def _unshares() -> bool:
    return _libc.unshare(0x10000000) == 0


def _mounts() -> bool:
    return _libc.mount(b"tmpfs", b"/", b"tmpfs", 0, None) == 0


def _shared_memory() -> bool:
    mmap.mmap(-1, 1 << 20, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS).close()
    return True


def _executable_memory() -> bool:
    mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_EXEC).close()
    return True


def _raises_limit() -> bool:
    resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return True


def _signals_parent() -> bool:
    os.kill(os.getppid() or -1, 0)
    return True


def _becomes_root() -> bool:
    os.setresuid(0, 0, 0)
    return True


def _is_root() -> bool:
    return os.geteuid() == 0


def _has_capabilities() -> bool:
    header = ctypes.create_string_buffer(b"\x22\x05\x08\x20\x00\x00\x00\x00")
    data = ctypes.create_string_buffer(24)
    syscall_raw("capget", header, data)
    return any(data.raw)


def _sees_environment() -> bool:
    return any("SANDTABLE" in key or "KEY" in key or "TOKEN" in key for key in os.environ)


def _has_stray_descriptors() -> bool:
    """Beyond standard streams, the job's channel and the engine's open data files (read-only)."""
    for fd in range(4, 256):
        try:
            kind = os.fstat(fd).st_mode
        except OSError:
            continue
        if stat.S_ISSOCK(kind) or stat.S_ISDIR(kind):
            return True
    return False


def _first_file() -> str:
    """A file of the dataset, where there is one."""
    return next((name for name in os.listdir(".") if name.endswith(".parquet")), "none.parquet")


def _on_data(action: Callable[[str], object]) -> Callable[[], bool]:
    def attempt() -> bool:
        action(_first_file())
        return True

    return attempt


def _truncates(name: str) -> None:
    """Truncation needs no write access where Landlock is old."""
    _opens(name, os.O_RDONLY | os.O_TRUNC)


def _locks(name: str) -> None:
    fd = os.open(name, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(fd)


def _controls(command: int, argument: int) -> Callable[[], bool]:
    def attempt() -> bool:
        fcntl.fcntl(2, command, argument)
        return True

    return attempt


def _process_control(option: int, argument: int) -> Callable[[], bool]:
    return lambda: _libc.prctl(option, *(ctypes.c_ulong(value) for value in (argument, 0, 0, 0))) >= 0


def _injects_input() -> bool:
    return _libc.ioctl(0, ctypes.c_ulong(_INJECT_INPUT), b"x") >= 0


def _signals_anyone() -> bool:
    reached = 0
    for pid in (-1, *range(1, 2000)):
        if pid == os.getpid():
            continue
        try:
            os.kill(pid, 0)
            reached += 1
        except OSError:
            continue
    return reached > 0


def _pins_the_parent() -> bool:
    os.sched_setaffinity(os.getppid() or 1, {0})
    return True


def _file_made_executable() -> bool:
    fd = os.open(_first_file(), os.O_RDONLY)
    try:
        mmap.mmap(fd, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()
    finally:
        os.close(fd)
    return True


def _memory_made_executable() -> bool:
    block = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(block))
    return _libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(4096), 5) == 0


def _climbs() -> bool:
    """Go up to the topmost folder, then list what is visible."""
    here = os.getcwd()
    try:
        os.chdir("/")
        return bool({"etc", "usr", "home"} & set(os.listdir(".")))
    finally:
        os.chdir(here)


def _exhausts_memory() -> bool:
    blocks = [bytearray(64 << 20) for _ in range(512)]
    return len(blocks) == 512


_ATTEMPTS: dict[str, Callable[[], bool]] = {
    "read /etc/passwd": _reads("/etc/passwd"),
    "read /etc/hostname": _reads("/etc/hostname"),
    "read /proc/self/environ": _reads("/proc/self/environ"),
    "read /proc/1/environ": _reads("/proc/1/environ"),
    "list /": lambda: bool({"etc", "usr", "home", "root", "var"} & set(os.listdir("/"))),
    "list /proc": _lists("/proc"),
    "list /sys": _lists("/sys"),
    "list /usr/bin": _lists("/usr/bin"),
    "list /home": _lists("/home"),
    "list /tmp": _lists("/tmp"),
    "list other datasets (/store)": _lists("/store"),
    "list other datasets (..)": lambda: bool({"versions", "incoming"} & set(os.listdir("../.."))),
    "write into the dataset": _creates("planted.parquet"),
    "write into /": _creates("/planted"),
    "write into /tmp": _creates("/tmp/planted"),
    "write into /dev/shm": _creates("/dev/shm/planted"),
    "change a dataset file's mode": lambda: os.chmod(".", 0o777) is None,
    "internet socket": _makes_socket(socket.AF_INET, socket.SOCK_STREAM),
    "internet socket (v6)": _makes_socket(socket.AF_INET6, socket.SOCK_STREAM),
    "datagram socket": _makes_socket(socket.AF_INET, socket.SOCK_DGRAM),
    "unix socket": _makes_socket(socket.AF_UNIX, socket.SOCK_STREAM),
    "netlink socket": _makes_socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "packet socket": _makes_socket(socket.AF_PACKET, socket.SOCK_RAW),
    "start a process (fork)": _forks,
    "start a program (execve)": _executes,
    "new user namespace": _unshares,
    "mount a file system": _mounts,
    "shared anonymous memory": _shared_memory,
    "executable memory": _executable_memory,
    "raise the memory limit": _raises_limit,
    "signal the parent": _signals_parent,
    "become root": _becomes_root,
    "be root": _is_root,
    "hold a capability": _has_capabilities,
    "see a secret in the environment": _sees_environment,
    "hold a foreign socket or folder": _has_stray_descriptors,
    "take 32 GB of memory": _exhausts_memory,
    "read through /proc/self/root": _reads("/".join(("/proc/self/root", "etc/passwd"))),
    "read through /proc/self/cwd": _reads("/proc/self/cwd/../../../../../../../etc/passwd"),
    "read by climbing": _reads("../../../../../../../../etc/passwd"),
    "read /proc/self/mem": _reads("/proc/self/mem"),
    "read /proc/self/maps": _reads("/proc/self/maps"),
    "read /proc/1/cmdline": _reads("/proc/1/cmdline"),
    "read /proc/version": _reads("/proc/version"),
    "open its channel again": _reads("/proc/self/fd/3"),
    "read the terminal": _reads("/dev/tty"),
    "read a disk": _reads("/dev/vda"),
    "list descriptors": _lists("/proc/self/fd"),
    "climb to the root": _climbs,
    "remove a dataset file": _on_data(os.unlink),
    "rename a dataset file": _on_data(lambda name: os.rename(name, "renamed.parquet")),
    "open a dataset file for writing": _on_data(lambda name: _opens(name, os.O_RDWR)),
    "append to a dataset file": _on_data(lambda name: _opens(name, os.O_WRONLY | os.O_APPEND)),
    "truncate a dataset file": _on_data(lambda name: os.truncate(name, 0)),
    "truncate a dataset file by opening": _on_data(_truncates),
    "change a dataset file's times": _on_data(lambda name: os.utime(name, (0, 0))),
    "lock a dataset file": _on_data(_locks),
    "make a folder in the dataset": lambda: os.mkdir("planted") is None,
    "hard link to /etc/passwd": lambda: os.link("/etc/passwd", "/scratch/link") is None,
    "symbolic link to /etc/passwd": lambda: os.symlink("/etc/passwd", "/scratch/link") is None,
    "send signals by descriptor (F_SETOWN)": _controls(_SET_OWNER, 1),
    "choose the signal (F_SETSIG)": _controls(_SET_SIGNAL, 9),
    "watch a folder (F_NOTIFY)": _controls(_NOTIFY, 1),
    "take a lease on a file": _controls(_LEASE, 0),
    "outlive the template (PR_SET_PDEATHSIG)": _process_control(_DEATH_SIGNAL, 0),
    "become dumpable": _process_control(_DUMPABLE, 1),
    "change the system call filter": _process_control(_SECCOMP, 1),
    "rewrite the memory map": _process_control(_MEMORY_MAP, 1),
    "type into a terminal (TIOCSTI)": _injects_input,
    "signal anybody": _signals_anyone,
    "pin the parent to one core": _pins_the_parent,
    "map a file as code": _file_made_executable,
    "make memory executable": _memory_made_executable,
    **{f"{name} socket": _makes_socket(number, socket.SOCK_STREAM) for name, number in _FAMILIES.items()},
    **forbidden_calls(),
}


def attempt_all() -> list[dict[str, object]]:
    return [_attempt(name, action) for name, action in _ATTEMPTS.items()]


def _attempt(name: str, action: Callable[[], bool]) -> dict[str, object]:
    try:
        escaped = bool(action())
        detail = "it worked" if escaped else "refused"
    except (OSError, MemoryError, ValueError) as error:
        escaped, detail = False, f"{type(error).__name__}: {error}"
    return {"name": name, "escaped": escaped, "detail": detail}
