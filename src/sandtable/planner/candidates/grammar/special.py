"""Special kinds of questions: arithmetic, distributions, running totals, changes, outliers, correlations."""

from __future__ import annotations

import re

from sandtable.planner.candidates.grammar.draft import Draft, Measure, Spot
from sandtable.planner.candidates.grammar.measuring import agg_measure, aggregate_before, count_measure
from sandtable.planner.candidates.grammar.timing import default_time
from sandtable.planner.language.buckets import Bucket
from sandtable.planner.language.vocabulary import AGGREGATES
from sandtable.planner.schema.columns import distinct_of, is_measure, is_varied
from sandtable.planner.schema.entries import ColumnEntry, Json

_BINARY = {
    "minus": "-", "less": "-", "plus": "+", "times": "*", "-": "-", "+": "+", "*": "*", "/": "/", "over": "/",
    "per": "/", "multiplied by": "*", "divided by": "/", "multiplied with": "*", "×": "*",
}  # fmt: skip
_DIFFERENCE = re.compile(r"(?:the )?difference between(?: the)?(?= )")
_RATIO = re.compile(r"(?:the )?ratio (?:of|between)(?: the)?(?= )")
_DISTRIBUTION = re.compile(
    r"(?:the )?(?:distribution|histogram|breakdown|frequency|frequencies|spread) (?:of|for)(?: the)?(?= )"
)
_RUNNING = re.compile(
    r"(?:the )?(?:running (?:total|sum)s?|cumulative(?: (?:sum|total))?|cumulated)(?: of| for)?(?: the)?(?= |$)"
)
_CHANGE = re.compile(
    r"(?:the )?(?:(?:percent(?:age)? )?(?:change|growth)(?: rate)?|growth rate|increase|decrease)s?"
    r"(?: of| in| for)?(?: the)?(?= |$)"
)
_OUTLIERS = re.compile(
    r"(?:the )?(?:most )?(?:unusual(?:ly)?|outliers?|anomal(?:y|ies|ous)|abnormal(?:ly)?|z - score|z score|zscore)s?"
    r"(?: high| low)?(?= |$)"
)
_CORRELATION = re.compile(
    r"(?:the )?(?:correlation|relationship|relation|scatter(?: ?plot)?)(?: between| of)?(?= |$)"
    r"|(?:correlates?|correlated) with(?= )"
)
_MANY_VALUES = 60
_THAT_IS = re.compile(
    r"(?:[,(:] )?(?:i \. e(?: \.)?|i\.e\.?|ie|that is|meaning|namely|(?:defined|computed|calculated) as)"
    r"(?: ,)?(?: the)?(?= )"
)


def find_arithmetic(draft: Draft) -> None:
    for spot in draft.spots:
        if spot.open and _number(spot) is not None:
            _infix(draft, spot)
    for pattern, op, joints in ((_DIFFERENCE, "-", {"and"}), (_RATIO, "/", {"to", "and"})):
        for start, end, _ in draft.reading.find(pattern):
            left = draft.after(end, frozenset(), 0)
            if left is None or not left.open or draft.reading.lower(left.end) not in joints:
                continue
            right = draft.after(left.end + 1, frozenset({"the"}), 1)
            if right is not None and right.open and _combine(draft, op, left, right):
                draft.reading.claim(start, end, "measure")


def _infix(draft: Draft, left: Spot) -> None:
    one, two = draft.reading.lower(left.end), draft.reading.lower(left.end + 1)
    for words, width in ((f"{one} {two}", 2), (one, 1)):
        if words not in _BINARY:
            continue
        right = draft.after(left.end + width, frozenset({"the"}), 1)
        if words == "per" and (right is None or right.number is None or not is_varied(right.number)):
            return
        if right is not None and right.open and _combine(draft, _BINARY[words], left, right):
            draft.reading.claim(left.end, left.end + width, "measure")
        return


def _number(spot: Spot) -> ColumnEntry | None:
    return next((c for c in spot.options if c.numeric), None)


def _combine(draft: Draft, op: str, left: Spot, right: Spot) -> bool:
    a, b = _number(left), _number(right)
    if a is None or b is None or a is b:
        return False
    name = {"-": "minus", "+": "plus", "*": "times", "/": "per"}[op]
    sides: Json = {"op": op, "left": {"column": draft.ref(a)}, "right": {"column": draft.ref(b)}}
    agg = aggregate_before(draft, left) or _explained(draft, left)
    label = f"{a.name}_{name}_{b.name}"[:90]
    item: Json = {"agg": agg, "of": sides, "as": f"{agg}_{label}"} if agg else {**sides, "as": label}
    left.role = right.role = "measured"
    draft.measures.append(Measure(item, left.start))
    for at in range(max(0, left.start - 4), left.start):
        if agg and draft.reading.lower(at) not in {"by", "per"}:
            draft.reading.claim(at, at + 1, "measure")
    return True


