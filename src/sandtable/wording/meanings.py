"""The result of a plan, with what the plan says about each of its columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

from sandtable.catalog.calendar import Calendar
from sandtable.catalog.model import ColumnType, Dataset
from sandtable.engines.duckdb.types import column_type
from sandtable.plan import derivations as d
from sandtable.plan import filters as f
from sandtable.plan import items as i
from sandtable.plan.definitions import with_defined
from sandtable.plan.model import QueryPlan
from sandtable.plan.reading import read_plan
from sandtable.plan.resolve import resolve_plan
from sandtable.plan.resolved import ColumnRef, ResolvedPlan
from sandtable.plan.result_columns import ColumnMeaning
from sandtable.wording import conditions
from sandtable.wording.field import NUMBERS, Field
from sandtable.wording.figures import number_of
from sandtable.wording.guesses import guessed_fields, with_instants
from sandtable.wording.naming import Named
from sandtable.wording.phrases import words
from sandtable.wording.reading import PlanWords
from sandtable.wording.result import Order, Result

USUAL_MOST = 200
"""Rows after which a plan without a limit of its own is cut, unless the server is set otherwise."""

Columns = Sequence[tuple[str, str]]
Rows = Sequence[Sequence[Any]]
_CONDITIONS = frozenset({"filters", "having", "time", "where", "holds", "run"})
_LONG = 60
"""Characters of a description above which the author's name for it is used instead."""
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_EXTREMES = {"highest ": "maximum ", "lowest ": "minimum "}


def result_of(
    question: str,
    plan: Mapping[str, Any] | None,
    columns: Columns,
    rows: Rows,
    dataset: Dataset,
    total: int,
    truncated: bool,
    overall: Mapping[str, Any] | None,
) -> Result:
    parsed = read_plan(dict(plan)) if plan is not None else None
    resolved = resolve_plan(parsed, dataset) if isinstance(parsed, QueryPlan) else None
    kept = tuple(rows)
    if not isinstance(parsed, QueryPlan) or not isinstance(resolved, ResolvedPlan):
        return Result(question, guessed_fields(columns, rows, dataset), kept, total, truncated)
    plan_words = PlanWords(parsed, with_defined(resolved, dataset), resolved)
    fields = _fields(plan_words, columns)
    if fields is None:
        return Result(question, guessed_fields(columns, rows, dataset), kept, total, truncated)
    fields = with_instants(fields, columns, rows)
    anchored = plan_words.window()
    return Result(
        question,
        fields,
        kept,
        total,
        truncated,
        limit=resolved.limit,
        most=USUAL_MOST,
        order=_order(resolved, fields, plan_words),
        grouped=resolved.grouped,
        row_noun=plan_words.naming.rows,
        planned=True,
        looked_for=_looked_for(plan_words),
        where=_where(plan_words),
        time=plan_words.time(),
        window=anchored.days() if anchored else None,
        having=conditions.all_of(parsed.having, plan_words.over_outputs.terms),
        top_by=resolved.top.by if resolved.top else (),
        top_descending=resolved.top.descending if resolved.top else True,
        tested=_tested(plan_words, resolved, fields),
        spent=frozenset(_spent(plan)),
        overall=_overall(overall, fields),
        cause=plan_words.cause(),
        ties=resolved.ties or (resolved.top is not None and resolved.top.ties),
    )


def _tested(plan_words: PlanWords, resolved: ResolvedPlan, fields: tuple[Field, ...]) -> Field | None:
    order = _order(resolved, fields, plan_words)
    if resolved.limit != 1 or order is None or order.field.counts:
        return None
    counted = [field for field in fields if field.counts and _has_where(plan_words.columns[field.index])]
    return counted[0] if len(counted) == 1 else None


def _has_where(column: ColumnMeaning) -> bool:
    return isinstance(column.item, i.AggItem) and bool(column.item.where)


def _numbers(value: Any) -> set[Decimal]:
    """The numbers in a piece of a plan, those of its dates among them."""
    if isinstance(value, Mapping):
        return _numbers(list(cast("Mapping[str, Any]", value).values()))
    if isinstance(value, list | tuple):
        return {number for part in cast("Sequence[Any]", value) for number in _numbers(part)}
    texts = _DIGITS.findall(str(value)) if isinstance(value, str) else [value]
    return {number for text in texts if (number := number_of(text)) is not None}


def _spent(value: Any) -> set[Decimal]:
    """The numbers of all conditions of a plan."""
    if isinstance(value, list | tuple):
        return {number for part in cast("Sequence[Any]", value) for number in _spent(part)}
    if not isinstance(value, Mapping):
        return set()
    node = cast("Mapping[str, Any]", value)
    return {
        number
        for key, part in node.items()
        for number in (_numbers(part) if key in _CONDITIONS else _spent(part))
    }


def _looked_for(plan_words: PlanWords) -> str:
    """All conditions, for the sentence about an empty result."""
    parts = [plan_words.where().removeprefix("where "), plan_words.time()]
    kept = conditions.all_of(plan_words.plan.having, plan_words.over_outputs.terms)
    scope = ", ".join(part for part in parts if part)
    return f"{scope}, and {kept}" if scope and kept else scope or kept


