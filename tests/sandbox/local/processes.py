"""What is left in the process table and in the descriptor table."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sandtable.sandbox.local.sandbox import Sandbox


def _parent(pid: int) -> int | None:
    """None for processes that are gone or only wait to be reaped."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[1])


def family(ancestor: int) -> set[int]:
    """The process and all its living descendants."""
    parents = {
        int(entry.name): _parent(int(entry.name)) for entry in Path("/proc").iterdir() if entry.name.isdigit()
    }
    found = {ancestor} if parents.get(ancestor) is not None else set()
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        grown = bool(more)
        found |= more
    return found


def living(pids: set[int]) -> set[int]:
    return {pid for pid in pids if _parent(pid) is not None}


async def gone(pids: set[int], within_s: float = 2.0) -> set[int]:
    """Those that are still alive after that time."""
    for _ in range(int(within_s / 0.02)):
        if not living(pids):
            break
        await asyncio.sleep(0.02)
    return living(pids)


def descriptors() -> dict[str, str]:
    """Open descriptors of this process and what they are."""
    found: dict[str, str] = {}
    for entry in list(Path("/proc/self/fd").iterdir()):
        try:
            found[entry.name] = str(entry.readlink())
        except FileNotFoundError:
            continue
    return found


def pid_of(sandbox: Sandbox) -> int:
    """The sandbox's process, as this process sees it, told by the kernel through its handle."""
    text = Path(f"/proc/self/fdinfo/{sandbox._pidfd}").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pid:"))
