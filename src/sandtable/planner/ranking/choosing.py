"""Which of the candidates is answered, if any: the likeliest one that the rules below allow.

A plan that accounts for every word may be answered. One that does not may be answered only when the network
wrote it, and
- what is left over are a few content words ("takings"), or words that ask for groups ("per", "each") where no word
  names the groups, and they resemble nothing in the data that the plan does not use ("survivors" is no other word for
  passengers where there is a column "survived"), and none of them is a name ("suppliers in Spain");
- what no word asks for is how a measure is computed or what it is grouped by, or a condition that words are left for.
The words that are left are read as the parts that no word names, and where every part is named, as said of the part
that stands nearest ("bed capacity of the whole hospital"). Such parts are marked likely. Negations, comparisons,
numbers, units, superlatives and times are never explained so, a window or a limit is never added, and codes are never
added up.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import lru_cache

from sandtable.observing import timed_part
from sandtable.planner.conscience import Account, Part, Unbound, known_pieces
from sandtable.planner.conscience.naming import names_column
from sandtable.planner.conscience.pieces import adds_codes
from sandtable.planner.language.demonyms import COUNTRIES
from sandtable.planner.language.vocabulary import FILLER
from sandtable.planner.language.words import stem
from sandtable.planner.ranking.candidates import Candidate, Field
from sandtable.planner.ranking.features import features
from sandtable.planner.ranking.weigher import Weigher
from sandtable.planner.schema.columns import is_unique
from sandtable.planner.schema.entries import ColumnEntry, Json, TableEntry
from sandtable.planner.schema.index import SchemaIndex

_NAMEABLE = frozenset({"measure", "by", "where", "shape"})
"""Kinds of parts that a content word can mean without naming anything in the data."""
_COMPUTED = frozenset({"measure", "by"})
"""Kinds that the network may add where the question leaves them open: "top ten merchants by spend" adds spend up."""
_GROUPING = frozenset({"per", "each", "every"})
_NAME = re.compile(r"[A-Z][a-z]{2,}")
_TELLING = frozenset(
    "new newly returning repeat repeated existing again already loyal former previously earlier still same other "
    "others different else another both rest remaining combined cumulative consecutive row half double typical "
    "regular regularly usually always often rarely once twice mutual overlapping unique".split()
)
"""Words that change what is asked for, whatever they stand beside."""
_EQUALS = 0.05
"""How much less probable a plan may be and still come first, if the network is sure of it."""
_MOST_LEFT = 3
"""Words that name nothing, at most."""
_ALIKE = 0.7
_ROOT = 5
"""Letters that two words of one root share at least: survivors, survived."""


@dataclass(frozen=True, slots=True)
class Weighed:
    candidate: Candidate
    probability: float
    """How likely it is what was meant."""
    account: Account | None
    """The account for the answer; None where the rules forbid an answer."""


@timed_part("ranking")
def weigh(among: Field, weigher: Weigher) -> list[Weighed]:
    """All candidates, the likeliest first."""
    found = [
        Weighed(
            each,
            weigher.probability(features(each, among)),
            answerable_account(each, among.index, follows=among.before is not None),
        )
        for each in among.candidates
    ]
    # A plan that shows one thing more is as often right: of equals, what the network finds likelier comes first.
    return sorted(found, key=lambda each: -each.probability - _EQUALS * each.candidate.likelihood)


def answerable_account(candidate: Candidate, index: SchemaIndex, *, follows: bool = False) -> Account | None:
    """The account with which the plan may be answered.

    `follows`: it is read from a message after an answer. There a word that names nothing may point at what was said,
    and is not said of the part beside it.
    """
    found = candidate.account
    if found.clean:
        return found
    if candidate.place < 0 or any(adds_codes(piece) for piece in known_pieces(candidate.plan, index)):
        return None
    unnamed = _unnamed(found)
    spare = bool(found.unbound or found.loose)
    added = [part for part in found.unasked if part.kind in _COMPUTED or (part in unnamed and spare)]
    if len(added) < len(found.unasked):
        return None
    parts = added or unnamed
    if not all(_is_explained(each, parts) for each in found.unbound) or _leaves_too_much(found):
        return None
    if follows and found.unbound and not parts:
        return None
    if any(
        resembles_unused(word, candidate.plan, index) for each in found.unbound for word in each.text.split()
    ):
        return None
    if not parts:
        return replace(found, unbound=(), likely=_nearest(found))
    return replace(
        found, unbound=(), unasked=(), likely=_likely(found, parts), parts=_without_words(found, parts)
    )


def _leaves_too_much(found: Account) -> bool:
    """Whether so many words name nothing that they may add a meaning, or one certainly does."""
    many = sum(each.end - each.start for each in found.unbound) > _MOST_LEFT
    telling = any(_TELLING & set(each.text.lower().split()) for each in found.unbound)
    return many or telling or any(each.start > 0 and _NAME.match(each.text) for each in found.unbound)


def _nearest(found: Account) -> tuple[tuple[tuple[str | int, ...], tuple[int, ...]], ...]:
    """Each run of words that are left, with the part whose words stand nearest to it."""
    spoken = [part for part in found.parts if part.words]
    return tuple(
        (
            min(spoken, key=lambda part: min(abs(at - each.start) for at in part.words)).path,
            tuple(range(each.start, each.end)),
        )
        for each in found.unbound
        if spoken
    )


def _is_explained(word: Unbound, parts: list[Part]) -> bool:
    if word.kind == "content":
        return True
    return word.text.lower() in _GROUPING and any(part.kind == "by" for part in parts)


def _unnamed(found: Account) -> list[Part]:
    return [part for part in found.parts if not part.words and part.kind in _NAMEABLE]


def _likely(found: Account, parts: list[Part]) -> tuple[tuple[tuple[str | int, ...], tuple[int, ...]], ...]:
    """Each part with the words it was likely read from: one by one where there are as many, else all of them."""
    spans = [tuple(range(each.start, each.end)) for each in found.unbound]
    if len(spans) != len(parts):
        spans = [tuple(at for span in spans for at in span)] * len(parts)
    return tuple((part.path, (*part.words, *span)) for part, span in zip(parts, spans, strict=True))


def _without_words(found: Account, parts: list[Part]) -> tuple[Part, ...]:
    """The words of a likely part are likely, too."""
    return tuple(replace(part, words=()) if part in parts else part for part in found.parts)


def resembles_unused(word: str, plan: Json, index: SchemaIndex) -> bool:
    """Whether an unbound word resembles something in the data that the plan does not use."""
    plain = word.lower().strip("'’.,?!")
    if len(plain) < 3 or plain in FILLER:
        return False
    said = json.dumps(plan, default=str).lower()
    hits = [*index.find_value(plain), *index.find_value(COUNTRIES.get(plain, plain))]
    hits += index.values_of_root(plain)
    if hits:
        return not any(json.dumps(str(hit.value)).lower() in said for hit in hits)
    root = stem(plain)
    columns = [
        c
        for table in index.tables
        for c in table.columns
        if _is_like(root, c) and not _is_of_row(c, table, plan)
    ]
    if columns:
        return not any(f'"{c.name.lower()}"' in said or f'.{c.name.lower()}"' in said for c in columns)
    metrics = [m for m in index.metrics if root in m.stems]
    return bool(metrics) and not any(f'"{m.metric.name.lower()}"' in said for m in metrics)


def _is_of_row(column: ColumnEntry, table: TableEntry, plan: Json) -> bool:
    """`devices` where every row has its own `device_no`: another word for the rows that the plan reads."""
    return table.name == plan.get("table") and is_unique(column, table)


def _is_like(root: str, column: ColumnEntry) -> bool:
    return names_column(root, column) >= _ALIKE or any(_same_root(root, each) for each in column.stems)


@lru_cache(maxsize=20_000)
def _same_root(one: str, other: str) -> bool:
    shared = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return shared >= _ROOT and shared >= min(len(one), len(other)) - 1
