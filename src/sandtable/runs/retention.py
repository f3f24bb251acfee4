"""Decides what is kept and what is removed, by age, count and size. Pure: things and rules in, a decision out.

A thing is as new as the newest thing that needs it, directly or through others: a run that an answer of a conversation
names is as new as the conversation, and the cells of a session are as new as its latest. In that order each rule
removes the oldest things. Invariant: what is kept needs nothing that is removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Literal, Self

from sandtable.errors import InvalidInput
from sandtable.settings import Settings

Rule = Literal["age", "count", "size"]
Kind = Literal["run", "thread", "session", "boards"]
Name = tuple[Kind, str]

DAY_S = 86_400.0
_SPANS = {"h": 3600.0, "d": DAY_S, "w": 7 * DAY_S}
_SPAN = re.compile(r"([0-9]{1,6})\s*([hdw])")
_SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([kmgt]?)i?b?")


@dataclass(frozen=True, slots=True)
class Thing:
    name: Name
    at: float
    """When it was last used, in seconds since 1970. `inf` for things that always stay."""
    bytes: int = 0
    needs: tuple[Name, ...] = ()
    """Names of things that do not exist are ignored."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Each field is a limit; without any, everything is kept."""

    older_than_s: float | None = None
    keep_runs: int | None = None
    max_bytes: int | None = None

    @classmethod
    def of(cls, settings: Settings) -> Self:
        days, size = settings.keep_days, settings.keep_mb
        return cls(
            older_than_s=None if days is None else days * DAY_S,
            keep_runs=settings.keep_runs,
            max_bytes=None if size is None else size << 20,
        )

    @property
    def any(self) -> bool:
        return not (self.older_than_s is None and self.keep_runs is None and self.max_bytes is None)


@dataclass(frozen=True, slots=True)
class Amount:
    count: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Decision:
    at: float
    """When it was made."""
    goes: frozenset[Name] = frozenset()
    rule: Rule | None = None
    """The first rule that was exceeded, going from the newest thing on; all older things are removed by it."""
    held: dict[Kind, Amount] = field(default_factory=dict)
    going: dict[Kind, Amount] = field(default_factory=dict)
    needed: int = 0
    """Runs that stay although a rule alone would remove them: something that is kept needs them."""


def decide(things: Iterable[Thing], rules: Rules, now: float) -> Decision:
    known = {thing.name: thing for thing in things}
    goes: set[Name] = set()
    rule: Rule | None = None
    runs = size = 0
    for at, group in _together(known):
        weight = sum(thing.bytes for thing in group)
        if rule is None and at < inf:
            rule = _broken(rules, now - at, runs, size + weight)
        if rule is not None:
            goes |= {thing.name for thing in group}
        else:
            runs, size = runs + sum(thing.name[0] == "run" for thing in group), size + weight
    going = _amounts(known[name] for name in goes)
    kept = [thing for name, thing in known.items() if name not in goes and name[0] == "run"]
    needed = _beyond(kept, rules, now)
    return Decision(now, frozenset(goes), rule, _amounts(known.values()), going, needed)


def unneeded(decision: Decision, things: Iterable[Thing]) -> set[Name]:
    """The removals of a decision that are still valid, given the present things: things used or added since keep what
    they need."""
    known = {thing.name: thing for thing in things}
    left = [name for name, thing in known.items() if name not in decision.goes or thing.at > decision.at]
    kept: set[Name] = set()
    while left:
        name = left.pop()
        if name not in kept and name in known:
            kept.add(name)
            left += known[name].needs
    return known.keys() - kept


def _beyond(kept: list[Thing], rules: Rules, now: float) -> int:
    old = [thing for thing in kept if rules.older_than_s is not None and now - thing.at > rules.older_than_s]
    many = 0 if rules.keep_runs is None else len(kept) - rules.keep_runs
    return max(len(old), many, 0)


def _amounts(things: Iterable[Thing]) -> dict[Kind, Amount]:
    made: dict[Kind, Amount] = {}
    for thing in things:
        before = made.get(thing.name[0], Amount())
        made[thing.name[0]] = Amount(before.count + 1, before.bytes + thing.bytes)
    return made


def _broken(rules: Rules, age_s: float, runs_before: int, size: int) -> Rule | None:
    """The first rule that a group of things exceeds."""
    if rules.older_than_s is not None and age_s > rules.older_than_s:
        return "age"
    if rules.keep_runs is not None and runs_before >= rules.keep_runs:
        return "count"
    if rules.max_bytes is not None and size > rules.max_bytes:
        return "size"
    return None


def _together(known: Mapping[Name, Thing]) -> Iterator[tuple[float, list[Thing]]]:
    """Groups of equally new things, newest first, each with the thing that determines the group's age."""
    seen: set[Name] = set()
    for newest in sorted(known.values(), key=lambda thing: (thing.at, thing.name), reverse=True):
        if newest.name in seen:
            continue
        group, left = list[Thing](), [newest.name]
        while left:
            name = left.pop()
            if name in seen or name not in known:
                continue
            seen.add(name)
            group.append(known[name])
            left += known[name].needs
        yield newest.at, group


def seconds_of(text: str) -> float:
    """`90d`, `12h`, `4w`. Raises InvalidInput."""
    found = _SPAN.fullmatch(text.strip().lower())
    if found is None:
        raise InvalidInput(
            f"{text[:40]!r} is no span of time",
            suggestion="Write it like 90d, 12h or 4w.",
            field="older_than",
        )
    return int(found[1]) * _SPANS[found[2]]


def bytes_of(text: str) -> int:
    """`2GB`, `500 MiB`, `1.5g`, all in powers of 1024. Raises InvalidInput."""
    found = _SIZE.fullmatch(text.strip().lower())
    if found is None:
        raise InvalidInput(
            f"{text[:40]!r} is no size", suggestion="Write it like 2GB or 500MB.", field="max_size"
        )
    return int(float(found[1]) * _SIZES[found[2]])
