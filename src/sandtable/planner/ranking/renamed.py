"""The outcome of a question that uses the catalog's synonyms: that of its text with real names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sandtable.planner.conscience.account import put_back
from sandtable.planner.mentions.renaming import Renamed, renamed
from sandtable.planner.outcome import Outcome, Understood
from sandtable.planner.ranking.asking import unsure
from sandtable.planner.schema.index import SchemaIndex
from sandtable.quoting import quote


def by_real_names(question: str, index: SchemaIndex, planned: Callable[[str], Outcome]) -> Outcome:
    """`planned` reads a text with real names. Where a synonym has several meanings that give different plans, the user
    is asked which one is meant."""
    readings = renamed(question, index)
    if not readings:
        return planned(question)
    found = [_put_back(planned(each.text), each, question) for each in readings]
    if len(found) == 1:
        return found[0]
    understood = [each for each in found if isinstance(each, Understood)]
    if not understood:
        return found[0]
    as_written = [each for each in readings if each.meant == each.doubtful]
    if len(understood) == 1 and len(readings) == 2 and as_written:
        # One reading takes the words as a value of the data, and only one of the two makes sense.
        return understood[0]
    if len(understood) == len(found) and all(each.plan == understood[0].plan for each in understood):
        return understood[0]
    return replace(unsure(_open(readings), question, index), choices=tuple(understood))


def _open(readings: tuple[Renamed, ...]) -> str:
    written = readings[0].doubtful
    names = [
        f"the value {quote(written)}" if each.meant == written else quote(each.meant) for each in readings
    ]
    names = list(dict.fromkeys(names))
    several = f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]
    return f"It is open whether {quote(written)} means {several}. Which of them do you mean?"


def _put_back(outcome: Outcome, each: Renamed, question: str) -> Outcome:
    if isinstance(outcome, Understood):
        return _understood(outcome, each, question)
    guess = _understood(outcome.guess, each, question) if outcome.guess is not None else None
    return replace(
        outcome, guess=guess, choices=tuple(_understood(choice, each, question) for choice in outcome.choices)
    )


def _understood(understood: Understood, each: Renamed, question: str) -> Understood:
    account = understood.account
    return replace(
        understood,
        used=(*understood.used, *each.remarks),
        account=put_back(account, each, question) if account is not None else None,
    )
