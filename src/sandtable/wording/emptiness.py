"""Why there is nothing: the first condition that leaves no rows, and texts that are in no row of their column.

Invariant: every number is one of the counts that were given, or was written in the plan.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandtable.catalog.model import Dataset
from sandtable.plan.definitions import with_defined
from sandtable.plan.emptying import Emptied, Funnel
from sandtable.plan.lookup import MOST_ELSEWHERE, Change, MissingValue
from sandtable.plan.model import QueryPlan
from sandtable.plan.moments import day_of, read_moment
from sandtable.plan.reading import read_plan
from sandtable.plan.resolve import resolve_plan
from sandtable.plan.resolved import ResolvedPlan
from sandtable.plan.windows import RangeWindow
from sandtable.quoting import quote
from sandtable.wording import conditions, dates
from sandtable.wording.phrases import joined, words
from sandtable.wording.reading import PlanWords
from sandtable.wording.windows import Anchored

_MOST_NAMED = 3
_LONGEST_CONDITION = 160


def why_empty(plan: Mapping[str, Any], funnel: Funnel, found: Emptied, dataset: Dataset) -> str:
    """A sentence; empty where the conditions on rows do not explain it."""
    said = _words(plan, (), dataset)
    if said is None:
        return ""
    noun = said.naming.rows
    if not found.rows:
        return f"There are no {noun} at all."
    of = f"Of {found.rows:,} {noun},"
    if found.by is None:
        kept = conditions.all_of(said.plan.having, said.over_outputs.terms)
        left = _restriction(plan, funnel.conditions, dataset)
        return f"{of} {_are_left(found.before)} {left}, but no group passes: {kept}." if kept else ""
    empties = _restriction(plan, funnel.conditions[found.by : found.by + 1], dataset)
    last = f"{empties}{_ends(plan, funnel, found, dataset)}"
    if found.by == 0:
        return f"{of} none is left {last}."
    earlier = _restriction(plan, funnel.conditions[: found.by], dataset)
    return f"{of} {_are_left(found.before)} {earlier}, and none of these {last}."


def _are_left(count: int) -> str:
    return f"{count:,} {'is' if count == 1 else 'are'} left"


def _words(
    plan: Mapping[str, Any], filters: Sequence[Mapping[str, Any]], dataset: Dataset, time: Any = None
) -> PlanWords | None:
    """The words for these conditions, as part of the plan; without any, those for the plan itself."""
    asked = dict(plan)
    if filters or time is not None:
        asked = {field: plan[field] for field in ("dataset_id", "define", "table") if field in plan}
        asked |= {"select": [{"agg": "count"}], "filters": list(filters)}
        asked |= {"time": time} if time is not None else {}
    parsed = read_plan(asked)
    resolved = resolve_plan(parsed, dataset) if isinstance(parsed, QueryPlan) else None
    if not isinstance(parsed, QueryPlan) or not isinstance(resolved, ResolvedPlan):
        return None
    return PlanWords(parsed, with_defined(resolved, dataset), resolved)


def _restriction(plan: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], dataset: Dataset) -> str:
    """What follows the noun: "where region is North, in March 2026"."""
    times = [part["time"] for part in parts if "time" in part]
    said = _words(plan, [part for part in parts if "time" not in part], dataset, times[0] if times else None)
    further = [_words(plan, (), dataset, time) for time in times[1:]]
    texts = [*((said.where(), said.time()) if said else ()), *(each.time() for each in further if each)]
    return ", ".join(text for text in texts if text)


def _ends(plan: Mapping[str, Any], funnel: Funnel, found: Emptied, dataset: Dataset) -> str:
    """Where the data begin or end, if the time window lies outside."""
    if found.by is None or found.by != funnel.dated:
        return ""
    said = _words(plan, (), dataset, funnel.conditions[found.by]["time"])
    anchored = said.window() if said else None
    first, last = read_moment(str(found.first)), read_moment(str(found.last))
    if anchored is None or first is None or last is None:
        return ""
    begins, ends = _bounds(anchored)
    if begins is not None and day_of(last) < begins:
        return f" (the data end on {dates.day(day_of(last))})"
    if ends is not None and day_of(first) > ends:
        return f" (the data begin on {dates.day(day_of(first))})"
    return ""


def _bounds(anchored: Anchored) -> tuple[dt.date | None, dt.date | None]:
    """The first and the last day of a window, as far as they are known."""
    days = anchored.days()
    if days is not None:
        return days[0], days[1] - dt.timedelta(days=1)
    if not isinstance(anchored.time, RangeWindow):
        return None, None
    begins, ends = read_moment(anchored.time.from_ or ""), read_moment(anchored.time.to or "")
    return day_of(begins) if begins is not None else None, day_of(ends) if ends is not None else None


def not_in_the_data(missing: Sequence[MissingValue]) -> str:
    """That texts are in no row of their columns, as a sentence of plain text."""
    told = list(
        dict.fromkeys(f"{quote(one.literal.value)} as {words(one.literal.column.column)}" for one in missing)
    )
    more = len(told) - _MOST_NAMED
    shown = [*told[:_MOST_NAMED], *([f"{more} other values"] if more > 0 else [])]
    return f"No row has {joined(shown, 'or')}."


def near_in_the_data(missing: Sequence[MissingValue]) -> str:
    """What may be meant instead, as sentences of plain text; empty where nothing is near."""
    return " ".join(dict.fromkeys(text for one in missing[:_MOST_NAMED] for text in _near(one)))


def _near(one: MissingValue) -> Iterator[str]:
    if one.nearest:
        values = joined([quote(value) for value in one.nearest[:_MOST_NAMED]])
        yield f"Near {quote(one.literal.value)}: {values}."
    if one.elsewhere:
        columns = [quote(f"{each.table}.{each.column}") for each in one.elsewhere[:MOST_ELSEWHERE]]
        yield f"{joined(columns)} {'has' if len(columns) == 1 else 'have'} {quote(one.elsewhere[0].value)}."


def why_sql_is_empty(conditions: Sequence[str], found: Emptied, table: str, passed: str) -> str:
    """A sentence; empty where the conditions of the SELECT do not explain it.

    `table` is what it reads, where that is one table; `passed` is what its groups must pass.
    """
    if not found.rows:
        return (
            f"There are no rows in {quote(table)} at all."
            if table
            else "It reads no rows, before any condition."
        )
    of = f"Of {found.rows:,} rows{f' of {quote(table)}' if table else ''},"
    if found.by is None:
        left = f"{of} {_are_left(found.before)} {_where(conditions)}"
        return f"{left}, but no group passes {_code(passed)}." if passed else ""
    last = _where(conditions[found.by : found.by + 1])
    if found.by == 0:
        return f"{of} none is left {last}."
    return f"{of} {_are_left(found.before)} {_where(conditions[: found.by])}, and none of these {last}."


def _where(conditions: Sequence[str]) -> str:
    return f"where {joined([_code(text) for text in conditions])}"


def _code(text: str) -> str:
    return quote(text, _LONGEST_CONDITION)


def corrected_conditions(changes: Sequence[Change]) -> str:
    """The conditions as they are after the correction: "city is München"."""
    return joined(list(dict.fromkeys(_condition(change) for change in changes)))


def _condition(change: Change) -> str:
    literal, moved = change.missing.literal, change.column
    name = words(moved.column if moved else literal.column.column)
    if moved and moved.table != literal.within:
        name = f"{words(moved.table)} {name}"
    return f"{name} is {'not ' if literal.negated else ''}{conditions.quoted(change.value)}"


def correction_title(changes: Sequence[Change]) -> str:
    """What the correction does, in the form of a fix."""
    first, *rest = dict.fromkeys(_title(change) for change in changes)
    return joined([first, *(text[0].lower() + text[1:] for text in rest)])


def _title(change: Change) -> str:
    literal, moved = change.missing.literal, change.column
    if moved is None:
        return f"Use {quote(change.value)} for {quote(literal.value)}"
    name = moved.column if moved.table == literal.within else f"{moved.table}.{moved.column}"
    return f"Look for {quote(change.value)} in {quote(name)}"
