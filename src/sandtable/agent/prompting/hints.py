"""What the built-in planner makes of a question, as hints for a chat model: its reading, even one that it would not
answer by, the words it could not bind, and the values of columns that the question names.

Invariant: pure. A hint is no instruction; the model's proposal is judged as if there were none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sandtable.agent.endpoint import Privacy
from sandtable.agent.privacy import literals, shown_reading
from sandtable.agent.prompting.schema import listed_values
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.planner.conscience import account
from sandtable.planner.language.reading import Reading
from sandtable.planner.mentions.finding import look
from sandtable.planner.outcome import Outcome, Understood
from sandtable.planner.schema.index import SchemaIndex, ValueHit

_MOST_VALUES = 8
_MOST_COLUMNS = 3
"""Columns that hold the same value."""
_MOST_UNBOUND = 8


@dataclass(frozen=True, slots=True)
class NamedValue:
    """Words of the question that are a value of the data."""

    words: str
    column: str
    """With its table, such as `orders.region`."""
    value: str


@dataclass(frozen=True, slots=True)
class Hints:
    plan: dict[str, Any] | None = None
    sure: bool = False
    """Whether the planner would answer by this plan with no part of it likely."""
    unbound: tuple[str, ...] = ()
    """Words that name no part of the plan."""
    values: tuple[NamedValue, ...] = ()


NO_HINTS = Hints()


def hints_of(
    question: str, outcome: Outcome, index: SchemaIndex, before: Mapping[str, Any] | None = None
) -> Hints:
    """`before` is the plan of the question before, which this one may follow up."""
    values = tuple(_named_values(question, index))[:_MOST_VALUES]
    if isinstance(outcome, Understood):
        guessed = _likely(question, outcome)[:_MOST_UNBOUND]
        return Hints(outcome.plan, sure=not guessed, unbound=guessed, values=values)
    unbound, plan = outcome.unknown, None
    if outcome.guess is not None:
        plan = outcome.guess.plan
        unbound += _unbound(question, outcome.guess, index, before)
    unbound = tuple(dict.fromkeys(unbound))[:_MOST_UNBOUND]
    return Hints(plan, unbound=unbound, values=values)


def _likely(question: str, understood: Understood) -> tuple[str, ...]:
    """Words that name nothing in the data, and that a part was likely read from."""
    if understood.account is None:
        return ()
    words = Reading.of(question).words
    return tuple(dict.fromkeys(words[at].text for _, places in understood.account.likely for at in places))


def _unbound(
    question: str, guess: Understood, index: SchemaIndex, before: Mapping[str, Any] | None
) -> tuple[str, ...]:
    known = dict(before) if before is not None and guess.follow_up else None
    return tuple(word.text for word in account(question, guess.plan, index, known).unbound)


def _named_values(question: str, index: SchemaIndex) -> Iterator[NamedValue]:
    found = look(question, index)
    taken: set[int] = set()
    # The longest words first: `North America` is not `North`.
    for match in sorted((*found.quoted, *found.values), key=lambda m: (m.start - m.end, m.start)):
        places = set(range(match.start, match.end))
        if places & taken or match.partial:
            continue
        named = list(_columns(match.text, match.hits))
        if named:
            taken |= places
        yield from named


def _columns(words: str, hits: Iterable[ValueHit]) -> Iterator[NamedValue]:
    texts = (hit for hit in hits if isinstance(hit.value, str))
    for hit in islice(texts, _MOST_COLUMNS):
        yield NamedValue(words, f"{hit.table}.{hit.column}", str(hit.value))


def shown_hints(
    hints: Hints, dataset: Dataset, profile: Profile, typed: str, privacy: Privacy
) -> dict[str, Any]:
    """As a prompt has them. `typed` is what the person wrote."""
    reading = shown_reading(hints.plan, typed, privacy)
    made: dict[str, Any] = {"reading": reading, "sure": hints.sure} if reading is not None else {}
    if hints.unbound:
        made["not_read"] = list(hints.unbound)
    values = [
        shown
        for named, shown in _shown(hints, dataset, profile, privacy)
        if reading is None or named.value not in set(literals(reading))
    ]
    return made | ({"values": values} if values else {})


def shown_values(hints: Hints, dataset: Dataset, profile: Profile, privacy: Privacy) -> list[dict[str, Any]]:
    return [shown for _, shown in _shown(hints, dataset, profile, privacy)]


def _shown(
    hints: Hints, dataset: Dataset, profile: Profile, privacy: Privacy
) -> Iterator[tuple[NamedValue, dict[str, Any]]]:
    """None with `schema`: that a column holds a value tells a cell. A value is written out unless it can be read off
    the words or, but for case, off the schema."""
    for named in hints.values if privacy == "off" else ():
        shown = {"words": named.words, "column": named.column}
        listed = named.value in listed_values(dataset, profile, named.column)
        alike = named.words == named.value or (listed and named.words.casefold() == named.value.casefold())
        yield named, shown if alike else shown | {"value": named.value}