def _where(plan_words: PlanWords) -> str:
    """The filters except those that select groups by name: the rows show these names."""
    keys = {column.column for column in plan_words.columns if column.role == "key" and column.column}
    rest = [item for item in plan_words.plan.filters if not _picks(item, keys)]
    return conditions.restriction(rest, plan_words.items.terms)


def _picks(item: f.Filter, keys: set[str]) -> bool:
    if isinstance(item, f.AnyOf):
        return all(_picks(part, keys) for part in item.any)
    return (
        isinstance(item, f.Comparison) and item.op in ("in", "=") and item.column.rpartition(".")[2] in keys
    )


def _fields(plan_words: PlanWords, columns: Columns) -> tuple[Field, ...] | None:
    """One for each column; None when the result is not the plan's."""
    names = [column.name for column in plan_words.columns]
    if [name.lower() for name, _ in columns] != [name.lower() for name in names]:
        return None
    return tuple(
        _derived(index, column, plan_words.outputs, names)
        if column.derived
        else _output(index, column, plan_words, column_type(sql_type))
        for index, (column, (_, sql_type)) in enumerate(zip(plan_words.columns, columns, strict=True))
    )


def _output(index: int, column: ColumnMeaning, plan_words: PlanWords, type_: ColumnType) -> Field:
    said, grouped = plan_words.outputs, plan_words.plan.grouped
    named = said.get(column.name.lower()) or Named(words(column.name, column.unit))
    item = column.item
    text = _measure_text(item, named, column.unit)
    # The name of a day, a month or an hour is a category like any other name.
    bucket = column.grain if column.grain and not column.grain.endswith("_name") else ""
    field = Field(
        index, column.name, text, type_, measure=False, unit=column.unit, bucket=bucket,
        calendar=Calendar.of(plan_words.dataset),
    )  # fmt: skip
    computed = column.role == "measure" if grouped else type_ in NUMBERS and not field.is_code and not bucket
    if not computed:
        return field
    metric = isinstance(item, i.MetricItem)
    correlated = column.aggregate == "correlation"
    return Field(
        index, column.name, text, type_, measure=True, unit=column.unit, counts=named.counts, metric=metric,
        correlation=correlated,
    )  # fmt: skip


def _measure_text(item: i.AnyItem | d.Derivation | None, named: Named, unit: str) -> str:
    """The author's name where a description would be long; "highest" becomes "maximum", which takes a superlative."""
    if isinstance(item, i.ArithmeticItem | i.HoldsItem) and item.as_:
        return words(item.as_, unit)
    if isinstance(item, i.AggItem) and named.counts and item.as_ and len(named.text) > _LONG:
        return _counted(words(item.as_), named.text)
    if isinstance(item, i.AggItem) and item.as_ and not named.counts and _is_picked(item):
        return words(item.as_, unit)
    text = named.text.removesuffix(f" in {unit}").removesuffix(" in percent") if unit else named.text
    for start, better in _EXTREMES.items():
        if isinstance(item, i.AggItem) and text.startswith(start):
            return better + text.removeprefix(start)
    return text


def _counted(name: str, text: str) -> str:
    """A count under the author's name for it: `new` with "number of different customers where …" is the number of
    new customers."""
    noun = text.partition(" where ")[0].removeprefix("number of ").removeprefix("different ")
    whole = name.endswith("s") or " " in name
    return f"number of {name}" if whole else f"number of {name} {noun}"


def _is_picked(item: i.AggItem) -> bool:
    """Whether it has conditions besides a time window."""
    return any(not isinstance(part, f.InWindow) for part in item.where)


def _derived(index: int, column: ColumnMeaning, said: dict[str, Named], names: list[str]) -> Field:
    named, unit = said.get(column.name.lower()) or Named(words(column.name)), column.unit
    return Field(
        index,
        column.name,
        named.text.removesuffix(f" in {unit}") if unit else named.text,
        column.type or ColumnType.OTHER,
        measure=True,
        unit=unit,
        derived=column.role,
        source=names.index(column.of) if column.of in names else None,
        earlier=names.index(column.earlier) if column.earlier in names else None,
    )


def _order(resolved: ResolvedPlan, fields: tuple[Field, ...], plan_words: PlanWords) -> Order | None:
    if not resolved.order:
        return None
    first = resolved.order[0]
    if isinstance(first.target, ColumnRef):
        named = plan_words.naming.column(f"{first.target.table}.{first.target.column}")
        number = first.target.type in NUMBERS
        hidden = Field(
            -1, first.target.column, named.text, first.target.type, measure=number, unit=named.unit
        )
        return Order(hidden, first.descending)
    name = first.target.name
    field = next((one for one in fields if one.name == name), None)
    return Order(field, first.descending) if field else None


def _overall(overall: Mapping[str, Any] | None, fields: tuple[Field, ...]) -> tuple[tuple[str, str], ...]:
    given = {name.lower(): value for name, value in (overall or {}).items()}
    return tuple(
        (field.name.lower(), field.show_cell(given[field.name.lower()]))
        for field in fields
        if field.measure and number_of(given.get(field.name.lower())) is not None
    )
