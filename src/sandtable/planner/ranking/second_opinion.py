"""Grammar and learned lookup together: which of the two readings of a question to use, and with what confidence.

The grammar explains every word or names those it cannot; the lookup scorer has learned how people word questions
for single cells of a table. It reads one table only, and is used only above a threshold.
"""

from __future__ import annotations

import re
from typing import Any

from sandtable.observing import timed_part
from sandtable.planner.candidates.grammar.sense import says_nothing
from sandtable.planner.candidates.lookup.lookup import Lookup, best_lookup
from sandtable.planner.language.words import split_name, split_words, stem
from sandtable.planner.outcome import Understood
from sandtable.planner.schema.columns import is_identifier
from sandtable.planner.schema.entries import Json
from sandtable.planner.schema.index import SchemaIndex

SURE = 0.75
"""From this probability on a lookup overrides the grammar's reading as another lookup."""
VERY_SURE = 0.95
_WEIGHT = 0.45
"""How much a sure lookup lowers the confidence of another reading: a sure reading is still answered."""
LIKELY = 0.75
"""From this probability on a lookup is used where the grammar has no reading."""
_LOOKUP_KEYS = frozenset({"dataset_id", "table", "select", "filters", "group_by", "notes"})


_COUNTED = re.compile(r"\bhow many\b|\bnumber of\b")
_GUESSED = 0.8
_RANKED = re.compile(r"\b(?:top|bottom|first|last) (?:\d+|two|three|four|five|six|seven|eight|nine|ten)\b")
"""The scorer does not support rankings: it would read the number as a value."""
_ORDER = re.compile(r"\bthe (first|last|final) (?!name)")
_VERDICT = re.compile(r"\W*(?:is|are|was|were|do|does|did|has|have|had)\b")


@timed_part("candidates")
def ask_lookup(question: str, index: SchemaIndex) -> Lookup | None:
    """Only where there is one table: between several the scorer cannot choose."""
    if _RANKED.search(question.lower()):
        return None
    found = best_lookup(question, index, index.tables[0].name) if len(index.tables) == 1 else None
    if found is None or says_nothing(found.plan, index) or _compares_identifier(found.plan, index):
        return None
    extreme = found.plan["select"][0].get("agg") in {"min", "max"}
    if extreme and _VERDICT.match(question.lower()):
        # "Is A the largest?": the largest of A alone does not answer it.
        return None
    return None if _forgets_order(question, found.plan) else found


def _forgets_order(question: str, plan: Json) -> bool:
    """`the last home game` answered with all of them: the word is in no cell and no name of the plan."""
    said = set(_ORDER.findall(question.lower()))
    told = str([plan["select"], plan.get("filters", ())]).lower()
    return any(word not in told for word in said) and "agg" not in plan["select"][0]


def _compares_identifier(plan: Json, index: SchemaIndex) -> bool:
    """Numbers that only name something are not larger or smaller than another."""
    compared = [f["column"] for f in plan.get("filters", ()) if f.get("op") in {"<", ">", "<=", ">="}]
    columns = [index.column(str(plan["table"]), str(name)) for name in compared]
    return any(c is not None and is_identifier(c) for c in columns)


def instead_of_nothing(lookup: Lookup | None, index: SchemaIndex) -> Understood | None:
    if lookup is None or lookup.probability < LIKELY:
        return None
    return as_understood(lookup, index)


def better_guess(
    understood: Understood | None, lookup: Lookup | None, index: SchemaIndex
) -> Understood | None:
    """For measuring: the lookup's plan, else that of the grammar, which failed at a word."""
    return as_understood(lookup, index) if lookup is not None else understood


def counts_rows(plan: Json) -> bool:
    """With a word left over, a count of rows counts something else than what was asked for."""
    return plan["select"][0].get("agg") == "count"


def weighed(
    understood: Understood, lookup: Lookup | None, index: SchemaIndex, question: str = ""
) -> Understood:
    """The grammar's reading, or the lookup's where it is the better one of two lookups."""
    if lookup is None:
        return _uncounted(understood, question)
    if not _is_lookup(understood.plan):
        return _against_ranking(understood, lookup, index)
    if _essence(understood.plan) == _essence(lookup.plan):
        confidence = max(understood.confidence, round(lookup.probability, 4))
        return Understood(understood.plan, confidence, understood.used)
    needed = LIKELY if _shows_the_unsaid(understood.plan, question) else SURE
    better = _says_more(lookup.plan, understood.plan) and not _takes_for_name(
        lookup.plan, understood.plan, index
    )
    if lookup.probability < needed or not better:
        return _doubted(understood, lookup)
    return as_understood(lookup, index)


