"""Where the numbers of an answer may come from, worked out apart from the code that words it."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from sandtable.catalog.model import Dataset
from sandtable.plan.model import QueryPlan
from sandtable.plan.reading import read_plan
from sandtable.plan.resolve import resolve_plan
from sandtable.plan.resolved import ResolvedPlan, Value
from tests.wording.numbers import numbers_in

LISTED = 3
"""How many of a longer list an answer names."""


def strangers(
    text: str,
    question: str,
    plan: Mapping[str, Any] | None,
    columns: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[Any]],
    dataset: Dataset,
    row_count: int,
    overall: Mapping[str, Any] | None = None,
) -> list[Decimal]:
    """The numbers of `text` that no cell, count, plan or question vouches for."""
    cells = [cell for row in rows for cell in row] + list((overall or {}).values())
    exact = {Decimal(n) for n in _counts(rows, row_count)}
    exact |= {n for name, _ in columns for n in numbers_in(name)} | set(numbers_in(question))
    texts = [json.dumps(cell) if isinstance(cell, list | dict) else cell for cell in cells]
    exact |= {n for text in texts if isinstance(text, str) for n in _in_text(text)}
    exact |= set(_of_plan(plan, dataset))
    values = [value for cell in cells for value in _numbers(cell)]
    return [n for n in numbers_in(text) if abs(n) not in {abs(e) for e in exact} and not _rounded(n, values)]


def _counts(rows: Sequence[Sequence[Any]], row_count: int) -> Iterator[int]:
    yield from (len(rows), row_count, *([LISTED] if len(rows) > LISTED else []))
    for cells in zip(*rows, strict=True):
        yield sum(cell is not None for cell in cells)
        yield len({json.dumps(cell, default=str) for cell in cells})


def _in_text(text: str) -> Iterator[Decimal]:
    yield from numbers_in(text)
    # What is left of a number where a long text is cut.
    yield from (n for end in range(60, 81) for n in numbers_in(" ".join(text.split())[:end]))
    moment = _moment(text)
    if moment is not None:
        yield from _parts(moment)


def _moment(text: str) -> dt.date | dt.datetime | None:
    try:
        return dt.date.fromisoformat(text) if len(text) == 10 else dt.datetime.fromisoformat(text)
    except ValueError:
        return None


def _parts(moment: dt.date) -> Iterator[Decimal]:
    yield from map(Decimal, (moment.year, moment.day, (moment.month + 2) // 3))
    if isinstance(moment, dt.datetime):
        yield from map(Decimal, (moment.hour, moment.minute, moment.second))


def _numbers(cell: object) -> Iterator[Decimal]:
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        return
    try:
        value = Decimal(str(cell))
    except InvalidOperation:
        return
    if value.is_finite():
        yield from (value, value * 100)
        if 0 <= value <= 23 and value == int(value):
            yield Decimal(int(value))


def _rounded(said: Decimal, values: Sequence[Decimal]) -> bool:
    """Whether some value is `said` once it is rounded to the digits written."""
    exponent = said.as_tuple().exponent
    step = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
    return any(abs(abs(value) - abs(said)) * 2 <= step for value in values)


def _of_plan(plan: Mapping[str, Any] | None, dataset: Dataset) -> Iterator[Decimal]:
    if plan is None:
        return
    for number in numbers_in(json.dumps(plan, ensure_ascii=False)):
        yield from (number, number * 100)
    yield from (n for value in _literals(plan) for n in _forms(value))
    if "hour_of_day" in json.dumps(plan):
        yield Decimal(0)  # 12 is written 12:00
    parsed = read_plan(dict(plan))
    resolved = resolve_plan(parsed, dataset) if isinstance(parsed, QueryPlan) else None
    if isinstance(resolved, ResolvedPlan):
        for moment in _bounds(resolved):
            yield from (
                *_parts(moment),
                *_parts(moment - dt.timedelta(days=1)),
                *_parts(moment + dt.timedelta(days=1)),
            )


def _literals(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for child in value.values():
            yield from _literals(child)
    elif isinstance(value, list | tuple):
        for child in value:
            yield from _literals(child)
    else:
        yield value


def _forms(value: Any) -> Iterator[Decimal]:
    """A filter's value as a sentence may round it, or write it as a date."""
    if isinstance(value, str):
        yield from _in_text(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        exact = Decimal(str(value))
        for scaled in (exact, exact * 100):
            yield from (Decimal(f"{scaled:.{places}f}") for places in range(6))
            yield from numbers_in(f"{scaled:.3g}")
            yield from numbers_in(f"{scaled:.2g}")


def _bounds(condition: object) -> Iterator[dt.date]:
    if isinstance(condition, Value):
        if (
            isinstance(condition.value, dt.date)
            and dt.date.min.year < condition.value.year < dt.date.max.year
        ):
            yield condition.value
        return
    inside = "where outputs expr operand aggregate condition start end source decomposition before after"
    for name in ("parts", "part", "left", "right", "low", "high", *inside.split()):
        found = getattr(condition, name, None)
        for child in found if isinstance(found, tuple) else (found,):
            if child is not None:
                yield from _bounds(child)
