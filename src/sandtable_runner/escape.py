"""Real escape attempts, made from inside a sealed sandbox: the doctor's self-test.

Each attempt does the forbidden thing for real and answers whether it worked. It must not.
An attempt that fails is the sandbox working; an attempt that succeeds is a hole, by name.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import resource
import socket
import stat
from collections.abc import Callable


from sandtable_runner.kernel import syscall_raw
from sandtable_runner.syscalls import MACHINE

_libc = ctypes.CDLL(None, use_errno=True)
_X86 = MACHINE == "x86_64"
# number on x86_64, number on aarch64, arguments
_SYSTEM_CALLS: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "trace a process (ptrace)": (101, 117, (0, 0, 0, 0)),
    "read another process's memory (process_vm_readv)": (310, 270, (1, 0, 0, 0, 0, 0)),
    "open a handle on a process (pidfd_open)": (434, 434, (1, 0)),
    "make an in-memory file (memfd_create)": (319, 279, (0, 0)),
    "use the kernel's key ring (keyctl)": (250, 219, (0, -3, 1)),
    "load a kernel program (bpf)": (321, 280, (0, 0, 0)),
    "watch the machine (perf_event_open)": (298, 241, (0, 0, -1, -1, 0)),
    "handle page faults (userfaultfd)": (323, 282, (0,)),
    "queue kernel work (io_uring_setup)": (425, 425, (1, 0)),
    "load a kernel module (init_module)": (175, 105, (0, 0, 0)),
    "enter a namespace (setns)": (308, 268, (0, 0)),
    "open a mount tree (open_tree)": (428, 428, (-100, 0, 0)),
    "shared memory segment (shmget)": (29, 194, (0, 4096, 0o1666)),
    "message queue (msgget)": (68, 186, (0, 0o1666)),
}


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
    """Works only by never coming back; the caller then sees a broken answer, which counts as a hole too."""
    os.execv("/bin/sh", ["sh", "-c", "exit 0"])


def _calls(name: str) -> Callable[[], bool]:
    x86, arm, arguments = _SYSTEM_CALLS[name]

    def attempt() -> bool:
        _libc.syscall.restype = ctypes.c_long
        code = _libc.syscall(x86 if _X86 else arm, *(ctypes.c_long(value) for value in arguments))
        # Refused for its rights is closed; refused for its arguments means the door itself is open.
        return code >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.EACCES, errno.ENOSYS)

    return attempt


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
    """Beyond standard streams, the job's own channel and the engine's open data files (read-only)."""
    for fd in range(4, 256):
        try:
            kind = os.fstat(fd).st_mode
        except OSError:
            continue
        if stat.S_ISSOCK(kind) or stat.S_ISDIR(kind):
            return True
    return False


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
    "list other datasets (..)": lambda: bool({"versions", "incoming", "staging"} & set(os.listdir("../.."))),
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
    **{name: _calls(name) for name in _SYSTEM_CALLS},
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