def _explained(draft: Draft, left: Spot) -> str:
    """`the total stock value, i.e. price times quantity`: the words before it name what is computed."""
    reading = draft.reading
    telling = next((s for s, e, _ in reading.find(_THAT_IS) if e == left.start), None)
    if telling is None:
        return ""
    first = next((at for at in range(telling) if reading.lower(at) in AGGREGATES), None)
    if first is None:
        return ""
    for spot in draft.spots:
        if first < spot.start < telling and spot.open and spot.value is None:
            spot.role = "hint"
    reading.claim(first, left.start, "measure")
    return AGGREGATES[reading.lower(first)]


def find_distribution(draft: Draft) -> None:
    for start, end, _ in draft.reading.find(_DISTRIBUTION):
        spot = draft.after(end, frozenset(), 0)
        if spot is None or not spot.open or not draft.reading.free(start, end):
            continue
        column = spot.column
        if column is None:
            continue
        draft.reading.claim(start, end, "measure")
        spot.role = "group"
        few = (distinct_of(column) or 0) <= _MANY_VALUES or not is_measure(column)
        if few:
            draft.groups.append(column)
            draft.measures.append(count_measure(draft, None, distinct=False, start=start))
        else:
            draft.asked.append(column)


def find_running(draft: Draft) -> bool:
    return _said(draft, _RUNNING)


def find_change(draft: Draft) -> bool:
    return _said(draft, _CHANGE)


def find_correlation(draft: Draft) -> bool:
    return _said(draft, _CORRELATION)


def find_outliers(draft: Draft) -> tuple[bool, bool]:
    """Whether unusual values are asked for, and whether only the most unusual one."""
    found = [(s, e) for s, e, _ in draft.reading.find(_OUTLIERS) if draft.reading.free(s, e)]
    most = False
    for start, end in found:
        most = most or "most" in {draft.reading.lower(i) for i in range(start, end)}
        draft.reading.claim(start - (draft.reading.lower(start - 1) == "by"), end, "measure")
    return bool(found), most


def _said(draft: Draft, pattern: re.Pattern[str]) -> bool:
    hits = [(s, e) for s, e, _ in draft.reading.find(pattern) if draft.reading.free(s, e)]
    for start, end in hits:
        draft.reading.claim(start, end, "measure")
    return bool(hits)


def need_bucket(draft: Draft) -> None:
    """Running totals and changes go along time: by month unless the question says otherwise."""
    if draft.bucket is None:
        column = default_time(draft)
        if column is not None:
            draft.bucket = Bucket(0, 0, "month")
            draft.bucket_column = column


_ENDS = (
    "highest|largest|maximum|max|biggest|greatest|latest|newest|longest|"
    "lowest|smallest|minimum|min|earliest|shortest"
)
_EXTREMES = re.compile(
    rf"(?:the )?(?P<one>{_ENDS}) and (?:the )?(?P<two>{_ENDS})(?: values? of| of)?(?: the)?(?= )"
)
_LOWEST = frozenset("lowest smallest minimum min earliest shortest".split())


def find_extremes(draft: Draft) -> None:
    """`the earliest and the latest year`: both ends, in the order in which they were said."""
    for start, end, match in draft.reading.find(_EXTREMES):
        spot = draft.after(end, frozenset(), 0)
        column = spot.number if spot is not None and spot.open else None
        words = (match.group("one"), match.group("two"))
        opposed = len({word in _LOWEST for word in words}) == 2
        if spot is None or column is None or not opposed or not draft.reading.free(start, end):
            continue
        spot.role = "measured"
        draft.reading.claim(start, end, "measure")
        for word in words:
            agg = "min" if word in _LOWEST else "max"
            draft.measures.append(agg_measure(draft, agg, column, start))


_RANGE = re.compile(
    r"(?:the )?(?:difference|gap|range) between (?:the )?(?:highest|largest|maximum|max|biggest|most|greatest) and "
    r"(?:the )?(?:lowest|smallest|minimum|min|least)(?= )|(?:the )?range of(?: the)?(?= )"
)


def find_range(draft: Draft) -> None:
    """`the difference between the highest and the lowest price`."""
    for start, end, _ in draft.reading.find(_RANGE):
        spot = draft.after(end, frozenset(), 0)
        column = _number(spot) if spot is not None and spot.open else None
        if spot is None or column is None or not draft.reading.free(start, end):
            continue
        spot.role = "measured"
        draft.reading.claim(start, end, "measure")
        ref = draft.ref(column)
        item: Json = {
            "op": "-",
            "left": {"agg": "max", "column": ref},
            "right": {"agg": "min", "column": ref},
            "as": f"range_of_{column.name}"[:100],
        }
        draft.measures.append(Measure(item, start))
