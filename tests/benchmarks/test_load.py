"""The load at one server in small: it measures, and it notices what is lost."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.load.__main__ import Kept, Measured, _proven, as_json, measure, print_table, targets
from benchmarks.load.people import Ledger
from benchmarks.load.phases import Crowd, Size
from benchmarks.load.server import Memory, resident_mb
from benchmarks.measure import Timings
from sandtable.capsule.keys import trusted_keys

SMALL = Size(users=4, runs=8, alone=2, flood=6, soak=24, soak_s=30, workers=3)
FINE = Measured(
    Timings([1.0]), Crowd(Timings([1.0]), 1.0, 1), Timings([2.0]), 1, Memory(), Kept(1, 0, 0, 1, {}), {}, 0
)


@pytest.mark.needs("userns")
async def test_nothing_is_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = await measure(SMALL, tmp_path)
    assert (found.kept.not_ended, found.kept.unproven, found.broken) == (0, 0, 0)
    assert found.crowd.runs == len(found.crowd.waited.values) == SMALL.runs
    assert found.kept.accepted >= 1 + 2 * SMALL.alone + SMALL.runs and found.kept.rederived > 0
    assert found.soaked == SMALL.soak and len(found.memory.samples) > 1
    assert {"succeeded", "rejected"} <= set(found.kept.endings)
    print_table(found)
    said = capsys.readouterr().out
    assert "a person beside a flood" in said and "PASS  runs that were accepted and did not end" in said
    told = json.loads(json.dumps(as_json(found, SMALL)))
    assert told["crowd"]["p95_ms"] >= told["crowd"]["p50_ms"] > 0 and told["kept"]["unproven"] == 0

    keys = trusted_keys(tmp_path)
    assert keys and not _proven('{"payload": "bm9uZQ==", "signatures": []}', keys)


@pytest.mark.parametrize(
    ("change", "missed"),
    [
        pytest.param({}, [], id="fine"),
        pytest.param({"kept": Kept(1, 1, 0, 1, {})}, ["runs that were accepted and did not end"], id="lost"),
        pytest.param({"kept": Kept(1, 0, 1, 1, {})}, ["runs without a capsule that verifies"], id="unproven"),
        pytest.param({"broken": 1}, ["answers that say that the server failed"], id="broken"),
        pytest.param({"flooded": Timings([9.0])}, ["a person's p95 beside a flood, over alone"], id="unfair"),
        pytest.param(
            {"memory": Memory(samples=[(float(n), 100.0 + n) for n in range(90)])},
            ["memory gained in the soak, after its first third"],
            id="leak",
        ),
    ],
)
def test_a_target_can_be_missed(change: dict[str, object], missed: list[str]) -> None:
    found = replace(FINE, **change)  # pyright: ignore[reportArgumentType] - fields by name
    assert [target.what for target in targets(found) if not target.met] == missed


def test_memory_is_a_line_through_what_comes_after_the_warm_up() -> None:
    warming = [(float(n), min(200.0, 100.0 + 10 * n)) for n in range(60)]
    assert Memory(samples=warming).mb_per_minute == pytest.approx(0, abs=1e-6)
    growing = [(float(n), 100.0 + n) for n in range(60)]
    assert Memory(samples=growing).mb_per_minute == pytest.approx(60)
    assert resident_mb(os.getpid()) > 10


def test_only_answers_of_a_broken_server_count_as_broken() -> None:
    ledger = Ledger()
    ledger.statuses.update({200: 5, 422: 1, 500: 2, 502: 1, 503: 4})
    assert ledger.broken == 3
