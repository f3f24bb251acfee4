"""Peers are installed into environments of their own, outside the repository, at pinned versions.

A peer that cannot be installed or cannot run here is named with the reason; it is never left out silently.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.data import SELECT_1, Data
from benchmarks.measure import Contender

_LIST = Path(__file__).parent / "peers.txt"
_TITLES = {
    "sandlock": "sandlock.run",
    "smolagents": "smolagents LocalPythonExecutor (no isolation)",
    "llm-sandbox": "llm-sandbox, kept session",
}
_INSTALL_S = 300
_ANSWER_S = 120


class Peer:
    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.contender = Contender(_TITLES[name], self.run, every=3)

    async def run(self, text: str) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(text).encode() + b"\n")
        await self._process.stdin.drain()
        line = await asyncio.wait_for(self._process.stdout.readline(), _ANSWER_S)
        answer = json.loads(line) if line else {"error": "it ended"}
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return float(answer["ms"])

    async def aclose(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


def _cache() -> Path:
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "sandtable" / "bench-peers"


def listed(path: Path) -> dict[str, list[str]]:
    lines = [
        line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")
    ]
    return {name: packages.split() for name, _, packages in (line.partition(":") for line in lines)}


def install(name: str, packages: list[str]) -> Path:
    """The environment's Python. Raises RuntimeError with pip's own last words."""
    folder = _cache() / name
    stamp = folder / "installed.txt"
    python = folder / "bin" / "python"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == " ".join(packages):
        return python
    shutil.rmtree(folder, ignore_errors=True)
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages],
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_S, check=False)
        if done.returncode:
            words = (done.stderr or done.stdout).strip().splitlines()
            raise RuntimeError(words[-1] if words else f"exit code {done.returncode}")
    stamp.write_text(" ".join(packages), encoding="utf-8")
    return python


def docker_is_up() -> bool:
    if not shutil.which("docker"):
        return False
    return subprocess.run(["docker", "version"], capture_output=True, timeout=20, check=False).returncode == 0


async def open_peers(data: Data) -> tuple[list[Peer], dict[str, str]]:
    """Those that answered once, and for the others the reason."""
    peers: list[Peer] = []
    missing: dict[str, str] = {}
    for name, packages in listed(_LIST).items():
        if name == "llm-sandbox" and not await asyncio.to_thread(docker_is_up):
            missing[_TITLES[name]] = "no Docker daemon is up"
            continue
        try:
            peers.append(await _open(name, packages, data))
        except (RuntimeError, OSError, TimeoutError, subprocess.TimeoutExpired) as error:
            missing[_TITLES[name]] = str(error)[:160] or type(error).__name__
    return peers, missing


async def _open(name: str, packages: list[str], data: Data) -> Peer:
    python = await asyncio.to_thread(install, name, packages)
    worker = Path(__file__).parent / "peer_worker.py"
    process = await asyncio.create_subprocess_exec(
        str(python), "-I", str(worker), name, str(data.small),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    peer = Peer(name, process)
    try:
        await peer.run(SELECT_1)
    except BaseException:
        await peer.aclose()
        raise
    return peer
