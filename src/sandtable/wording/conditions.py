"""Filters in words: "category is Books and quantity is above the average quantity"."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sandtable.catalog.model import ColumnType
from sandtable.plan import filters as f
from sandtable.plan.items import AnyItem
from sandtable.plan.moments import read_moment
from sandtable.plan.shapes import Scalar
from sandtable.plan.windows import TimeWindow
from sandtable.quoting import inert, one_line
from sandtable.wording import dates
from sandtable.wording.figures import CODE_WORDS, bare, number_of, shown
from sandtable.wording.naming import Named
from sandtable.wording.phrases import joined


@dataclass(frozen=True, slots=True)
class Terms:
    """The words for the parts of a condition."""

    column: Callable[[str], Named]
    expression: Callable[[AnyItem], Named]
    window: Callable[[TimeWindow], str]
    related: Callable[[f.RelatedRows], tuple[str, str]]
    """Rows of another table: their noun with their time window, and their other conditions."""


_NUMBERS = {">": "above", ">=": "at least", "<": "below", "<=": "at most", "=": "", "!=": "not"}
_MOMENTS = {">": "after", ">=": "on or after", "<": "before", "<=": "on or before", "=": "on", "!=": "not on"}
_TEXTS = {"contains": "contains", "startswith": "starts with", "endswith": "ends with", "has": "has"}
_MOST_VALUES = 6
_AGGREGATES = frozenset(
    "average total sum median highest lowest latest earliest number share first last standard correlation "
    "hour day week month quarter year".split()
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SIMPLE = re.compile(r"[\w][\w .&'’/+-]*", re.UNICODE)
_GRAMMAR = re.compile(r"\b(?:and|or|is|not|above|below|to|by|where|with)\b", re.IGNORECASE)


def all_of(filters: Sequence[f.Filter], terms: Terms) -> str:
    """All of the filters as one clause; empty when there are none."""
    return joined([_one(item, terms, "all" if len(filters) > 1 else "alone") for item in filters])


def restriction(filters: Sequence[f.Filter], terms: Terms) -> str:
    """What follows the noun of the rows: "where region is North, without orders in May 2025"."""
    plain: list[f.Filter] = []
    related: list[str] = []
    for item in filters:
        found = _looked_for(item)
        if found is None:
            plain.append(item)
        else:
            related.append(_with(*found, terms))
    text = all_of(plain, terms)
    return ", ".join(part for part in (f"where {text}" if text else "", joined(related)) if part)


def _looked_for(item: f.Filter) -> tuple[f.RelatedRows, bool] | None:
    """The rows of another table that a filter looks for, and whether there must be such rows."""
    match item:
        case f.Exists(exists=rows):
            return rows, True
        case f.Not(not_=f.Exists(exists=rows)):
            return rows, False
        case _:
            return None


def _with(rows: f.RelatedRows, wanted: bool, terms: Terms) -> str:
    noun, rest = terms.related(rows)
    if rows.at_least > 1:
        word = f"with {'at least' if wanted else 'fewer than'} {rows.at_least:,}"
    else:
        word = "with" if wanted else "without"
    return f"{word} {noun} {rest}".rstrip()


def _there_are(rows: f.RelatedRows, wanted: bool, terms: Terms) -> str:
    noun, rest = terms.related(rows)
    if rows.at_least > 1:
        word = f"there are {'at least' if wanted else 'fewer than'} {rows.at_least:,}"
    else:
        word = "there are" if wanted else "there are no"
    return f"{word} {noun} ({rest})" if rest else f"{word} {noun}"


def _one(item: f.Filter, terms: Terms, inside: str) -> str:
    match item:
        case f.Comparison():
            return _leaf(item, terms)
        case f.Relation():
            return _relation(item, terms)
        case f.InWindow(time=time):
            return terms.window(time)
        case f.Exists(exists=rows):
            return _there_are(rows, True, terms)
        case f.Not(not_=f.Exists(exists=rows)):
            return _there_are(rows, False, terms)
        case f.AllOf(all=parts):
            text = joined([_one(part, terms, "all") for part in parts])
            return text if len(parts) == 1 or inside in ("all", "alone") else f"({text})"
        case f.AnyOf(any=parts):
            text = joined([_one(part, terms, "any") for part in parts], "or")
            return text if len(parts) == 1 or inside in ("any", "alone") else f"({text})"
        case f.Not(not_=f.Comparison() as leaf) if leaf.op == "=" or leaf.op in f.NULL_OPS:
            turned = {"=": "!=", "is_null": "not_null", "not_null": "is_null"}[leaf.op]
            return _leaf(leaf.model_copy(update={"op": turned}), terms)
        case f.Not(not_=part):
            return f"not ({_one(part, terms, 'alone')})"


def _leaf(leaf: f.Comparison, terms: Terms) -> str:
    named = terms.column(leaf.column)
    if leaf.other_column is not None:
        return f"{named.text} is {_compared(named, leaf.op)}{terms.column(leaf.other_column).text}"
    return _with_value(leaf, named)


def _relation(leaf: f.Relation, terms: Terms) -> str:
    named = terms.expression(leaf.of) if leaf.of is not None else terms.column(leaf.column or "")
    if leaf.than is None:
        return _with_value(leaf, named)
    same = {"=": "", "!=": "not "}
    word = same[leaf.op] if leaf.op in same else _compared(named, leaf.op)
    return f"{named.text} is {word}{_the(terms.expression(leaf.than).text)}"


def _the(text: str) -> str:
    """An aggregate is one value: "above the average price"."""
    return f"the {text}" if text.split(" ")[0] in _AGGREGATES else text


def _with_value(leaf: f.Comparison | f.Relation, named: Named) -> str:
    if leaf.op in f.NULL_OPS:
        return f"{named.text} is {'missing' if leaf.op == 'is_null' else 'known'}"
    if isinstance(leaf.value, tuple):
        return _listed(leaf, named, leaf.value)
    value = leaf.value if leaf.value is not None else ""
    if leaf.op in _TEXTS:
        return f"{named.text} {_TEXTS[leaf.op]} {quoted(str(value), always=True)}"
    if isinstance(value, bool):
        return f"{named.text} is {'yes' if value == (leaf.op == '=') else 'no'}"
    return f"{named.text} is {_compared(named, leaf.op)}{value_in_words(value, named)}"


def _listed(leaf: f.Comparison | f.Relation, named: Named, values: tuple[Scalar, ...]) -> str:
    shown_values = [value_in_words(value, named) for value in values[:_MOST_VALUES]]
    if leaf.op == "between":
        return f"{named.text} is between {shown_values[0]} and {shown_values[1]}"
    if len(values) > _MOST_VALUES:
        kind = "one" if leaf.op == "in" else "none"
        return f"{named.text} is {kind} of {', '.join(shown_values)}, …"
    if leaf.op == "in":
        return f"{named.text} is {joined(shown_values, 'or')}"
    if len(values) == 1:
        return f"{named.text} is not {shown_values[0]}"
    return f"{named.text} is neither {joined(shown_values, 'nor')}"


def _compared(named: Named, op: str) -> str:
    table = _MOMENTS if named.type in (ColumnType.DATE, ColumnType.TIMESTAMP) else _NUMBERS
    word = table.get(op, op)
    return f"{word} " if word else ""


def value_in_words(value: Scalar, named: Named) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        number = number_of(value)
        if named.bucket == "day_of_week" and value in range(1, 8):
            return _DAYS[int(value) - 1]
        if named.bucket == "hour_of_day" and number is not None:
            return f"{int(value):02}:00"
        if number is not None and named.text.rpartition(" ")[2].lower() in CODE_WORDS:
            return bare(number)
        return shown(number if number is not None else Decimal(0), named.unit)
    if named.type in (ColumnType.DATE, ColumnType.TIMESTAMP):
        read = read_moment(value)
        return dates.moment(read) if isinstance(read, dt.date) else quoted(value)
    return quoted(value)


def quoted(text: str, *, always: bool = False) -> str:
    """In quotation marks where a reader could not see where the value ends; always inert."""
    line = one_line(text)
    if line and inert(line) != line:
        return inert(line)
    plain = not always and _SIMPLE.fullmatch(line) and line == text and not _GRAMMAR.search(line)
    return line if plain and number_of(line) is None and not line.endswith(".") else f'"{line}"'
