"""`python -m benchmarks.load`: a crowd, a flood and a soak at one server; exit 1 when a target is missed.

It starts a server of its own on a loopback address, and is bounded in count and in time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx

from benchmarks.load import phases
from benchmarks.load.people import TERMINAL, WAIT_S, Ledger, Person, at
from benchmarks.load.phases import QUICK, Crowd, Size
from benchmarks.load.server import AUDITOR, Memory, Serving, serving
from benchmarks.measure import Timings
from benchmarks.targets import Target
from sandtable.capsule.examine import examine
from sandtable.capsule.keys import TrustedKeys, trusted_keys
from sandtable.stopping import stopped

REDERIVED = 20
"""Capsules that the server derives again, link by link; of all others the signature and the digests are checked."""
CONNECTIONS = 300
LIMIT_S = 900.0
FLAT_MB = 40.0
FAIR = 5.0


@dataclass(frozen=True, slots=True)
class Kept:
    """What is there afterwards of the runs that were accepted."""

    accepted: int
    not_ended: int
    unproven: int
    """Without a capsule that verifies."""
    rederived: int
    endings: dict[str, int]


@dataclass(frozen=True, slots=True)
class Measured:
    alone: Timings
    crowd: Crowd
    flooded: Timings
    soaked: int
    memory: Memory
    kept: Kept
    statuses: dict[int, int]
    broken: int
    cut_off: int = 0


async def measure(size: Size, home: Path) -> Measured:
    ledger = Ledger()
    async with serving(home) as server, at(server.url, CONNECTIONS) as client:

        def people(name: str) -> Person:
            return Person(client, ledger, name)

        # The data is converted once, with the first question.
        await people("person").timed_ms()
        alone = await phases.alone(people, size)
        crowded = await phases.crowd(people, size)
        flooded = await phases.beside_a_flood(people, size)
        memory = Memory()
        watching = asyncio.create_task(memory.watch(server.pid))
        try:
            soaked = await phases.soak(people, size)
        finally:
            await stopped(watching)
        kept = await _kept(client, ledger, server)
    return Measured(
        alone, crowded, flooded, soaked, memory, kept, dict(ledger.statuses), ledger.broken, ledger.cut_off
    )


async def _kept(client: httpx.AsyncClient, ledger: Ledger, server: Serving) -> Kept:
    keys, endings, unproven, rederived = trusted_keys(server.home), Counter[str](), 0, 0
    for number, run_id in enumerate(phases.names(ledger)):
        run = (
            (await client.get(f"/runs/{run_id}", params={"wait": WAIT_S}, headers=AUDITOR))
            .raise_for_status()
            .json()
        )
        endings[run["status"]] += 1
        capsule = await client.get(f"/runs/{run_id}/capsule", headers=AUDITOR)
        proven = capsule.status_code == 200 and await asyncio.to_thread(_proven, capsule.text, keys)
        if proven and number % max(1, len(ledger.accepted) // REDERIVED) == 0:
            proven = await _derived_again(client, capsule.content)
            rederived += 1
        unproven += not proven
    not_ended = sum(n for status, n in endings.items() if status not in TERMINAL)
    return Kept(len(ledger.accepted), not_ended, unproven, rederived, dict(endings))


def _proven(text: str, keys: TrustedKeys) -> bool:
    return all(link.status == "ok" for link in examine(text, keys).links)


async def _derived_again(client: httpx.AsyncClient, capsule: bytes) -> bool:
    answer = await client.post("/verify", content=capsule, headers={"Content-Type": "application/json"})
    return answer.status_code == 200 and answer.json()["ok"]


def targets(found: Measured) -> list[Target]:
    return [
        Target("runs that were accepted and did not end", found.kept.not_ended, 0, ""),
        Target("runs without a capsule that verifies", found.kept.unproven, 0, ""),
        Target("answers that say that the server failed", found.broken, 0, ""),
        Target("memory gained in the soak, after its first third", found.memory.grown_mb, FLAT_MB, "MB"),
        Target("a person's p95 beside a flood, over alone", found.flooded.p95 / found.alone.p95, FAIR, "×"),
    ]


def as_json(found: Measured, size: Size) -> dict[str, Any]:
    def told(timings: Timings) -> dict[str, float]:
        return {"p50_ms": timings.median, "p95_ms": timings.p95}

    return {
        "machine": {"kernel": platform.release(), "machine": platform.machine(), "cores": os.cpu_count()},
        "size": asdict(size),
        "alone": told(found.alone),
        "crowd": {**told(found.crowd.waited), "runs": found.crowd.runs, "seconds": found.crowd.seconds},
        "beside_a_flood": told(found.flooded),
        "soak": {
            "requests": found.soaked,
            "mb_per_minute": found.memory.mb_per_minute,
            "rss": found.memory.samples,
        },
        "kept": asdict(found.kept),
        "cut_off": found.cut_off,
        "statuses": {str(status): n for status, n in sorted(found.statuses.items())},
        "targets": [{**asdict(target), "met": target.met} for target in targets(found)],
    }


def print_table(found: Measured) -> None:
    rows = {
        "a person alone": found.alone,
        f"{found.crowd.runs} runs queued at once": found.crowd.waited,
        "a person beside a flood": found.flooded,
    }
    width = max(map(len, rows))
    print(f"{'milliseconds':{width}}{'p50':>10}{'p95':>10}")
    for name, timings in rows.items():
        print(f"{name:{width}}{timings.median:>10.0f}{timings.p95:>10.0f}")
    rate = found.crowd.runs / found.crowd.seconds
    sizes = [size for _, size in found.memory.samples]
    print(f"\ncrowd: {found.crowd.runs} runs in {found.crowd.seconds:.1f} s, {rate:.0f} a second")
    print(
        f"soak: {found.soaked} requests; resident {sizes[0]:.0f} MB at first, {sizes[-1]:.0f} MB at last, "
        f"{found.memory.mb_per_minute:+.1f} MB a minute after the first third"
    )
    print(f"kept: {found.kept.accepted} runs, {found.kept.endings}; {found.kept.rederived} derived again")
    print(f"answers by status: {dict(sorted(found.statuses.items()))}; cut off: {found.cut_off}\n")
    for target in targets(found):
        verdict = "PASS" if target.met else "FAIL"
        print(
            f"{verdict}  {target.what:50} {target.measured:9.2f} {target.unit:2}  (limit {target.limit:.2f})"
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few users and runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything measured as JSON")
    arguments = parser.parse_args()
    size = QUICK if arguments.quick else Size()
    with tempfile.TemporaryDirectory(prefix="sandtable-load-") as home:
        # Sandboxes of an ordinary user must be able to reach the data.
        Path(home).chmod(0o755)
        try:
            found = asyncio.run(asyncio.wait_for(measure(size, Path(home)), LIMIT_S))
        except TimeoutError:
            print(f"not done within {LIMIT_S:.0f} s", file=sys.stderr)
            return 1
    print_table(found)
    if arguments.json:
        arguments.json.write_text(json.dumps(as_json(found, size), indent=2) + "\n")
    return 0 if all(target.met for target in targets(found)) else 1


if __name__ == "__main__":
    sys.exit(main())
