"""A Docker daemon for the tests, with bridges and firewall rules in a separate network namespace.

Nothing of the machine's network is touched, and nothing runs on afterwards. Its images stay in the user's cache for
the next time; a second daemon at the same time gets a temporary folder.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scripts.images.engine import Refused

_START_S = 60.0
_LOG_LINES = 20
_BEGIN = 'ip link set lo up && exec dockerd "$@"'


@dataclass(frozen=True, slots=True)
class Daemon:
    host: str
    """As in DOCKER_HOST."""
    pid: int

    def inside(self, command: list[str]) -> list[str]:
        """The same command in the daemon's network: what containers publish is at 127.0.0.1 there."""
        return ["nsenter", f"--net=/proc/{self.pid}/ns/net", *command]


@contextmanager
def running() -> Iterator[Daemon]:
    """Raises Refused where it does not start. Root only."""
    if os.geteuid():
        raise Refused("a Docker daemon of our own needs root; name another one with DOCKER_HOST")
    # A socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="sandtable-docker-", dir="/tmp"))
    host = f"unix://{folder}/docker.sock"
    try:
        with _kept(folder / "data") as data:
            yield from _serving(folder, data, host)
    finally:
        _remove(folder)


def _serving(folder: Path, data: Path, host: str) -> Iterator[Daemon]:
    places = ["--data-root", data, "--exec-root", folder / "exec", "--pidfile", folder / "pid"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", _BEGIN, "dockerd", "--host", host, *map(str, places)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        _wait(process, host, folder / "log")
        _tidy(host)
        yield Daemon(host, process.pid)
    finally:
        process.terminate()
        process.wait()


@contextmanager
def _kept(otherwise: Path) -> Iterator[Path]:
    """Where images are kept, for one daemon at a time."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sandtable" / "docker"
    base.mkdir(parents=True, exist_ok=True)
    with (base / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield otherwise
        else:
            yield base / "data"


def _tidy(host: str) -> None:
    """What a daemon that was killed left, and what no build has used for a week."""

    def docker(*arguments: str) -> str:
        done = subprocess.run(
            ["docker", "--host", host, *arguments], capture_output=True, text=True, check=False
        )
        return done.stdout

    for container in docker("ps", "--all", "--quiet").split():
        docker("rm", "--force", "--volumes", container)
    docker("volume", "prune", "--force")
    docker("network", "prune", "--force")
    docker("image", "prune", "--force", "--filter", "until=168h")


def _wait(process: subprocess.Popen[bytes], host: str, log: Path) -> None:
    end = time.monotonic() + _START_S
    while time.monotonic() < end and process.poll() is None:
        asked = subprocess.run(["docker", "--host", host, "version"], capture_output=True, check=False)
        if asked.returncode == 0:
            return
        time.sleep(0.3)
    said = log.read_text(errors="replace").splitlines()[-_LOG_LINES:]
    raise Refused("the Docker daemon did not start:\n" + "\n".join(said))


def _remove(folder: Path) -> None:
    """A killed daemon may leave mounts behind."""
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for place in sorted((m for m in mounts if m.startswith(f"{folder}/")), reverse=True):
        subprocess.run(["umount", "--lazy", place], check=False)
    shutil.rmtree(folder, ignore_errors=True)
