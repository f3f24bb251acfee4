"""One row: a value, a few values, the one group that was asked for."""

from __future__ import annotations

from sandtable.catalog.model import ColumnType
from sandtable.wording.changes import strength
from sandtable.wording.degrees import subject, superlative, verb
from sandtable.wording.field import Field, Row
from sandtable.wording.phrases import joined, sentence_start, singular
from sandtable.wording.result import Order, Result

_MOST_VALUES = 5


def one_value(result: Result) -> str:
    """A row without a name: totals over everything that was asked about."""
    row = result.rows[0]
    fields = [f for f in result.fields if f.measure] or list(result.fields)
    if len(fields) == 1:
        return _one(fields[0], row, result)
    shown = [_stated(field, row) for field in fields[:_MOST_VALUES]]
    more = ", among other values" if len(fields) > _MOST_VALUES else ""
    return sentence_start(f"{result.lead}{joined(shown)}{more}.")


def _one(field: Field, row: Row, result: Result) -> str:
    cell = field.cell(row)
    if cell is None:
        return (
            f"There is no {field.text}{result.scope}: nothing that matches has a value for it."
            if result.scope
            else f"There is no {field.text}: the data has no value for it."
        )
    number = field.number(row)
    if field.counts and number is not None:
        return _counted(field, row, result)
    return sentence_start(f"{result.lead}{_stated(field, row)}.")


def _counted(field: Field, row: Row, result: Result) -> str:
    number = field.number(row)
    if number == 0:
        return f"There are no {field.things}{result.scope}."
    if number == 1:
        head, _, rest = field.things.partition(" where ")
        return f"There is 1 {singular(head)}{' where ' + rest if rest else ''}{result.scope}."
    return f"There are {field.show(row)} {field.things}{result.scope}."


def _stated(field: Field, row: Row) -> str:
    if field.cell(row) is None:
        return f"there is no {field.text}"
    number = field.number(row) if field.correlation else None
    said = f" ({strength(number)})" if number is not None else ""
    return f"{subject(field)} {verb(field)} {field.show(row)}{said}"


def one_group(result: Result) -> str:
    """A named row: the extreme one when the plan put it first, otherwise simply that one."""
    row = result.rows[0]
    order = result.order
    label = result.label(row)
    if order is not None and order.field.is_time and result.cut and not result.grouped:
        told = _first_in_time(result, row, order)
        if told:
            return told
    if order is not None and order.field.measure and result.cut:
        return _extreme(result, row, label, order.field, order.descending)
    measures = [f for f in result.fields if f.measure]
    if not measures:
        return _name_only(result, row)
    stated = joined([_stated(field, row) for field in measures[:_MOST_VALUES]])
    if result.is_nameless(row):
        return sentence_start(f"{result.lead}{stated} where there is no {result.keys[0].text}.")
    if len(measures) == 1 and measures[0].counts and measures[0].number(row) and not result.having:
        return _count_of_one(result, measures[0], row, label)
    alone = f", the only {result.one()} that matches" if result.having else ""
    return sentence_start(f"{result.lead}for {label}{alone}, {stated}.")


def _count_of_one(result: Result, field: Field, row: Row, label: str) -> str:
    counted = f"{field.show(row)} {singular(field.things) if field.number(row) == 1 else field.things}"
    if result.where and not result.cut:
        return sentence_start(f"{result.lead}only {label} appears, with {counted}.")
    return sentence_start(f"{result.lead}{label} has {counted}.")


def _first_in_time(result: Result, row: Row, order: Order) -> str:
    """The earliest or the latest row, by the columns that name it beside that time."""
    others = [key.name_of(row) for key in result.keys if not key.is_time]
    if len(others) != 1:
        return ""
    which = "latest" if order.descending else "earliest"
    when = "" if order.field.hidden else f", {order.field.show(row)}"
    return sentence_start(f"{result.lead}{others[0]} has the {which} {order.field.text}{when}.")


def _extreme(result: Result, row: Row, label: str, field: Field, descending: bool) -> str:
    said = result.row_noun if result.where else ""
    what = superlative(field, "high" if descending else "low", said)
    overall = result.overall_of(field)
    others = [f for f in result.measures if f not in (field, result.tested) and f.cell(row) is not None]
    beside = f" ({joined([f'{f.text} {f.show(row)}' for f in others[:2]])})" if others else ""
    had = "had" if all(key.is_time for key in result.keys) else "has"
    value = "" if field.hidden else f", {field.show(row)}"
    return sentence_start(f"{result.lead}{label} {had} {what}{value}{overall}{beside}{_fits(result, row)}.")


def _fits(result: Result, row: Row) -> str:
    """Whether the condition in the question holds for the first row."""
    field = result.tested
    number = field.number(row) if field else None
    claim = field.things.partition(" where ")[2] if field else ""
    return f"; {'' if number else 'it is not so that '}{claim}" if number is not None and claim else ""


def _name_only(result: Result, row: Row) -> str:
    key = result.keys[0] if len(result.keys) == 1 else None
    if key is None or result.label(row) == "this row":
        shown = [f"{field.text} {field.show(row)}" for field in result.fields[:_MOST_VALUES]]
        head = "The first row" if result.cut else "The one row that matches"
        return f"{head}{result.scope} has {joined(shown)}."
    if key.cell(row) is None:
        return f"There is no {key.text}{result.scope}."
    if key.type is ColumnType.BOOLEAN:
        return sentence_start(f"{key.text}: {key.show(row)}{result.scope}.")
    return sentence_start(f"{result.lead}the {key.text} is {key.name_of(row)}.")
