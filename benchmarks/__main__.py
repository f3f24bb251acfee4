"""`python -m benchmarks`: measure everything in one run, print one table and the targets; exit 1 when one fails."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import shutil
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from benchmarks import chat, contenders, extras, growth, intake, peer_image, python
from benchmarks.data import QUERIES, Data, make_data
from benchmarks.measure import Table, Timings, take_turns
from benchmarks.peers import open_peers
from benchmarks.targets import Extras, Target, chat_targets, growth_targets, judge
from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.local.executor import LocalExecutor


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and a shorter soak")
    parser.add_argument("--no-peers", action="store_true", help="leave the peers out")
    parser.add_argument("--chat", action="store_true", help="the conversation only")
    parser.add_argument("--python", action="store_true", help="Python code and sessions only")
    parser.add_argument(
        "--intake",
        type=int,
        nargs="?",
        const=intake.MEGABYTES,
        metavar="MB",
        help="converting a CSV file of this size only",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything measured as JSON")
    return parser.parse_args()


async def _timings(data: Data, rounds: int, with_peers: bool) -> tuple[Table, dict[str, str]]:
    executors = contenders.open_executors(data.root)
    peers, missing = await open_peers(data) if with_peers else ([], {"peers": "left out on request"})
    try:
        for executor in executors.values():
            await executor.warm(data.job(QUERIES["select 1"]))
        entered = [*contenders.ours(data, executors), *(peer.contender for peer in peers)]
        return await take_turns(entered, QUERIES, rounds), missing
    finally:
        for executor in executors.values():
            await executor.aclose()
        for peer in peers:
            await peer.aclose()


async def _extras(data: Data, quick: bool) -> Extras:
    executor = LocalExecutor(data.root)
    try:
        await executor.warm(data.job(QUERIES["select 1"]))
        kill_ms = await extras.kill_delays_ms(data, executor, 5 if quick else 15)
        rounds = 20 if quick else 60
        gate = Timings(await extras.gate_ms(executor, rounds, one_person=True))
        server_gate = Timings(await extras.gate_ms(executor, rounds, one_person=False))
    finally:
        await executor.aclose()
    checks = await extras.digest_check_ms(200 if quick else 2000)
    print(f"data of a version are hashed once after a change, {extras.hashed_mb_per_s(data):.0f} MB/s\n")
    floor, ours = await extras.large_data_ms(data, 3 if quick else 7)
    runs = 240 if quick else 2000
    hangs, unexpected, seconds = await extras.soak(data, runs)
    for kind, count in unexpected.items():
        print(f"soak: {count} × {kind}")
    print(f"soak: {runs} runs in {seconds:.0f} s\n")
    idle = await extras.idle_memory_mb(data)
    return Extras(
        idle, kill_ms, gate, server_gate, Timings(checks), floor, ours, hangs, unexpected.total(), runs
    )


def _print_table(table: Table, missing: dict[str, str]) -> None:
    width = max(map(len, (*table, *missing)))
    print(f"{'milliseconds, median (p95)':{width}}" + "".join(f"{title:>24}" for title in QUERIES))
    for name, row in table.items():
        cells = "".join(f"{f'{row[title].median:.2f} ({row[title].p95:.2f})':>24}" for title in QUERIES)
        print(f"{name:{width}}{cells}")
    for name, reason in missing.items():
        print(f"{name:{width}}  not measured here: {reason}")
    print()


def _print_targets(targets: list[Target]) -> None:
    width = max(len(target.what) for target in targets)
    for target in targets:
        verdict = "PASS" if target.met else "FAIL"
        print(
            f"{verdict}  {target.what:{width}}  {target.measured:9.2f} {target.unit:2}  (limit {target.limit:.2f})"
        )


def _machine() -> dict[str, Any]:
    return {"kernel": platform.release(), "machine": platform.machine(), "cores": os.cpu_count()}


def _told(targets: list[Target]) -> list[dict[str, Any]]:
    return [
        {"what": t.what, "measured": t.measured, "limit": t.limit, "unit": t.unit, "met": t.met}
        for t in targets
    ]


def _as_json(
    table: Table, missing: dict[str, str], measured: Extras, targets: list[Target]
) -> dict[str, Any]:
    return {
        "machine": _machine(),
        "medians_ms": {name: {title: t.median for title, t in row.items()} for name, row in table.items()},
        "p95_ms": {name: {title: t.p95 for title, t in row.items()} for name, row in table.items()},
        "not_measured": missing,
        "large_ms": {"in-process": measured.large_floor_ms, "sandtable": measured.large_ours_ms},
        "kill_delay_ms": measured.kill_ms,
        "digest_check_ms": {"median": measured.digest_check.median, "p95": measured.digest_check.p95},
        "targets": _told(targets),
    }


async def _chats(quick: bool) -> chat.Chats:
    measured = await chat.measure(rounds=3 if quick else 12, turns_each=3 if quick else 6)
    for name, taken in (("first event", measured.first_event), ("complete", measured.complete)):
        print(f"chat, {name}: {taken.median:.1f} ms (p95 {taken.p95:.1f})")
    print(
        f"chat, {chat.TALKERS} at once: {measured.crowded.median:.1f} ms (p95 {measured.crowded.p95:.1f})\n"
    )
    return measured


async def _pythons(data: Data, arguments: argparse.Namespace) -> python.Pythons:
    measured = await python.measure(data, quick=arguments.quick, with_peers=not arguments.no_peers)
    python.print_table(measured)
    return measured


async def _python_only(arguments: argparse.Namespace) -> int:
    root = Path(tempfile.mkdtemp(prefix="sandtable-bench-"))
    try:
        measured = await _pythons(make_data(root, large_rows=1000), arguments)
    except SandboxUnavailable as error:
        print(f"{error.message}\n{error.suggestion}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(root)
    targets = python.targets(measured)
    _print_targets(targets)
    if arguments.json:
        told = {"machine": _machine(), "python": python.as_json(measured), "targets": _told(targets)}
        arguments.json.write_text(json.dumps(told, indent=2) + "\n")
    return 0 if all(target.met for target in targets) else 1


async def _main(arguments: argparse.Namespace) -> int:
    if arguments.chat:
        targets = [*chat_targets(await _chats(arguments.quick)), *growth_targets(await growth.measure())]
        _print_targets(targets)
        return 0 if all(target.met for target in targets) else 1
    if arguments.python:
        return await _python_only(arguments)
    if arguments.intake is not None:
        return await _intake_only(arguments)
    root = Path(tempfile.mkdtemp(prefix="sandtable-bench-"))
    try:
        data = make_data(root, large_rows=10_000_000)
        table, missing = await _timings(data, 20 if arguments.quick else 60, not arguments.no_peers)
        _print_table(table, missing)
        measured = await _extras(data, arguments.quick)
        chats = await _chats(arguments.quick)
        grown = await growth.measure()
        pythons = await _pythons(data, arguments)
        converted = await intake.measure(root, rounds=3 if arguments.quick else 5)
        intake.print_table(converted)
    except SandboxUnavailable as error:
        print(f"{error.message}\n{error.suggestion}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(root)
    targets = [*judge(table, measured, chats, grown), *python.targets(pythons), *intake.targets(converted)]
    _print_targets(targets)
    if arguments.json:
        told = {**_as_json(table, missing, measured, targets), "python": python.as_json(pythons)}
        arguments.json.write_text(json.dumps(told, indent=2) + "\n")
    return 0 if all(target.met for target in targets) else 1


async def _intake_only(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="sandtable-bench-") as root:
        Path(root).chmod(0o755)
        found = await intake.measure(Path(root), arguments.intake, rounds=3 if arguments.quick else 5)
    intake.print_table(found)
    targets = intake.targets(found)
    _print_targets(targets)
    return 0 if all(target.met for target in targets) else 1


def main() -> int:
    arguments = _arguments()
    alone = arguments.no_peers or arguments.chat or arguments.intake is not None
    with nullcontext() if alone else peer_image.daemon_at_hand():
        return asyncio.run(_main(arguments))


if __name__ == "__main__":
    sys.exit(main())
