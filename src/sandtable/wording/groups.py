"""Several groups: the highest and the lowest, two compared with each other, the top of a ranking."""

from __future__ import annotations

from decimal import Decimal

from sandtable.catalog.model import ColumnType
from sandtable.wording.degrees import comparative, opposite, subject, superlative, verb
from sandtable.wording.field import Direction, Field, Row
from sandtable.wording.phrases import joined, sentence_start
from sandtable.wording.result import Result

_LISTED = 5
"""A ranking up to this length is stated in full; of a longer one, only its first rows."""
HEAD = 3

Point = tuple[Row, Decimal]


def points_of(result: Result, field: Field) -> list[Point]:
    """Rows that have a value; those without a name only when hardly anything else is left."""
    valued = [(row, number) for row in result.rows if (number := field.number(row)) is not None]
    named = [(row, number) for row, number in valued if not result.is_nameless(row)]
    return named if len(named) > 1 else valued


def is_ranking(result: Result) -> bool:
    """An ordered list that ends where the plan's own limit is."""
    order = result.order
    limited = result.limit is not None and len(result.rows) >= result.limit
    return order is not None and order.field.measure and limited and not result.truncated


def ranking(result: Result) -> str:
    """The first rows of such a list."""
    order = result.order
    assert order is not None
    field, count = order.field, len(result.rows)
    told = result.rows if count <= _LISTED else result.rows[:HEAD]
    if result.ties and result.limit == 1 and count > 1:
        return _tied(result, field, order.descending)
    names = joined([result.label(row) + ("" if field.hidden else f" ({field.show(row)})") for row in told])
    head = f"{len(told):,}" if len(told) == count else f"{len(told):,} of {count:,}"
    more = result.limit is not None and result.ties and count > result.limit
    tied = " The last of them are equal." if more else ""
    if order.descending:
        return f"The top {head} {result.noun} by {field.text}{result.scope} are {names}.{tied}"
    return f"The {head} {result.noun} with {superlative(field, 'low')}{result.scope} are {names}.{tied}"


def _tied(result: Result, field: Field, descending: bool) -> str:
    """Several rows share the first place."""
    labels = [result.label(row) for row in result.rows[:_LISTED]]
    rest = len(result.rows) - len(labels)
    who = f"{', '.join(labels)} and {rest:,} more" if rest else joined(labels)
    value = "" if field.hidden else f", {field.show(result.rows[0])} each"
    what = superlative(field, "high" if descending else "low")
    return sentence_start(f"{result.lead}{who} share {what}{value}.")


def nameless(result: Result, field: Field) -> str:
    """A sentence about rows without a group: how many, or a value beyond those of all groups."""
    row = next((row for row in result.rows if result.is_nameless(row)), None)
    number = field.number(row) if row is not None else None
    if row is None or number is None or len(result.rows) < 3:
        return ""
    if field.counts:
        return f" Another {field.show(row)} have no {result.keys[0].text}."
    others = [known for _, known in points_of(result, field)]
    if min(others) <= number <= max(others):
        return ""
    return f" Where there is no {result.keys[0].text}, it is {field.show(row)}."


def comparison(result: Result, field: Field) -> str:
    """Two groups."""
    points = points_of(result, field)
    if len(points) < 2:
        return _one_known(result, field, points)
    (first, one), (second, other) = points
    if field.show(first) == field.show(second):
        both = joined([result.label(first), result.label(second)])
        return sentence_start(
            f"{result.lead}{both} have {_same(one == other)} {field.text}, {field.show(first)}."
        )
    high, low = (first, second) if one > other else (second, first)
    key = result.keys[0] if len(result.keys) == 1 else None
    if key is not None and key.type is ColumnType.BOOLEAN:
        return sentence_start(f"{result.lead}{_by_truth(field, key, high, low)}.")
    if result.overall_of(field) and not field.counts:
        return _both_ends(result, field, [high], [low], "high")
    return sentence_start(
        f"{result.lead}{result.label(high)} has {comparative(field, 'high')} ({field.show(high)}) than "
        f"{result.label(low)} ({field.show(low)})."
    )


