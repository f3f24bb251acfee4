"""Checks a chat model's plan against the words of the question, with the planner's `conscience`.

A time window, condition or limit that the question does not name is removed if the remaining plan accounts for every
word; otherwise the plan goes back to the model. Words that no part of the plan covers are shown with the answer.
Invariant: pure; a plan from which a part was removed is valid and accounts for the whole question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from sandtable.agent.read_as.building import aligned
from sandtable.agent.read_as.model import Aligned, Words
from sandtable.errors import ErrorCode, Problem
from sandtable.planner.charting import drawn_as, wish_alone, wish_in
from sandtable.planner.conscience import Account, Part, Unbound, account
from sandtable.planner.dialogue import points_back
from sandtable.planner.schema.defined import valid_plan
from sandtable.planner.schema.index import SchemaIndex
from sandtable.quoting import quote

_FAULTS = frozenset({"where", "when", "limit"})
"""Parts that change which rows an answer is about."""
_TIMES = frozenset({"time", "number", "unit", "content", "comparison"})
"""Kinds of words that could mean a time window; any word could mean a condition."""
_MOST_WORDS = 6
_SHORT = 6
"""A question of so few words may be a follow-up."""

_FOREIGN = frozenset(
    "wie viele der die das und nach mit für von welche welcher zeige mir ist sind im pro monat umsatz "
    "quel quelle quels combien les des par avec pour dans est sont montre moi chiffre "
    "cuál cuáles cuántos cuántas los las por para con mes ventas muéstrame qué del el "
    "quanto quanti quale gli per nel mostrami il vendite quantos quais qual mostre vendas "
    "hoeveel welke het een per maand toon".split()
)
_ENGLISH = frozenset(
    "the of by in for and to per is are how many what which show me with from average total".split()
)


@dataclass(frozen=True, slots=True)
class Accounted:
    plan: dict[str, Any]
    """The plan, without what the question does not ask for."""
    remarks: tuple[str, ...] = ()
    """What a person should check, in whole sentences."""
    problem: Problem | None = None
    """Why the plan does not answer this question."""
    alignment: Aligned | None = None
    """Which words each part of the plan came from."""


def accounted(
    question: str, plan: dict[str, Any], index: SchemaIndex, before: dict[str, Any] | None = None
) -> Accounted:
    """`before` is the plan of the question before, which this one may follow up."""
    wish = wish_alone(question, index) or wish_in(question, index)
    held = _held(question, drawn_as(plan, wish) if wish is not None else plan, index, before)
    return replace(held, remarks=(*held.remarks, wish.remark)) if wish is not None and wish.remark else held


def _held(
    question: str, plan: dict[str, Any], index: SchemaIndex, before: dict[str, Any] | None
) -> Accounted:
    if is_foreign(question):
        unread = Aligned(question=question, unread=(Words(text=question, start=0, end=len(question)),))
        remark = "The plan was not held against the words: only English is read."
        return Accounted(plan, (remark,), alignment=unread)
    found = account(question, plan, index, before)
    words = aligned(question, found)
    if plan.get("why"):
        return Accounted(plan, alignment=words)
    faults = [part for part in found.unasked if _is_fault(part, found)]
    if not faults:
        remarks = (*_remarks(found), *_kept(question, plan, index, before, found))
        return Accounted(plan, remarks, alignment=words)
    shorter = _without(plan, faults)
    if shorter is not None and valid_plan(shorter, index):
        again = account(question, shorter, index, before)
        if again.clean:
            said = " and ".join(quote(part.label) for part in faults)
            remark = f"The model's plan had {said}, which the question does not name: left out."
            return Accounted(shorter, (remark,), alignment=aligned(question, again))
    return Accounted(plan, problem=_problem(faults))


def is_foreign(question: str) -> bool:
    """Whether the question is not in English, judged by its function words."""
    words = re.findall(r"[^\W\d_]+", question.lower())
    foreign = sum(word in _FOREIGN or not word.isascii() for word in words)
    english = sum(word in _ENGLISH for word in words)
    return bool(words) and foreign > english and foreign * 3 >= len(words)


def _is_fault(part: Part, found: Account) -> bool:
    """Whether no unused word of the question could mean this part."""
    if part.kind not in _FAULTS or part.path[:1] == ("define",):
        return False
    if part.kind == "when":
        return not any(word.kind in _TIMES for word in found.unbound)
    return not found.unbound


def _without(plan: dict[str, Any], faults: list[Part]) -> dict[str, Any] | None:
    """The plan without these parts; None when one of them is inside another part."""
    made = dict(plan)
    gone: dict[str, set[int]] = {}
    for part in faults:
        match part.path:
            case ("time",) | ("limit",):
                made.pop(str(part.path[0]), None)
            case ("filters" | "having" as field, int(place)) if isinstance(plan.get(field), list):
                gone.setdefault(field, set()).add(place)
            case _:
                return None
    for field, places in gone.items():
        made[field] = [each for place, each in enumerate(plan[field]) if place not in places]
    if "limit" not in made:
        made.pop("ties", None)
    return {field: value for field, value in made.items() if field not in gone or value}


def _problem(faults: list[Part]) -> Problem:
    names = {"when": "the time", "where": "the condition", "limit": "the limit"}
    said = [f"{names[part.kind]} {quote(part.label)}" for part in faults]
    return Problem(
        code=ErrorCode.VALIDATION_ERROR,
        message=f"no word of the question asks for {' and '.join(said)}",
        suggestion="Leave it out, or ask back when the question cannot be answered without it.",
    )


def _remarks(found: Account) -> tuple[str, ...]:
    words = _listed(found.unbound)
    if not words:
        return ()
    added = [quote(part.label) for part in found.unasked if part.kind in _FAULTS]
    if added:
        return (f"Check this: the model read {words} as {' and '.join(added)}.",)
    return (f"Check this: no part of the plan means {words}.",)


def _listed(unbound: tuple[Unbound, ...]) -> str:
    texts = [quote(word.text) for word in unbound]
    more = f" and {len(texts) - _MOST_WORDS} more" if len(texts) > _MOST_WORDS else ""
    return ", ".join(texts[:_MOST_WORDS]) + more


def _kept(
    question: str, plan: dict[str, Any], index: SchemaIndex, before: dict[str, Any] | None, found: Account
) -> tuple[str, ...]:
    """The parts of the previous plan that a question keeps although it does not look like a follow-up."""
    if before is None or points_back(question, first=False) or len(question.split()) <= _SHORT:
        return ()
    alone = account(question, plan, index).unasked
    known = {part.path for part in found.unasked}
    kept = [quote(part.label) for part in alone if part.kind in _FAULTS and part.path not in known]
    return (f"Kept from the question before: {' and '.join(kept)}.",) if kept else ()
