"""Runs the attack battery in this world and prints what happened, as JSON. No gate: the sandbox alone must hold.

python -m tests.sandbox.attacks.battery {"isolation": "auto", "folder": "/a/folder/of/ours"}
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandtable.sandbox.job import JobResult, Limits
from sandtable.sandbox.local.executor import LocalExecutor
from tests.sandbox.stores import OTHER_VERSION, Store, make_store, sql_job

CORPUS = Path(__file__).parent / "corpus.jsonl"
CANARY_VARIABLE = "SANDTABLE_CANARY"
_AT_ONCE = 2
_WELL = "SELECT count(*) AS n, min(region) AS first FROM orders"
_WELL_ROWS = ((2000, "east"),)


@dataclass(frozen=True, slots=True)
class World:
    store: Store
    canary_file: Path
    canary: str
    planted: str
    """Part of the name of everything that an attack tries to leave behind."""

    def fill(self, text: str) -> str:
        values = {
            "canary": self.canary_file,
            "other": self.store.other_folder / "secrets.parquet",
            "other_name": OTHER_VERSION,
            "store": self.store.root,
            "planted": self.planted,
        }
        for name, value in values.items():
            text = text.replace("{" + name + "}", str(value))
        return text


def build(folder: Path) -> World:
    canary = f"CANARY{secrets.token_hex(12)}"
    store = make_store(folder / "store", canary=canary)
    canary_file = folder / "canary.txt"
    canary_file.write_text(f"secret,{canary}\n")
    canary_file.chmod(0o644)
    # The template starts later and must not inherit it.
    os.environ[CANARY_VARIABLE] = canary
    return World(store, canary_file, canary, f"planted_{secrets.token_hex(6)}")


def _text(world: World, case: dict[str, Any]) -> str:
    """A statement breaks out of the runner's own SELECT, as it could if the gate let anything through."""
    text = world.fill(case["sql"])
    if case["form"] == "query":
        return text
    return f"SELECT 1) LIMIT 1; {text}; SELECT * FROM (SELECT 'it ran' AS outcome"


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(folder.rglob("*"))}


def planted(world: World) -> list[str]:
    found: list[str] = []
    for place in (
        Path("/tmp"),
        Path("/dev/shm"),
        Path("/"),
        Path("/var/tmp"),
        world.store.root,
        world.store.folder,
    ):
        try:
            found += [str(path) for path in place.iterdir() if world.planted in path.name]
        except OSError:
            # A place that this user cannot look into is one that nothing was planted in.
            continue
    return found


def _told(result: JobResult) -> str:
    return json.dumps([result.rows, [column.name for column in result.columns], result.output, result.stdout,
                       result.stderr, result.error.message if result.error else ""], ensure_ascii=False)  # fmt: skip


async def _run(executor: LocalExecutor, world: World, index: int, case: dict[str, Any]) -> dict[str, Any]:
    limits = {"wall_ms": 3000, "memory_mb": 256, "tmp_mb": 16, "cpu_s": 5, **case.get("limits", {})}
    job = sql_job(world.store, f"attack-{index}", _text(world, case), **Limits(**limits).model_dump())
    await executor.submit(job)
    result = await executor.result(job.id)
    return {
        "index": index,
        "status": result.status,
        "code": result.error.code if result.error else None,
        "message": result.error.message[:300] if result.error else "",
        "leaked": world.canary in _told(result).replace(json.dumps(case["sql"]), ""),
        "total_ms": result.metrics.get("total_ms", 0.0),
        "rows": json.dumps(result.rows[:3])[:300],
    }


async def _battery(executor: LocalExecutor, world: World) -> list[dict[str, Any]]:
    cases = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(index: int, case: dict[str, Any]) -> dict[str, Any]:
        async with places:
            return await _run(executor, world, index, case)

    return await asyncio.gather(*(one(index, case) for index, case in enumerate(cases)))


async def _report(isolation: str, folder: Path) -> dict[str, Any]:
    world = build(folder)
    executor = LocalExecutor(world.store.root, isolation=isolation)
    try:
        hello = await executor.start()
        probe = sql_job(world.store, "probe", "", mode="probe", wall_ms=20_000, memory_mb=256)
        await executor.submit(probe)
        probed = await executor.result(probe.id)
        before = snapshot(folder)
        outcomes = await _battery(executor, world)
        well = sql_job(world.store, "well", _WELL)
        await executor.submit(well)
        return {
            "uid": os.geteuid(),
            "layers": hello.layers,
            "attempts": probed.output.get("attempts", []),
            "probe_error": probed.error.message if probed.error else None,
            "outcomes": outcomes,
            "changed": [path for path, state in snapshot(folder).items() if before.get(path) != state]
            + [path for path in before if not Path(path).exists()],
            "planted": planted(world),
            "well": (await executor.result(well.id)).rows == _WELL_ROWS,
        }
    finally:
        await executor.aclose()


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(json.dumps(asyncio.run(_report(given["isolation"], Path(given["folder"])))))
