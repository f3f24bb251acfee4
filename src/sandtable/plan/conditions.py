"""Filters → conditions: each name looked up, each value given the type of what it is compared with."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from sandtable.catalog.model import ColumnType
from sandtable.engines.duckdb import types
from sandtable.plan import filters as f
from sandtable.plan.findings import Findings
from sandtable.plan.items import AnyItem
from sandtable.plan.moments import is_bare_date, read_moment, read_time
from sandtable.plan.resolved import (
    Between,
    ColumnRef,
    Comparator,
    Compare,
    Condition,
    DayOf,
    Every,
    Expr,
    Has,
    IsIn,
    IsNull,
    Matched,
    Negation,
    OutputRef,
    Some,
    TextMatch,
    Value,
)
from sandtable.plan.shapes import Scalar
from sandtable.plan.windows import TimeWindow
from sandtable.quoting import quote

Lookup = Callable[[str, str], Expr | None]
"""Name and place → what it stands for; None after reporting why not."""

NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT})
_SORTED_ONLY = frozenset({"<", "<=", ">", ">=", "between"})
_TEXTUAL = frozenset({ColumnType.TEXT, ColumnType.OTHER})
_DAY_SAFE = frozenset({">=", "<"})


def every(parts: Sequence[Condition]) -> Condition | None:
    """All of the parts as one condition; None when there is none."""
    return parts[0] if len(parts) == 1 else Every(tuple(parts)) if parts else None


_WORDS = {
    ColumnType.TEXT: "text",
    ColumnType.INTEGER: "a whole number",
    ColumnType.DECIMAL: "a number",
    ColumnType.FLOAT: "a number",
    ColumnType.BOOLEAN: "true or false",
    ColumnType.DATE: "a date",
    ColumnType.TIMESTAMP: "a timestamp",
    ColumnType.TIME: "a time of day",
    ColumnType.OTHER: "of another type",
}


def describe(type_: ColumnType) -> str:
    """A column of that type in words, for use after "is"."""
    return _WORDS[type_]


def called(expr: Expr) -> str:
    """What an expression is called in a message."""
    match expr:
        case ColumnRef(column=name) | OutputRef(name=name):
            return quote(name)
        case _:
            return "this expression"


def element_type(expr: Expr) -> ColumnType | None:
    """The type of the elements of a list column; None when it has no list type."""
    return types.element_type(expr.sql_type) if isinstance(expr, ColumnRef) else None


@dataclass(frozen=True, slots=True)
class Conditions:
    lookup: Lookup
    found: Findings
    expression: Callable[[AnyItem, str], Expr | None]
    """An expression on a side of a condition; None after reporting what is wrong with it."""
    window: Callable[[TimeWindow, str], Condition | None]
    exists: Callable[[f.RelatedRows, str], Condition | None]

    def all_of(self, filters: Sequence[f.Filter], place: str) -> Condition | None:
        parts = [self._one(item, f"{place}[{index}]") for index, item in enumerate(filters)]
        return every([part for part in parts if part is not None])

    def _one(self, item: f.Filter, place: str) -> Condition | None:
        match item:
            case f.Comparison():
                return self._leaf(item, place)
            case f.Relation():
                return self._relation(item, place)
            case f.InWindow(time=time):
                return self.window(time, f"{place}.time")
            case f.Exists(exists=rows):
                return self.exists(rows, f"{place}.exists")
            case f.AllOf(all=parts):
                return self.all_of(parts, f"{place}.all")
            case f.AnyOf(any=parts):
                resolved = [self._one(part, f"{place}.any[{index}]") for index, part in enumerate(parts)]
                kept = tuple(part for part in resolved if part is not None)
                return Some(kept) if kept else None
            case f.Not(not_=part):
                inner = self._one(part, f"{place}.not")
                if isinstance(inner, IsNull) and isinstance(inner.left, Matched):
                    return IsNull(inner.left, negated=not inner.negated)
                return Negation(inner) if inner is not None else None

    def _leaf(self, leaf: f.Comparison, place: str) -> Condition | None:
        left = self.lookup(leaf.column, f"{place}.column")
        if left is None or leaf.other_column is None:
            return self._with_value(leaf, left, quote(leaf.column), place)
        if not self._op_fits(leaf.op, left, quote(leaf.column), place):
            return None
        right = self.lookup(leaf.other_column, f"{place}.other_column")
        return self._against(leaf.op, (left, quote(leaf.column)), right, f"{place}.other_column")

    def _relation(self, leaf: f.Relation, place: str) -> Condition | None:
        if leaf.of is not None:
            left, name = self.expression(leaf.of, f"{place}.of"), "the left side"
        else:
            left, name = self.lookup(leaf.column or "", f"{place}.column"), quote(leaf.column or "")
        if leaf.than is None or left is None:
            return self._with_value(leaf, left, name, place)
        if not self._op_fits(leaf.op, left, name, place):
            return None
        right = self.expression(leaf.than, f"{place}.than")
        return self._against(leaf.op, (left, name), right, f"{place}.than")

    def _with_value(
        self, leaf: f.Comparison | f.Relation, left: Expr | None, name: str, place: str
    ) -> Condition | None:
        if left is None:
            return None
        if leaf.op in f.NULL_OPS:
            return IsNull(left, negated=leaf.op == "not_null")
        if not self._op_fits(leaf.op, left, name, place):
            return None
        many = isinstance(leaf.value, tuple)
        raw = leaf.value if isinstance(leaf.value, tuple) else (cast("Scalar", leaf.value),)
        places = [f"{place}.value[{index}]" if many else f"{place}.value" for index in range(len(raw))]
        type_ = (element_type(left) or ColumnType.TEXT) if leaf.op == "has" else left.type
        values = [self._value(v, type_, name, at) for v, at in zip(raw, places, strict=True)]
        if any(value is None for value in values):
            return None
        return self._compared(leaf.op, left, [value for value in values if value is not None], place)

    def _op_fits(self, op: f.FilterOp, left: Expr, name: str, place: str) -> bool:
        if op == "has" and left.type is not ColumnType.TEXT and element_type(left) is None:
            message = f"has looks into lists, but {name} is {describe(left.type)}"
            self.found.add(f"{place}.op", message, "Use = != < <= > >= in or between.")
            return False
        if op in f.TEXT_OPS and left.type not in _TEXTUAL:
            self.found.add(
                f"{place}.op",
                f"{op} searches text, but {name} is {describe(left.type)}",
                "Use = != < <= > >= in or between.",
            )
            return False
        if op in _SORTED_ONLY and left.type in (ColumnType.BOOLEAN, ColumnType.OTHER):
            message = f"{name} is {describe(left.type)} and has no order, so {op} does not apply"
            self.found.add(f"{place}.op", message, "Use = or !=.")
            return False
        return True

    def _against(
        self, op: f.FilterOp, left: tuple[Expr, str], right: Expr | None, place: str
    ) -> Condition | None:
        if right is None:
            return None
        if _family(left[0].type) != _family(right.type):
            left_is, right_is = describe(left[0].type), describe(right.type)
            self.found.add(
                place,
                f"{left[1]} is {left_is}, but {called(right)} is {right_is}",
                "Compare columns of the same type.",
            )
            return None
        return Compare(left[0], cast("Comparator", op), right)

    def _compared(self, op: f.FilterOp, left: Expr, values: list[Value], place: str) -> Condition | None:
        if op == "has":
            return Has(left, values[0], typed=element_type(left) is not None)
        if op in f.TEXT_OPS:
            kind = cast('Literal["contains", "startswith", "endswith"]', op)
            return TextMatch(left, kind, str(values[0].value))
        by_day = left.type is ColumnType.TIMESTAMP and all(is_bare_date(v.value) for v in values)
        day = DayOf(left) if by_day else left
        if op == "between":
            return self._between(day, values, place)
        if op in ("in", "not_in"):
            return IsIn(day, tuple(values), negated=op == "not_in")
        comparator = cast("Comparator", op)
        return Compare(left if comparator in _DAY_SAFE else day, comparator, values[0])

    def _between(self, left: Expr, values: list[Value], place: str) -> Condition | None:
        low, high = values
        if is_bare_date(low.value) != is_bare_date(high.value):
            self.found.add(f"{place}.value", "between needs two dates or two timestamps, not one of each")
            return None
        if low.value > high.value:  # pyright: ignore[reportOperatorIssue] — both have the column's type
            message = f"between is empty: {low.value} is after {high.value}"
            self.found.add(f"{place}.value", message, "Write the lower end first.")
            return None
        return Between(left, low, high)

    def _value(self, value: Scalar, type_: ColumnType, name: str, place: str) -> Value | None:
        typed = typed_value(value, type_)
        if isinstance(typed, Value):
            return typed
        self.found.add(place, f"{name} is {describe(type_)}, but {_shown(value)} is {_given(value)}", typed)
        return None


def typed_value(value: Scalar, type_: ColumnType) -> Value | str:
    """The value as that type, or a suggestion how to write it."""
    match type_:
        case ColumnType.TEXT | ColumnType.OTHER:
            return (
                Value(value, ColumnType.TEXT) if isinstance(value, str) else f'Write it as text: "{value}".'
            )
        case ColumnType.BOOLEAN:
            return Value(value, type_) if isinstance(value, bool) else "Write true or false, without quotes."
        case ColumnType.INTEGER | ColumnType.DECIMAL | ColumnType.FLOAT:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            return Value(value, type_) if is_number else "Write a number, without quotes."
        case ColumnType.DATE | ColumnType.TIMESTAMP:
            moment = read_moment(value) if isinstance(value, str) else None
            if moment is None:
                return 'Write a date as "2024-03-31" or a timestamp as "2024-03-31T18:00:00".'
            return Value(moment, ColumnType.DATE if is_bare_date(moment) else ColumnType.TIMESTAMP)
        case ColumnType.TIME:
            time: dt.time | None = read_time(value) if isinstance(value, str) else None
            return Value(time, type_) if time is not None else 'Write a time as "18:30" or "18:30:00".'


def _family(type_: ColumnType) -> str:
    if type_ in NUMBERS:
        return "number"
    return "moment" if type_ in (ColumnType.DATE, ColumnType.TIMESTAMP) else type_.value


def _shown(value: Scalar) -> str:
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    return text if len(text) <= 60 else text[:60] + "…"


def _given(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true or false"
    return "not a valid one" if isinstance(value, str) else "a number"
