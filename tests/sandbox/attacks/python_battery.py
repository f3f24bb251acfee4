"""Runs every attack in Python with the check off, and prints what happened, as JSON: the walls alone must hold.

python -m tests.sandbox.attacks.python_battery {"isolation": "auto", "folder": "/a/folder/of/ours"}
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from sandtable.sandbox.job import JobResult
from sandtable.sandbox.local.executor import LocalExecutor
from tests.policy.python.corpora import ATTACKS, EVALUATED, Attack
from tests.sandbox.attacks.battery import World, build, planted, snapshot
from tests.sandbox.local.processes import family, living
from tests.sandbox.stores import sql_job

_AT_ONCE = 2
_LIMITS = {"wall_ms": 5000, "memory_mb": 512, "tmp_mb": 16, "cpu_s": 5}
_LIMITS_OF_MANY = {**_LIMITS, "wall_ms": 60_000, "cpu_s": 60}
_WELL = "print(len(orders), orders['region'].min())"
_SEVERAL = """
import builtins, contextlib, io, json, os
orders = orders
given = dict(globals())
for name, code in {codes!r}:
    output, ended = io.StringIO(), ""
    # What one of them changed, the next one must not trip over.
    names = {{**given, "orders": orders.copy(), "__builtins__": dict(vars(builtins))}}
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            exec(compile(code, name, "exec"), names)
        except BaseException as error:
            ended = f"{{type(error).__name__}}: {{error}}"
    print(json.dumps([name, output.getvalue()[:4000], ended[:1000]]))
"""
"""Many attacks in one sandbox: each with names of its own, whatever becomes of the one before."""
_CONTROL = Attack(
    id="control-01",
    construct=None,
    success="nothing: it shows that code does run",
    code="print('LEAK:', open('orders.parquet', 'rb').read(4))",
)


def _code(world: World, attack: Attack) -> str:
    """The secrets of this world instead of those that every machine has, and its table."""
    code = attack.code.replace("/etc/passwd", str(world.canary_file)).replace(
        "/tmp/leak", f"/tmp/{world.planted}"
    )
    return code.replace("order_id", "id").replace("/scratch/leak", f"/scratch/{world.planted}")


async def _ran(
    executor: LocalExecutor, world: World, name: str, code: str, limits: dict[str, int] = _LIMITS
) -> JobResult:
    job = sql_job(
        world.store, name, code, mode="python", options={"check": False, "seed": 1, "names": {}}, **limits
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


async def _family(executor: LocalExecutor, world: World, attacks: list[Attack]) -> list[dict[str, Any]]:
    """The attacks of one family, one after the other in one sandbox."""
    codes = [(attack.id, _code(world, attack)) for attack in [_CONTROL, *attacks]]
    code = _SEVERAL.format(codes=codes)
    result = await _ran(executor, world, attacks[0].family, code, _LIMITS_OF_MANY)
    everything = json.dumps(result.model_dump(mode="json"), ensure_ascii=False)
    lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("[")]
    return [
        {
            "id": name,
            "leaked": world.canary in everything,
            "claims": [line[:200] for line in text.splitlines() if line.startswith("LEAK:")],
            "ended": ended,
        }
        for name, text, ended in lines
    ]


async def _main(given: dict[str, str]) -> dict[str, Any]:
    folder = Path(given["folder"])
    folder.mkdir()
    world = build(folder)
    executor = LocalExecutor(world.store.root, isolation=given["isolation"], standby=2)
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(attack: Attack) -> dict[str, Any]:
        async with places:
            return await _attack(executor, world, attack)

    async def many(attacks: list[Attack]) -> list[dict[str, Any]]:
        async with places:
            return await _family(executor, world, attacks)

    try:
        hello = await executor.start("py")
        before = snapshot(folder)
        outcomes = await asyncio.gather(*(one(attack) for attack in ATTACKS))
        families = [list(group) for _, group in groupby(EVALUATED, key=lambda attack: attack.family)]
        evaluated = list(chain.from_iterable(await asyncio.gather(*map(many, families))))
        well = await _ran(executor, world, "well", _WELL)
        everyone = family(hello.pid)
    finally:
        await executor.aclose()
    await asyncio.sleep(0.5)
    return {
        "uid": os.getuid(),
        "layers": list(hello.layers),
        "outcomes": outcomes,
        "evaluated": evaluated,
        "well": well.stdout,
        "planted": planted(world),
        "changed": [path for path, seen in snapshot(folder).items() if before.get(path) != seen],
        "left": len(living(everyone)),
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_main(json.loads(sys.argv[1])))))
