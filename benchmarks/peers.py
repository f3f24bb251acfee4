"""Peers are installed into environments of their own, outside the repository, at pinned versions.

A peer that cannot be installed or cannot run here is named with the reason; it is never left out silently. One that
can be used in several ways takes part in each of them: a way's name begins with the peer's.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import peer_image
from benchmarks.data import SELECT_1, Data
from benchmarks.measure import Contender

_HERE = Path(__file__).parent
_LIST = _HERE / "peers.txt"


@dataclass(frozen=True, slots=True)
class Way:
    title: str
    every: int
    """As in `Contender`."""


LLM_SANDBOX = {
    "llm-sandbox fresh": Way("llm-sandbox, a container for every run", 5),
    "llm-sandbox kept": Way("llm-sandbox, kept container, a process for every run", 3),
    "llm-sandbox interactive": Way("llm-sandbox, interactive session (state kept)", 3),
}
_WAYS = {
    "sandlock": Way("sandlock.run", 3),
    "smolagents": Way("smolagents LocalPythonExecutor (no isolation)", 3),
    **LLM_SANDBOX,
}
_INSTALL_S = 300
_ANSWER_S = 120
_END_S = 20
FAILURES = (RuntimeError, OSError, TimeoutError, subprocess.TimeoutExpired)


class Peer:
    def __init__(self, way: str, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.contender = Contender(_WAYS[way].title, self.run, every=_WAYS[way].every)

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
        await end(self._process)


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


def ways_of(name: str, ways: Iterable[str]) -> list[str]:
    return [way for way in ways if way.split()[0] == name]


async def start(way: str, python: Path, worker: Path, data: Path) -> asyncio.subprocess.Process:
    """Raises RuntimeError where the peer lacks what it runs in."""
    more: list[str] = []
    if way in LLM_SANDBOX:
        worker, more = _HERE / "llm_sandbox_worker.py", [await asyncio.to_thread(peer_image.ready)]
    return await asyncio.create_subprocess_exec(
        str(python), "-I", str(worker), way, str(data), *more,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip


async def end(process: asyncio.subprocess.Process) -> None:
    """Its kernels and containers end with its input."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), _END_S)
    except TimeoutError:
        process.kill()
        await process.wait()


async def open_peers(data: Data) -> tuple[list[Peer], dict[str, str]]:
    """Those that answered once, and for the others the reason."""
    peers: list[Peer] = []
    missing: dict[str, str] = {}
    for name, packages in listed(_LIST).items():
        for way in ways_of(name, _WAYS):
            try:
                python = await asyncio.to_thread(install, name, packages)
                peers.append(await _open(way, python, data))
            except FAILURES as error:
                missing[_WAYS[way].title] = str(error)[:300] or type(error).__name__
    return peers, missing


async def _open(way: str, python: Path, data: Data) -> Peer:
    peer = Peer(way, await start(way, python, _HERE / "peer_worker.py", data.small))
    try:
        await peer.run(SELECT_1)
    except BaseException:
        await peer.aclose()
        raise
    return peer
