"""Processes in the namespaces of a cluster: beginning them, running something in them, ending them.

A daemon's pid file holds its number *in there*, so ending it can never hit a process of the machine; when the
first process dies, the kernel ends all others and takes their mounts and network with them.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.kubernetes.cluster.place import Place

FIRST_PROCESS = Path(__file__).with_name("first_process.py")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# It outlives whoever began it.
_DETACHED = 'setsid "$@" </dev/null >/dev/null 2>&1 & echo $!'
_IN_BACKGROUND = 'log=$1 pid=$2; shift 2; setsid "$@" </dev/null >>"$log" 2>&1 & echo $! >"$pid"'


class ClusterBroken(Exception):
    """The cluster did not become or do what it should; the message holds the last lines of the log."""


@dataclass(frozen=True, slots=True)
class Inside:
    place: Place
    pid: int
    """Of the first process, as the machine numbers it."""

    def command(self, *argv: str) -> list[str]:
        return ["nsenter", "--target", str(self.pid), "--net", "--mount", "--pid", "--", *argv]

    def run(self, *argv: str, check: bool = True) -> str:
        """What the program printed. Paths must be absolute: the way in leads to the root folder."""
        done = subprocess.run(
            self.command(*argv), capture_output=True, text=True, env=self._environment(), check=False
        )
        if check and done.returncode:
            raise ClusterBroken(f"{' '.join(argv)} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def succeeds(self, *argv: str) -> bool:
        done = subprocess.run(
            self.command(*argv), capture_output=True, env=self._environment(), timeout=20, check=False
        )
        return done.returncode == 0

    def start(self, name: str, argv: Sequence[str]) -> None:
        log, pid = self.log(name), self._pid_file(name)
        self.run("sh", "-c", _IN_BACKGROUND, "sh", str(log), str(pid), *argv)

    def end(self, name: str, patience: float = 3) -> None:
        """Kindly at first. An API server would wait a minute for those who still listen to it."""
        number = str(self.number(name))
        self.run("sh", "-c", f"kill -TERM {number}", check=False)

        def gone() -> bool:
            return not self.succeeds("sh", "-c", f"kill -0 {number}")

        if not waited(gone, patience):
            self.run("sh", "-c", f"kill -KILL {number}", check=False)
            self.expect(f"{name} to end", gone, 5, log=name)
        self._pid_file(name).unlink()

    def number(self, name: str) -> int:
        return int(self._pid_file(name).read_text())

    def log(self, name: str) -> Path:
        return self.place.logs / f"{name}.log"

    def expect(self, what: str, true: Callable[[], bool], patience: float, *, log: str) -> None:
        if not waited(true, patience):
            raise ClusterBroken(f"waited {patience:.0f} s for {what}:\n{tail(self.log(log))}")

    def _environment(self) -> dict[str, str]:
        return {"PATH": PATH, "HOME": str(self.place.folder), "LC_ALL": "C.UTF-8"}

    def _pid_file(self, name: str) -> Path:
        return self.place.pids / name


def begin(place: Place) -> Inside:
    """New, empty namespaces; the folder must be there."""
    first = [sys.executable, str(FIRST_PROCESS)]
    command = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", *first]
    began = subprocess.run(
        ["sh", "-c", _DETACHED, "sh", *command], cwd="/", stdout=subprocess.PIPE, text=True, check=True
    )
    outer = int(began.stdout)
    children = Path(f"/proc/{outer}/task/{outer}/children")
    if not waited(lambda: children.is_file() and bool(children.read_text().split()), 10):
        raise ClusterBroken("no new namespaces: is this root, and may root make them here?")
    pid = int(children.read_text().split()[0])
    place.first_process.write_text(f"{pid} {_born(pid)}")
    inside = Inside(place, pid)
    inside.expect("the first process", lambda: inside.succeeds("true"), 10, log="first-process")
    return inside


def find(place: Place) -> Inside | None:
    """The cluster of this name, if it lives. A number that went to another process since is not taken for it."""
    try:
        pid, born = place.first_process.read_text().split()
    except (FileNotFoundError, ValueError):
        return None
    return Inside(place, int(pid)) if _born(int(pid)) == born else None


def finish(inside: Inside) -> None:
    """Ends everything in the namespaces, at once."""
    os.kill(inside.pid, signal.SIGKILL)
    if not waited(lambda: find(inside.place) is None, 30):
        raise ClusterBroken(f"process {inside.pid} was killed and lives on")


def waited(true: Callable[[], bool], patience: float) -> bool:
    """Whether it came true in this time."""
    until = time.monotonic() + patience
    while not true():
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


def tail(log: Path, lines: int = 30) -> str:
    if not log.is_file():
        return f"(no {log.name})"
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


def on_path(program: str) -> str:
    found = shutil.which(program, path=PATH)
    if not found:
        raise ClusterBroken(f"no {program} program; `make test-kubernetes` installs it when CI is set")
    return found


def _born(pid: int) -> str | None:
    """When the process started, in the kernel's ticks since boot; None when there is none (or a dead one)."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if after_name[0] in "ZX" else after_name[19]
