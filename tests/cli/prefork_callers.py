"""Commands whose circumstances no other test shares, and the processes that wait for them."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from sandtable.cli.prefork import meeting

PROGRAM = "import sys; from sandtable.cli import start; sys.argv[0] = 'sandtable'; start()"
PATIENCE_S = 120.0
Done = subprocess.CompletedProcess[str]


def until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


class Caller:
    """Commands in circumstances of their own, so that no other test's process serves them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules = folder / "modules"
        self.modules.mkdir()
        # Loaded by every Python of these circumstances when it starts.
        (self.modules / "sitecustomize.py").write_text("")
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "LC_SANDTABLE": uuid.uuid4().hex,
            "PYTHONPATH": str(self.modules),
            "SANDTABLE_HOME": str(folder / "home"),
            "SANDTABLE_PREFORK_S": "600",
        }

    @property
    def name(self) -> str:
        """Of the circumstances of these commands."""
        code = "from sandtable.cli.prefork import meeting; print(meeting.circumstances())"
        return subprocess.run(
            [sys.executable, "-c", code], env=self.environment, capture_output=True, text=True, check=True
        ).stdout.strip()

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-c", PROGRAM, *arguments]

    def call(self, *arguments: str, **options: object) -> Done:
        given = {"env": self.environment, "cwd": self.folder, **options}
        return subprocess.run(
            self.command(*arguments), capture_output=True, text=True, timeout=PATIENCE_S, check=False, **given
        )  # fmt: skip

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*arguments), env=self.environment, cwd=self.folder, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def is_handed_over(self, *arguments: str) -> bool:
        """Whether a command is carried out without loading commands itself."""
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-c", PROGRAM, *arguments],
            env=self.environment, cwd=self.folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return re.search(r"\| +click$", done.stderr, re.MULTILINE) is None

    def wait_for_one(self) -> int:
        """The id of the process that waits."""
        address = meeting.folder() / self.name
        until(address.exists)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(str(address))
            peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            return int.from_bytes(peer[:4], sys.byteorder)


def clean_up(one: Caller) -> None:
    name = one.name
    address = meeting.folder() / name
    if meeting.is_there(name):
        os.kill(one.wait_for_one(), signal.SIGKILL)
        until(lambda: not meeting.is_there(name))
    address.unlink(missing_ok=True)
    (meeting.folder() / f"{name}.lock").unlink(missing_ok=True)


def children(process: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def fork_of(waiting: int) -> int:
    """The one that has taken its order: it is in a session of its own."""
    until(lambda: any(os.getsid(child) == child for child in children(waiting)))
    return next(child for child in children(waiting) if os.getsid(child) == child)


def catches(process: int, number: int) -> bool:
    status = Path(f"/proc/{process}/status").read_text()
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught, 16) >> (number - 1) & 1)


def forks_so_far(process: int) -> int:
    """Grows with each: a fork copies the page tables, which counts as minor faults of the process."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[9])
