"""Makes a process single-threaded again after libraries started threads: a fork copies only the calling thread.

Polars leaves a thread that waits for files to clean up. A sandbox does not need it, and a process with two threads can
neither enter a user namespace nor fork safely at an arbitrary moment.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from sandtable_runner import kernel
from sandtable_runner.namespaces import stand_behind

_PATIENCE_S = 5.0
_TASKS = Path("/proc/self/task")


def shed_threads() -> None:
    """Returns in a fork of this process that has one thread; the original waits for it."""
    if len(list(_TASKS.iterdir())) == 1:
        return
    _await_sleep()
    original = os.getpid()
    pid = os.fork()
    if pid:
        stand_behind(pid)
    kernel.die_with_parent(original)


def _await_sleep() -> None:
    """A sleeping thread holds no lock; a running one may."""
    latest = time.monotonic() + _PATIENCE_S
    while any(_is_awake(task) for task in _TASKS.iterdir() if task.name != str(os.getpid())):
        if time.monotonic() > latest:
            raise RuntimeError("a library's thread does not come to rest: the template cannot fork safely")
        time.sleep(0.005)


def _is_awake(task: Path) -> bool:
    state = (task / "stat").read_text().rpartition(")")[2].split()[0]
    return state not in "SX"
