"""What must hold, with the measured value beside it."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.chat import TALKERS, Chats
from benchmarks.contenders import IN_PROCESS, SUBPROCESS, sandtable_name
from benchmarks.growth import TURNS, Growth
from benchmarks.measure import Table, Timings


@dataclass(frozen=True, slots=True)
class Target:
    what: str
    measured: float
    limit: float
    unit: str

    @property
    def met(self) -> bool:
        return self.measured <= self.limit


@dataclass(frozen=True, slots=True)
class Extras:
    idle_mb: float
    kill_ms: list[float]
    gate: Timings
    server_gate: Timings
    digest_check: Timings
    large_floor_ms: float
    large_ours_ms: float
    hangs: int
    unexpected: int
    soak_runs: int


def judge(table: Table, extras: Extras, chats: Chats, growth: Growth) -> list[Target]:
    return [
        *_timing_targets(table),
        *_extra_targets(extras),
        *chat_targets(chats),
        *growth_targets(growth),
    ]


def growth_targets(growth: Growth) -> list[Target]:
    return [
        Target(f"a thread of {TURNS} ordinary turns", growth.states_mb, 2, "MB"),
        Target(f"unanswered of these {TURNS} turns", growth.unanswered, 0, ""),
    ]


def chat_targets(chats: Chats) -> list[Target]:
    return [
        Target("chat: first event, median", chats.first_event.median, 50, "ms"),
        Target("chat: complete answer, median", chats.complete.median, 150, "ms"),
        Target(f"chat: complete answer of {TALKERS} at once, p95", chats.crowded.p95, 1000, "ms"),
        Target("chat: questions without an answer", chats.unanswered, 0, ""),
    ]


def _timing_targets(table: Table) -> list[Target]:
    one, group = "select 1", "GROUP BY 50k rows"
    floor = table[IN_PROCESS]
    presealed, standby, fresh = (table[sandtable_name(name)] for name in ("presealed", "standby", "fresh"))
    plain = table[SUBPROCESS][one].median
    return [
        Target(
            "presealed select 1, median: in-process + 2 ms",
            presealed[one].median,
            floor[one].median + 2,
            "ms",
        ),
        Target("presealed select 1, p95: in-process + 5 ms", presealed[one].p95, floor[one].p95 + 5, "ms"),
        Target("presealed GROUP BY / in-process", presealed[group].median / floor[group].median, 1.75, "×"),
        Target("standby GROUP BY / in-process", standby[group].median / floor[group].median, 2.25, "×"),
        Target("fresh select 1: in-process + 15 ms", fresh[one].median, floor[one].median + 15, "ms"),
        Target("fresh select 1 / plain subprocess", fresh[one].median / plain, 0.10, "×"),
    ]


def _extra_targets(extras: Extras) -> list[Target]:
    large = extras.large_ours_ms / extras.large_floor_ms
    return [
        Target("idle memory of a standby", extras.idle_mb, 20, "MB"),
        Target("a kill lands after its limit, at the latest", max(extras.kill_ms), 100, "ms"),
        Target("gate of a command, its parser kept, median", extras.gate.median, 5, "ms"),
        Target("gate of a server, a parser for each text, median", extras.server_gate.median, 5, "ms"),
        Target("digest check of a query, before and after it, median", extras.digest_check.median, 0.2, "ms"),
        Target("large GROUP BY / in-process, same threads", large, 1.5, "×"),
        Target(f"hangs in {extras.soak_runs} mixed runs", extras.hangs, 0, ""),
        Target(f"unexpected outcomes in {extras.soak_runs} mixed runs", extras.unexpected, 0, ""),
    ]
