"""A process that libraries gave threads, made single-threaded again: by a fork, which copies only its caller.

Polars leaves a thread that waits for files to clean up. Nothing in a sandbox needs it, and a process
with two threads can neither enter a user namespace nor fork safely at a moment not of its choosing.
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
    """Returns in a copy of this process that has one thread; the original stays behind as its shadow."""
    if len(list(_TASKS.iterdir())) == 1:
        return
    _await_sleep()
    original = os.getpid()
    pid = os.fork()
    if pid:
        stand_behind(pid)
    kernel.die_with_parent(original)


def _await_sleep() -> None:
    """A thread that waits for work holds no lock; one that runs may."""
    latest = time.monotonic() + _PATIENCE_S
    while any(_is_awake(task) for task in _TASKS.iterdir() if task.name != str(os.getpid())):
        if time.monotonic() > latest:
            raise RuntimeError("a library's thread does not come to rest: the template cannot fork safely")
        time.sleep(0.005)


def _is_awake(task: Path) -> bool:
    state = (task / "stat").read_text().rpartition(")")[2].split()[0]
    return state not in "SX"
