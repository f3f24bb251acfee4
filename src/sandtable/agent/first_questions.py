"""Questions to begin with, for a dataset that declares none: made from its columns, kept when the planner answers them.

Invariant: a question is proposed only if the built-in planner answers it, and with a plan over the columns it was made
from.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from sandtable.catalog.measures import MeasureKind, measure_kind
from sandtable.catalog.model import Column, Dataset, Meaning, Table
from sandtable.catalog.profile import ColumnProfile, Profile
from sandtable.catalog.proposed.meanings import meaning_of
from sandtable.wording.phrases import plural, words

MOST = 6
_MOST_TRIED = 40
_MOST_GROUPS = 30
_GROUPS = (Meaning.CATEGORY, Meaning.PLACE, Meaning.YES_NO)
_NUMBERS = (Meaning.MONEY, Meaning.AMOUNT, Meaning.SCORE, Meaning.DURATION, Meaning.PERCENT)
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)$")

PlanOf = Callable[[str], Awaitable[Mapping[str, Any] | None]]
"""The plan with which the planner answers a question; None where it asks back."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    question: str
    columns: frozenset[str]
    """Lower case, without their tables."""


async def first_questions(dataset: Dataset, profile: Profile, plan_of: PlanOf) -> list[str]:
    """Up to six, of different kinds; fewer where the data or the planner give fewer."""
    kept: list[str] = []
    for number, candidate in enumerate(_candidates(dataset, profile)):
        if len(kept) == MOST or number == _MOST_TRIED:
            break
        plan = await plan_of(candidate.question)
        if plan is not None and _columns_in(plan) == candidate.columns:
            kept.append(candidate.question)
    return kept


def _candidates(dataset: Dataset, profile: Profile) -> Iterator[_Candidate]:
    """One of each kind in turn, from the table with the most rows on."""
    tables = sorted(dataset.tables, key=lambda table: -(table.rows or 0))
    kinds = [kind for table in tables[:3] for kind in _kinds(_Sorted.of(table, profile))]
    seen: set[str] = set()
    for round_ in zip_longest(*kinds):
        for candidate in round_:
            if candidate is not None and candidate.question not in seen:
                seen.add(candidate.question)
                yield candidate


@dataclass(frozen=True, slots=True)
class _Sorted:
    """The columns of a table by what can be asked of them."""

    table: Table
    groups: tuple[Column, ...]
    added: tuple[Column, ...]
    averaged: tuple[Column, ...]

    @classmethod
    def of(cls, table: Table, profile: Profile) -> _Sorted:
        seen = profile.table(table.name)
        groups: list[Column] = []
        added: list[Column] = []
        averaged: list[Column] = []
        for column in table.columns:
            found = seen.column(column.name) if seen else None
            what = meaning_of(column, found, table)
            if what.personal:
                continue
            if what.meaning in _GROUPS and _groups_well(found):
                groups.append(column)
            elif what.meaning in _NUMBERS:
                adds = measure_kind(column, found) is MeasureKind.ADDITIVE
                (added if adds else averaged).append(column)
        # What most tables are about comes first: money, and categories of few values.
        added.sort(key=lambda column: meaning_of(column, None).meaning is not Meaning.MONEY)
        groups.sort(key=lambda column: meaning_of(column, None).meaning is Meaning.YES_NO)
        return cls(table, tuple(groups), tuple(added), tuple(averaged))


def _groups_well(profile: ColumnProfile | None) -> bool:
    return profile is not None and 2 <= profile.distinct <= _MOST_GROUPS


def _kinds(of: _Sorted) -> Iterator[Iterator[_Candidate]]:
    rows = plural(words(of.table.name)).lower()
    when = of.table.time_column
    yield (_of(f"Total {_said(n)} by {_said(g)}", n, g) for n in of.added for g in of.groups)
    if when is not None:
        moment = of.table.column(when)
        if moment is not None:
            yield (_of(f"Total {_said(n)} per month", n, moment) for n in of.added)
            yield iter([_of(f"How many {rows} per month?", moment)])
    yield (
        _of(f"Average {_said(n)} by {_said(g)}", n, g) for n in (*of.averaged, *of.added) for g in of.groups
    )
    yield (_of(f"How many {rows} per {_said(g)}?", g) for g in of.groups)
    yield (
        _of(f"Which {_said(g)} has the highest total {_said(n)}?", n, g) for g in of.groups for n in of.added
    )
    yield (
        _of(f"Which {_said(g)} has the lowest average {_said(n)}?", n, g)
        for g in of.groups
        for n in of.averaged
    )
    yield iter([_Candidate(f"How many {rows} are there?", frozenset())])
    yield (_of(f"What is the highest {_said(n)}?", n) for n in (*of.added, *of.averaged))


def _of(question: str, *columns: Column) -> _Candidate:
    return _Candidate(question, frozenset(column.name.lower() for column in columns))


def _said(column: Column) -> str:
    """`Runtime (min)` is "runtime"."""
    return words(_IN_BRACKETS.sub("", column.name) or column.name, column.unit)


def _columns_in(plan: Mapping[str, Any]) -> frozenset[str]:
    """The columns that a plan reads, without their tables; columns of its own results apart."""
    own = {str(item["as"]).lower() for item in _objects(plan) if "as" in item}
    read: set[str] = set()
    for item in _objects(plan):
        for key in ("column", "time_column"):
            name = item.get(key)
            if isinstance(name, str):
                read.add(name.rpartition(".")[2].lower())
        for entry in (*(item.get("group_by") or ()), *(item.get("select") or ())):
            if isinstance(entry, str):
                read.add(entry.rpartition(".")[2].lower())
    return frozenset(read - own)


def _objects(node: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(node, Mapping):
        yield node
        for inner in node.values():
            yield from _objects(inner)
    elif isinstance(node, list | tuple):
        for inner in node:
            yield from _objects(inner)
