"""Runs every attack in Python with the check off, and prints what happened, as JSON: the walls alone must hold.

python -m tests.sandbox.attacks.python_battery {"isolation": "auto", "folder": "/a/folder/of/ours"}
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from sandtable.sandbox.job import JobResult
from sandtable.sandbox.local.executor import LocalExecutor
from tests.policy.python.corpora import ATTACKS, Attack
from tests.sandbox.attacks.battery import World, build, planted, snapshot
from tests.sandbox.local.processes import family, living
from tests.sandbox.stores import sql_job

_AT_ONCE = 2
_LIMITS = {"wall_ms": 5000, "memory_mb": 512, "tmp_mb": 16, "cpu_s": 5}
_WELL = "print(len(orders), orders['region'].min())"


def _code(world: World, attack: Attack) -> str:
    """The secrets of this world instead of those that every machine has, and its table."""
    code = attack.code.replace("/etc/passwd", str(world.canary_file)).replace(
        "/tmp/leak", f"/tmp/{world.planted}"
    )
    return code.replace("order_id", "id")


async def _ran(executor: LocalExecutor, world: World, name: str, code: str) -> JobResult:
    job = sql_job(
        world.store, name, code, mode="python", options={"check": False, "seed": 1, "names": {}}, **_LIMITS
    )
    await executor.submit(job)
    return await executor.result(job.id)


async def _attack(executor: LocalExecutor, world: World, attack: Attack) -> dict[str, Any]:
    code = _code(world, attack)
    result = await _ran(executor, world, attack.id, code)
    # A traceback shows the line that failed, and the output the code itself wrote.
    told = json.dumps(result.model_dump(mode="json"), ensure_ascii=False)
    return {
        "id": attack.id,
        "status": result.status,
        "code": result.error.code if result.error else None,
        "type": result.error.type if result.error else None,
        "leaked": world.canary in told,
        "claims": [line[:200] for line in result.stdout.splitlines() if line.startswith("LEAK:")],
        "total_ms": result.metrics.get("total_ms", 0.0),
    }


async def _main(given: dict[str, str]) -> dict[str, Any]:
    folder = Path(given["folder"])
    folder.mkdir()
    world = build(folder)
    executor = LocalExecutor(world.store.root, isolation=given["isolation"], standby=2)
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(attack: Attack) -> dict[str, Any]:
        async with places:
            return await _attack(executor, world, attack)

    try:
        hello = await executor.start("py")
        before = snapshot(folder)
        outcomes = await asyncio.gather(*(one(attack) for attack in ATTACKS))
        well = await _ran(executor, world, "well", _WELL)
        everyone = family(hello.pid)
    finally:
        await executor.aclose()
    await asyncio.sleep(0.5)
    return {
        "uid": os.getuid(),
        "layers": list(hello.layers),
        "outcomes": outcomes,
        "well": well.stdout,
        "planted": planted(world),
        "changed": [path for path, seen in snapshot(folder).items() if before.get(path) != seen],
        "left": len(living(everyone)),
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_main(json.loads(sys.argv[1])))))
