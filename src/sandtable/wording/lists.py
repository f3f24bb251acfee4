"""Sentences that name rows: lists, groups that passed a condition, outliers, and empty results."""

from __future__ import annotations

from sandtable.wording.degrees import subject
from sandtable.wording.field import Field, Row
from sandtable.wording.groups import second_measure
from sandtable.wording.phrases import joined, sentence_start, singular
from sandtable.wording.result import Result

_ALL = 8
_GROUPS = 6
HEAD = 3


def nothing(result: Result, existence: bool) -> str:
    """No rows: state what was searched for."""
    noun = result.noun if result.having and result.grouped else result.row_noun
    if not result.looked_for:
        return f"There are no {noun}." if result.planned else "The query returned no rows."
    found = f"no {noun} match: {result.looked_for}."
    return f"No, {found}" if existence else sentence_start(found)


def matches(result: Result) -> str:
    """Groups that passed a condition on their values."""
    count = len(result.rows)
    field = _shown_field(result)
    what = f"{_count(result)} {result.noun if count != 1 else result.one()} {'match' if count != 1 else 'matches'}"
    told = result.rows if count <= _ALL else result.rows[:HEAD]
    names = joined([_with_value(result, row, field) for row in told])
    link = (
        ":"
        if count <= _ALL
        else ", led by"
        if result.order and result.order.field.measure
        else ", among them"
    )
    return sentence_start(f"{what} ({result.having}){result.scope}{link} {names}.")


def _shown_field(result: Result) -> Field | None:
    if result.order is not None and result.order.field.measure:
        return result.order.field
    return result.measures[0] if result.measures else None


def _with_value(result: Result, row: Row, field: Field | None) -> str:
    return f"{result.label(row)} ({field.show(row)})" if field else result.label(row)


def _count(result: Result) -> str:
    number = f"{result.total:,}"
    return f"at least {number}" if result.cut else number


def names(result: Result) -> str:
    """Rows without a value to compare: their names."""
    key = result.keys[0] if len(result.keys) == 1 else None
    labels = list(dict.fromkeys(key.show(row) if key else result.label(row) for row in result.rows))
    noun = key.noun if key else result.noun
    repeated = key is None and len(labels) < len(result.rows)
    if len(result.keys) > 2 or repeated or any(key.is_time for key in result.keys):
        return some_rows(result)
    if len(labels) == 1:
        one = singular(noun)
        return f"The only {one}{result.scope} is {labels[0]}."
    if len(labels) <= _ALL and not result.cut:
        return f"The {noun}{result.scope} are {joined(labels)}."
    head = ", ".join(labels[:HEAD])
    if result.cut:
        start = "The first" if result.order is not None else "Some of the"
        listed = "" if result.truncated else f"; the table lists {len(result.rows):,}"
        return f"{start} {noun}{result.scope} are {head} and others{listed}."
    return f"There are {len(labels):,} {noun}{result.scope}, among them {joined(labels[:HEAD])}."


def some_rows(result: Result) -> str:
    """Rows with too many columns to name them by: how many, and the first."""
    count = f"{len(result.rows):,}"
    shown = [f"{field.text} {field.show(result.rows[0])}" for field in result.fields[: _ALL // 2]]
    first = f"; the first has {joined(shown)}"
    verb = "Here are" if result.cut else "There are"
    return f"{verb} {count} {result.noun}{result.scope}{first}."


def plain_rows(result: Result, measure: Field) -> str:
    """Single rows of a table, with numbers in them."""
    labels = [result.label(row) for row in result.rows]
    if len(set(labels)) < len(labels):
        return some_rows(result)
    if len(result.rows) <= _ALL and not result.cut:
        first, *rest = result.rows
        head = f"{result.label(first)} ({measure.text} {measure.show(first)})"
        listed = joined([head, *(_with_value(result, row, measure) for row in rest)])
        return f"The {result.noun}{result.scope} are {listed}."
    if result.cut:
        listed = joined([_with_value(result, row, measure) for row in result.rows[:HEAD]])
        return f"Here are {len(result.rows):,} {result.noun}{result.scope}, starting with {listed}."
    ranged = second_measure(result, measure)
    return f"There are {len(result.rows):,} {result.noun}{result.scope}. {ranged}".rstrip()


def first_of_each(result: Result, measure: Field) -> str:
    """The first rows within each group, group by group."""
    outer = [key for key in result.keys if key.name in result.top_by]
    inner = [key for key in result.keys if key.name not in result.top_by]
    valued = [(row, number) for row in result.rows if (number := measure.number(row)) is not None]
    groups: dict[str, list[str]] = {}
    for row, _ in sorted(valued, key=lambda pair: pair[1], reverse=result.top_descending):
        name = " / ".join(key.name_of(row) for key in inner)
        value = f"{name} ({measure.show(row)})" if name else measure.show(row)
        groups.setdefault(" / ".join(key.name_of(row) for key in outer), []).append(value)
    told = [f"{name}: {joined(values[:HEAD])}" for name, values in sorted(groups.items())[:_GROUPS]]
    more = "; and so on" if len(groups) > _GROUPS else ""
    by = joined([key.text for key in outer]) or "group"
    return sentence_start(f"{result.lead}by {measure.text}, for each {by}: {'; '.join(told)}{more}.")


def unusual(result: Result, score: Field) -> str:
    """Outliers by z-score."""
    scored = [(row, number) for row in result.rows if (number := score.number(row)) is not None]
    if not scored:
        return f"Nothing stands out: there is no spread in {score.text.removeprefix('z-score of ')}."
    row, number = max(scored, key=lambda pair: abs(pair[1]))
    source = next((field for field in result.fields if field.index == score.source), None)
    size = score.show(row).removeprefix("−")
    side = "above" if number > 0 else "below"
    value = f"{subject(source)} of {source.show(row)}" if source else subject(score)
    who = result.label(row)
    most = sentence_start(f"{who} is the most unusual: {value} is {size} standard deviations {side} the mean")
    if len(scored) == 1 or not result.having:
        return f"{most}{result.scope}."
    return f"{_count(result)} {result.noun} stand out ({result.having}){result.scope}. {most}."
