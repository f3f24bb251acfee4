"""Peers that run Python code, in environments of their own: see `benchmarks.peers`."""

from __future__ import annotations

import asyncio
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import Contender
from benchmarks.peers import docker_is_up, install, listed

_LIST = Path(__file__).parent / "python_peers.txt"
_WORKER = Path(__file__).parent / "python_worker.py"
_TITLES = {
    "smolagents": "smolagents LocalPythonExecutor (no isolation)",
    "jupyter": "plain Jupyter kernel, kept session (no isolation)",
    "llm-sandbox": "llm-sandbox, kept session",
}
_ANSWER_S = 120


@dataclass(frozen=True, slots=True)
class Memory:
    private_mb: float
    pss_mb: float


@dataclass(frozen=True, slots=True)
class Kernel:
    start_ms: float
    cell_ms: float
    memory: Memory


def memory_of(pid: int) -> Memory:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in rollup[1:]}
    private = sum(size for name, size in sizes.items() if name in ("Private_Dirty", "Private_Clean"))
    return Memory(private, sizes["Pss"])


class PythonPeer:
    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        self.name = name
        self._process = process
        self.contender = Contender(_TITLES[name], self._run, every=1)

    async def _run(self, text: str) -> float:
        return float((await self._ask({"do": "one-liner", "code": text}))["ms"])

    async def kernel(self, cell: str, *, starts: int, cells: int) -> Kernel:
        told = await self._ask({"do": "kernel", "code": cell, "starts": starts, "cells": cells})
        return Kernel(told["start_ms"], told["cell_ms"], memory_of(told["pid"]))

    async def _ask(self, order: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        await self._process.stdin.drain()
        line = await asyncio.wait_for(self._process.stdout.readline(), _ANSWER_S)
        answer = json.loads(line) if line else {"error": "it ended"}
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    async def aclose(self) -> None:
        """Its kernels end with its input."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), 10)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


async def open_peers(data: Path) -> tuple[list[PythonPeer], dict[str, str]]:
    """Those that answered once, and for the others the reason."""
    peers: list[PythonPeer] = []
    missing: dict[str, str] = {}
    for name, packages in listed(_LIST).items():
        try:
            peers.append(await _open(name, packages, data))
        except (RuntimeError, OSError, TimeoutError, subprocess.TimeoutExpired) as error:
            missing[_TITLES[name]] = str(error)[:160] or type(error).__name__
    up = await asyncio.to_thread(docker_is_up)
    why = "it needs an image with pandas built beforehand" if up else "no Docker daemon is up"
    missing[_TITLES["llm-sandbox"]] = why
    return peers, missing


async def _open(name: str, packages: list[str], data: Path) -> PythonPeer:
    python = await asyncio.to_thread(install, f"python-{name}", packages)
    process = await asyncio.create_subprocess_exec(
        str(python), "-I", str(_WORKER), name, str(data),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    peer = PythonPeer(name, process)
    try:
        await peer._run('df.groupby("k")["v"].sum()')
    except BaseException:
        await peer.aclose()
        raise
    return peer
