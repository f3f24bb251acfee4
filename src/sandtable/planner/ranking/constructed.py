"""Questions of a known form: the simpler questions are planned, and the plan built from theirs is checked by `account`.

Invariant: a plan from here accounts for every word of the question, and so does each plan that it is built of.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

from sandtable.observing import timed_part
from sandtable.planner.candidates.constructions.construction import Construction, Doubt, Rule
from sandtable.planner.candidates.constructions.rules import BESIDE, INSTEAD
from sandtable.planner.conscience import account
from sandtable.planner.language.reading import Reading
from sandtable.planner.mentions.finding import look
from sandtable.planner.ranking.tables import best_table
from sandtable.planner.schema.defined import valid_plan
from sandtable.planner.schema.entries import Json
from sandtable.planner.schema.index import SchemaIndex

CERTAINTY = 0.92
"""Of a plan that a rule built: its words are all bound, and no step of it was a guess."""
_LEAST = 0.55
_DEEPEST = 3
"""How many constructions may stand inside each other."""


@timed_part("candidates")
def instead(question: str, index: SchemaIndex) -> Json | Doubt | None:
    """By a rule whose words the grammar misreads."""
    return _built(question, index, INSTEAD, _DEEPEST)


@timed_part("candidates")
def beside(question: str, index: SchemaIndex) -> Json | Doubt | None:
    """By a rule for what the grammar cannot say."""
    return _built(question, index, BESIDE, _DEEPEST)


def _built(question: str, index: SchemaIndex, rules: Sequence[Rule], depth: int) -> Json | Doubt | None:
    reading = Reading.of(question)
    for rule in rules:
        for found in rule(reading, index):
            if isinstance(found, Doubt):
                open_ways = [text for text in found.readings if _plan_of(text, index, depth - 1) is not None]
                if len(open_ways) > 1:
                    return found
                continue
            plan = _plan_from(found, index, depth)
            if plan is not None and valid_plan(plan, index) and account(question, plan, index).clean:
                return plan
    return None


def _plan_from(found: Construction, index: SchemaIndex, depth: int) -> Json | None:
    plans: list[Json] = []
    for text in found.parts:
        plan = _plan_of(text, index, depth - 1)
        if plan is None:
            return None
        plans.append(copy.deepcopy(plan))
    return found.build(plans)


def _plan_of(text: str, index: SchemaIndex, depth: int) -> Json | None:
    """The plan of a simpler question, when all of its words are bound."""
    first = _built(text, index, INSTEAD, depth) if depth > 0 else None
    if isinstance(first, dict):
        return first
    best = best_table(text, index, look(text, index))
    sure = best is not None and not best.unknown and best.draft.certainty >= _LEAST
    plan = best.plan if best is not None and sure else None
    if plan is not None and valid_plan(plan, index) and account(text, plan, index).clean:
        return plan
    second = _built(text, index, BESIDE, depth) if depth > 0 else None
    return second if isinstance(second, dict) else None
