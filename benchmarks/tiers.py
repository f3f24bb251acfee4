"""One question on every tier, in one run: through the gate, executed, sealed in a capsule.

`python -m benchmarks.tiers` measures the tiers it finds: Docker where DOCKER_HOST names a daemon, Kubernetes where
KUBECONFIG names a cluster. `make bench-tiers` makes both first. Exit 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from benchmarks.measure import Contender, Table, take_turns
from benchmarks.targets import Target
from sandtable.assemble import Parts, assemble
from sandtable.capsule.query import SqlQuery
from sandtable.process import quiet_logs
from sandtable.runs.model import RunRequest
from sandtable.settings import Settings

LOCAL, DOCKER, JOB, POD = "local", "Docker, warm container", "Kubernetes, a Job", "Kubernetes, warm pod"
DATASET = "ecommerce"
QUESTIONS = {
    "select 1": "SELECT 1 AS one FROM orders LIMIT 1",
    "revenue by region": "SELECT o.region, sum(i.line_total) AS revenue FROM order_items i"
    " JOIN orders o ON o.order_id = i.order_id GROUP BY 1 ORDER BY 2 DESC",
}
_TYPICAL = "revenue by region"
_IMAGES = {"docker_image": "sandtable-runner:dev", "kubernetes_image": "sandtable-runner:dev"}


def found() -> dict[str, dict[str, Any]]:
    """Tier → its settings."""
    tiers: dict[str, dict[str, Any]] = {LOCAL: {"backend": "local"}}
    if os.environ.get("DOCKER_HOST"):
        tiers[DOCKER] = {"backend": "docker", "docker_host": os.environ["DOCKER_HOST"]}
    if os.environ.get("KUBECONFIG"):
        namespace = os.environ.get("SANDTABLE_KUBERNETES_NAMESPACE", "default")
        tiers[JOB] = {"backend": "kubernetes", "kubernetes_namespace": namespace}
        tiers[POD] = {**tiers[JOB], "kubernetes_warm": 2}
    return tiers


async def measure(tiers: dict[str, dict[str, Any]], rounds: int) -> Table:
    async with AsyncExitStack() as stack:
        contenders: list[Contender] = []
        for name, given in tiers.items():
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sandtable-tiers-")))
            settings = Settings().model_copy(update={"home": home, **_IMAGES, **given})
            parts = await stack.enter_async_context(assemble(settings, serving=True))
            contenders.append(await _contender(name, parts))
        return await take_turns(contenders, QUESTIONS, rounds)


async def _contender(name: str, parts: Parts) -> Contender:
    dataset = await parts.datasets.ready(DATASET)

    async def run(text: str) -> None:
        request = RunRequest(dataset_id=DATASET, query=SqlQuery(text), cache=False)
        accepted = await parts.runs.submit(request)
        ended = await parts.runs.wait(accepted.id)
        if ended.status != "succeeded":
            raise RuntimeError(f"{name}: {ended.error}")

    async def before() -> None:
        await parts.warm(dataset)

    return Contender(name, run, before)


def targets(table: Table) -> list[Target]:
    local = table[LOCAL][_TYPICAL].median
    judged: list[Target] = []
    if JOB in table:
        judged.append(Target("a typical question as a Job", table[JOB][_TYPICAL].median, 3000, "ms"))
    if POD in table:
        over = table[POD][_TYPICAL].median - local
        judged.append(Target("a typical question in a warm pod, over local", over, 150, "ms"))
    return judged


def _show(table: Table, judged: list[Target]) -> None:
    width = max(map(len, table))
    print(f"{'milliseconds, median (p95)':{max(width, 26)}}" + "".join(f"{title:>26}" for title in QUESTIONS))
    for name, row in table.items():
        cells = "".join(f"{f'{row[title].median:.1f} ({row[title].p95:.1f})':>26}" for title in QUESTIONS)
        print(f"{name:{max(width, 26)}}{cells}")
    for target in judged:
        verdict = "PASS" if target.met else "FAIL"
        print(f"{verdict}  {target.what}  {target.measured:.1f} {target.unit}  (limit {target.limit:.0f})")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tiers", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    asked = parser.parse_args()
    quiet_logs()
    table = asyncio.run(measure(found(), asked.rounds))
    judged = targets(table)
    _show(table, judged)
    return 0 if all(target.met for target in judged) else 1


if __name__ == "__main__":
    sys.exit(main())
