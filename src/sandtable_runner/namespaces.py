"""The template's user, mount, process, network, IPC, host name and cgroup namespaces."""

from __future__ import annotations

import os
from pathlib import Path

from sandtable_runner import kernel, root

NOBODY = 65534


def enter_namespaces(store: str, is_root: bool) -> None:
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
