"""Peers that run Python code, in environments of their own: see `benchmarks.peers`."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import Contender
from benchmarks.peers import FAILURES, LLM_SANDBOX, Way, end, install, listed, start, ways_of

_LIST = Path(__file__).parent / "python_peers.txt"
_WORKER = Path(__file__).parent / "python_worker.py"
_WAYS = {
    "smolagents": Way("smolagents LocalPythonExecutor (no isolation)", 1),
    "jupyter": Way("plain Jupyter kernel, kept session (no isolation)", 1),
    **LLM_SANDBOX,
}
KERNELS = {"jupyter": "plain Jupyter kernel", "llm-sandbox interactive": "llm-sandbox"}
"""Ways that keep a session, and what its line is called."""
_ANSWER_S = 300


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
    return memory_in(Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii"))


def memory_in(rollups: str) -> Memory:
    """Of one process, or of several: the text of their smaps_rollup, one after the other."""
    sizes = [(name, int(kb) / 1024) for name, kb in re.findall(r"^(\w+): +(\d+) kB$", rollups, re.MULTILINE)]
    private = sum(size for name, size in sizes if name in ("Private_Dirty", "Private_Clean"))
    return Memory(private, sum(size for name, size in sizes if name == "Pss"))


class PythonPeer:
    def __init__(self, way: str, process: asyncio.subprocess.Process) -> None:
        self.name = way
        self._process = process
        self.contender = Contender(_WAYS[way].title, self._run, every=_WAYS[way].every)

    async def _run(self, text: str) -> float:
        return float((await self._ask({"do": "one-liner", "code": text}))["ms"])

    async def kernel(self, cell: str, *, starts: int, cells: int) -> Kernel:
        told = await self._ask({"do": "kernel", "code": cell, "starts": starts, "cells": cells})
        memory = memory_in(told["rollup"]) if "rollup" in told else memory_of(told["pid"])
        return Kernel(told["start_ms"], told["cell_ms"], memory)

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
        await end(self._process)


async def open_peers(data: Path) -> tuple[list[PythonPeer], dict[str, str]]:
    """Those that answered once, and for the others the reason."""
    peers: list[PythonPeer] = []
    missing: dict[str, str] = {}
    for name, packages in listed(_LIST).items():
        for way in ways_of(name, _WAYS):
            try:
                python = await asyncio.to_thread(install, f"python-{name}", packages)
                peers.append(await _open(way, python, data))
            except FAILURES as error:
                missing[_WAYS[way].title] = str(error)[:300] or type(error).__name__
    return peers, missing


async def _open(way: str, python: Path, data: Path) -> PythonPeer:
    peer = PythonPeer(way, await start(way, python, _WORKER, data))
    try:
        await peer._run("df.head()")
    except BaseException:
        await peer.aclose()
        raise
    return peer