def _by_truth(field: Field, key: Field, high: Row, low: Row) -> str:
    text = f"there are more {field.things}" if field.counts else f"{subject(field)} {verb(field)} higher"
    return (
        f"{text} where {key.text} is {key.show(high)} ({field.show(high)}) than where it is "
        f"{key.show(low)} ({field.show(low)})"
    )


def _one_known(result: Result, field: Field, points: list[Point]) -> str:
    if not points:
        return sentence_start(f"{result.lead}none of the {result.noun} has a value for {field.text}.")
    row = points[0][0]
    return sentence_start(
        f"{result.lead}only {result.label(row)} has a value for {field.text}: {field.show(row)}."
    )


def extremes(result: Result, field: Field) -> str:
    """The highest and the lowest group, the one that was asked for first."""
    points = points_of(result, field)
    if len(points) < 2:
        return _one_known(result, field, points)
    top, bottom = max(n for _, n in points), min(n for _, n in points)
    highs = [row for row, number in points if number == top]
    lows = [row for row, number in points if number == bottom]
    if field.show(highs[0]) == field.show(lows[0]):
        shown = " shown" if result.cut else ""
        same = f"all {result.noun}{shown} have {_same(top == bottom)} {field.text}, {field.show(highs[0])}"
        return sentence_start(f"{result.lead}{same}.")
    order = result.order
    by_field = order is not None and order.field is field
    start: Direction = "low" if order is not None and by_field and not order.descending else "high"
    if result.cut and by_field:
        return sentence_start(
            f"{result.lead}{_end(result, field, highs if start == 'high' else lows, start)}."
        )
    return _both_ends(result, field, highs, lows, start)


def _same(exactly: bool) -> str:
    """Values that differ only in rounded-off digits count as equal."""
    return "the same" if exactly else "about the same"


def _end(result: Result, field: Field, rows: list[Row], direction: Direction) -> str:
    """The groups at one end, with their value."""
    who, several = _who(result, rows)
    each = " each" if several else ""
    value = f"{field.show(rows[0])}{each}{_share(result, field, rows[0])}"
    has = "have" if several else "has"
    said = result.row_noun if result.where else ""
    return f"{who} {has} {superlative(field, direction, said)}, {value}{result.overall_of(field)}"


def _both_ends(result: Result, field: Field, highs: list[Row], lows: list[Row], start: Direction) -> str:
    ends: list[tuple[list[Row], Direction]] = [(highs, "high"), (lows, "low")]
    (first, one), (second, other) = ends if start == "high" else ends[::-1]
    who, several = _who(result, second)
    among = "among the rows shown, " if result.cut else ""
    text = f"{result.lead}{among}{_end(result, field, first, one)}"
    least, value = opposite(field, other), f"{field.show(second[0])}{' each' if several else ''}"
    if result.overall_of(field):
        return sentence_start(f"{text}; the {least} is {field.show(second[0])}, for {who}.")
    return sentence_start(f"{text}, and {who} the {least}, {value}.")


def _who(result: Result, rows: list[Row]) -> tuple[str, bool]:
    """The names of the rows, and whether they are several."""
    labels = [result.label(row) for row in rows[:HEAD]]
    if len(rows) > HEAD:
        return f"{', '.join(labels)} and others", True
    return joined(labels), len(rows) > 1


def _share(result: Result, field: Field, row: Row) -> str:
    share = next(
        (f for f in result.fields if f.derived == "share_of_total" and f.source == field.index), None
    )
    return f" ({share.show(row)} of the total)" if share and share.number(row) is not None else ""


def second_measure(result: Result, field: Field) -> str:
    """A separate sentence about a further measure."""
    points = points_of(result, field)
    if len(points) < 2 or result.cut:
        return ""
    top, bottom = max(points, key=lambda p: p[1]), min(points, key=lambda p: p[1])
    if field.show(top[0]) == field.show(bottom[0]):
        about = "" if top[1] == bottom[1] else "about "
        return sentence_start(f"{subject(field)} {verb(field)} {about}{field.show(top[0])} everywhere.")
    high, low = result.label(top[0]), result.label(bottom[0])
    ends = f"{field.show(bottom[0])} ({low}) to {field.show(top[0])} ({high}){result.overall_of(field)}"
    range_ = "range" if verb(field) == "are" else "ranges"
    return sentence_start(f"{subject(field)} {range_} from {ends}.")
