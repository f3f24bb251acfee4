"""The template's user, mount, process, network, IPC, host name and cgroup namespaces."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from pathlib import Path

from sandtable_runner import kernel, root

NOBODY = 65534
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1


def enter_namespaces(store: str | None, is_root: bool) -> None:
    """Returns in the template, process 1 of its pid namespace; the outer process waits for it."""
    spaces = kernel.CLONE_NEWNS | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS
    spaces |= kernel.CLONE_NEWPID | kernel.CLONE_NEWCGROUP
    if is_root:
        kernel.unshare(spaces)
    else:
        uid, gid = os.getuid(), os.getgid()
        kernel.unshare(spaces | kernel.CLONE_NEWUSER)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{NOBODY} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{NOBODY} {gid} 1")
    pid = os.fork()
    if pid:
        stand_behind(pid)
    kernel.die_with_parent()
    kernel.set_hostname("sandbox")
    root.build_root(store)


def stand_behind(pid: int) -> None:
    """Wait for the child that continues in this process's place, and exit as it did. Never returns."""
    kernel.close_all_from(3)
    while True:
        try:
            _, status = os.waitpid(pid, 0)
        except InterruptedError:
            continue
        os._exit(0 if status == 0 else 1)


def bring_up_loopback() -> None:
    """In a network namespace of this process's own, which has nothing else."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", b"lo", 0)
        _, flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, _GET_FLAGS, request))
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14x", b"lo", flags | _UP))