def _uncounted(understood: Understood, question: str) -> Understood:
    """`how many goals …`: people mean the number in the cell, or how many cells there are. It stays a guess."""
    added_up = any(item.get("agg") in {"sum", "count_distinct"} for item in understood.plan["select"])
    if not added_up or not _COUNTED.search(question.lower()):
        return understood
    return Understood(understood.plan, round(_GUESSED * understood.confidence, 4), understood.used)


def _doubted(understood: Understood, lookup: Lookup) -> Understood:
    """The grammar's reading; its confidence falls as that of the lookup in another reading rises."""
    confidence = understood.confidence * (1 - _WEIGHT * lookup.probability)
    return Understood(understood.plan, round(confidence, 4), understood.used)


def _adds_counts(plan: Json, lookup: Json) -> bool:
    """`every year when …` read as a count for each year: the same rows, with counts that were not asked for."""
    item, *more = plan["select"]
    asked = lookup["select"][0]
    if "agg" in asked or item.get("column") != asked.get("column") or "derive" in plan or "limit" in plan:
        return False
    told = [sorted(map(str, p.get("filters", ()))) for p in (plan, lookup)]
    return (
        bool(more) and all(m.get("agg") in {"count", "count_distinct"} for m in more) and told[0] == told[1]
    )


def _takes_for_name(lookup: Json, grammar: Json, index: SchemaIndex) -> bool:
    """`reached number 1` is about a place: the number that names a row is the poorer reading."""
    ours = {str(f.get("value")): str(f["column"]) for f in grammar.get("filters", ())}
    for condition in lookup.get("filters", ()):
        column = index.column(str(lookup["table"]), str(condition["column"]))
        other = ours.get(str(condition.get("value")))
        if column is not None and is_identifier(column) and other not in {None, column.name}:
            return True
    return False


def _shows_the_unsaid(plan: Json, question: str) -> bool:
    """The grammar shows the rows by their name because it found nothing that was asked for."""
    item = plan["select"][0]
    said = {w.stem for w in split_words(question)}
    named = {stem(word) for word in split_name(str(item.get("column", "")))}
    return "agg" not in item and not said & named


def _against_ranking(understood: Understood, lookup: Lookup, index: SchemaIndex) -> Understood:
    """`the lowest rank of …` read as a list of one: a very sure lookup knows the value itself was meant."""
    plan = understood.plan
    if lookup.probability >= SURE and _adds_counts(plan, lookup.plan):
        return as_understood(lookup, index)
    if "group_by" in plan or "derive" in plan or plan.get("limit", 1) != 1:
        # A lookup cannot express this: its probability says nothing about it.
        return understood
    extreme = lookup.plan["select"][0].get("agg") in {"min", "max"}
    single = extreme and plan.get("limit") == 1
    if (
        lookup.probability < VERY_SURE
        or not single
        or len(lookup.plan["filters"]) < len(plan.get("filters", ()))
    ):
        return _doubted(understood, lookup)
    return as_understood(lookup, index)


def as_understood(lookup: Lookup, index: SchemaIndex) -> Understood:
    """The look-up's plan as one to answer with: texts once each, as the grammar lists them."""
    plan = lookup.plan
    item = plan["select"][0]
    column = index.column(str(plan["table"]), str(item.get("column", "")))
    if "agg" not in item and column is not None and column.text:
        plan = {**plan, "group_by": [column.name]}
    return Understood(plan, round(lookup.probability, 4), _used(plan))


def _is_lookup(plan: Json) -> bool:
    """One column, or one aggregate of one, under conditions that all hold."""
    if set(plan) - _LOOKUP_KEYS or len(plan["select"]) != 1:
        return False
    item = plan["select"][0]
    plain = "op" not in item and "bucket" not in item and "metric" not in item and item.get("column") != "*"
    return plain and all("column" in f for f in plan.get("filters", ()))


def _essence(plan: Json) -> tuple[Any, ...]:
    item = plan["select"][0]
    conditions = sorted((f["column"], f["op"], str(f.get("value"))) for f in plan.get("filters", ()))
    return item.get("agg"), item.get("column") if item.get("agg") != "count" else None, tuple(conditions)


def _says_more(lookup: Json, grammar: Json) -> bool:
    """No condition is lost, and it is about more than counting or adding up, or how large a number is."""
    ours, theirs = _essence(grammar), _essence(lookup)
    both = ours[0] is not None and theirs[0] is not None
    only_aggregate = ours[2] == theirs[2] and (both or ours[1] == theirs[1])
    other_numbers = [c[:2] for c in ours[2]] == [c[:2] for c in theirs[2]] and ours[:2] == theirs[:2]
    return len(theirs[2]) >= len(ours[2]) and not only_aggregate and not other_numbers


def _used(plan: Json) -> tuple[str, ...]:
    return tuple(f"read as {f['column']} {f['op']} {f.get('value')}" for f in plan.get("filters", ()))
