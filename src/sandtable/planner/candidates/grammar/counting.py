"""Counts, aggregates and shares that a question asks for → measures of the draft."""

from __future__ import annotations

import re

from sandtable.planner.candidates.grammar.draft import Condition, Draft, Measure, Spot
from sandtable.planner.candidates.grammar.measuring import (
    agg_measure,
    count_measure,
    metric_measure,
    share_measure,
)
from sandtable.planner.language.reading import FREE
from sandtable.planner.language.vocabulary import AGGREGATES
from sandtable.planner.schema.columns import is_identifier, is_measure, is_year, speaking_of, truth
from sandtable.planner.schema.entries import ColumnEntry, Json

_COUNT = re.compile(
    r"(?:how many(?: times)?|how often|(?:the )?(?:total )?(?:number|count|amount|nr|# ?)s? of|# of|how much|"
    r"count(?: up| the| all)*)(?= |$)"
)
_SHARE = re.compile(
    r"(?:share|percentages?|percent|proportion|fraction|%|pct|portion) (?:of|are|is|were|was|that|have|has)(?= |$)"
)
_OF_TOTAL = re.compile(
    r"(?:as (?:a )?|in )?(?:share|percentages?|percent|proportion|fraction|%)"
    r"(?: of (?:the )?(?:total|whole|overall|all))?(?= |$)"
)
_PERCENTILE = re.compile(
    r"(?:the )?(?:(?P<n>\d{1,2}(?:\.\d+)?)(?:st|nd|rd|th)? (?:percentile|quantile)|p(?P<p>\d{2}))(?: of)?(?= |$)"
)
_DEVIATION = re.compile(r"(?:the )?standard deviations?(?: of)?(?= |$)")
_DISTINCT = frozenset("different distinct unique separate".split())
_PASSED = frozenset(
    "of the a an all total different distinct unique separate individual for in any other new".split()
)
_AGG_PASSED = frozenset(
    "of the a an all value values for their its and , or both amount overall each per".split()
)
_VERBS = frozenset(
    "were was are is have has had got get did do cost costs came come comes that who which be being".split()
)


def find_shares(draft: Draft) -> None:
    reading = draft.reading
    for start, end, _ in reading.find(_SHARE):
        if not reading.free(start, end):
            continue
        spot = draft.after(end, _PASSED, 3, claimed=True)
        if _value_share(draft, spot, start):
            reading.claim(start, end, "measure")
            return
        over = _numerator(draft, start, spot)
        if over:
            reading.claim(start, end, "measure")
            if spot is not None and spot.open and (spot.table or spot.column):
                spot.role = "measure"
            draft.numerator = over
            draft.conditions = [c for c in draft.conditions if c not in over]
            draft.measures.append(share_measure(over, start))
            return
    _rate_of_flag(draft)


def _rate_of_flag(draft: Draft) -> None:
    """`the cancelled rate`, `rate of returned items`, where no metric is called that."""
    reading = draft.reading
    for at in range(len(reading)):
        if reading.lower(at) not in {"rate", "rates"} or reading.owner[at] != FREE:
            continue
        beside = (
            _rated(draft, at)
            or [c for c in draft.conditions if c.end == at]
            or [c for c in draft.conditions if c.start in {at + 2, at + 3} and reading.lower(at + 1) == "of"]
        )
        if beside:
            reading.claim(at, at + 1, "measure")
            draft.conditions = [c for c in draft.conditions if c not in beside]
            draft.numerator = beside
            draft.measures.append(share_measure(beside, at))
            return


def _rated(draft: Draft, at: int) -> list[Condition]:
    """`the survival rate`: the part of the rows for which the yes/no column just before says yes."""
    spot = draft.ending(at)
    pair = truth(spot.column) if spot is not None and spot.open and spot.column is not None else None
    if spot is None or spot.column is None or pair is None:
        return []
    spot.role = "measured"
    leaf = {"column": draft.ref(spot.column), "op": "=", "value": pair[0]}
    return [Condition(spot.start, spot.end, leaf, spot.column)]


def _numerator(draft: Draft, start: int, entity: Spot | None) -> list[Condition]:
    """The conditions that the share is about; the others say of what it is a share."""
    later = [c for c in draft.conditions if c.start >= start]
    # "of thefts led to an arrest": the first condition says of what, the others which part
    if entity is None and len(later) > 1 and min(c.start for c in later) <= start + 4:
        ordered = sorted(later, key=lambda c: c.start)
        return ordered[1:]
    if entity is None or not later:
        return later
    after = [c for c in later if c.start >= entity.end]
    if not after:
        return later
    verb = next(
        (i for i in range(entity.end, len(draft.reading)) if draft.reading.lower(i) in _VERBS), entity.end
    )
    behind = [c for c in after if c.start >= verb]
    return behind or after


def _value_share(draft: Draft, spot: Spot | None, start: int) -> bool:
    """`what share of revenue comes from Europe`: a sum over some rows against the sum over all."""
    if spot is None or not spot.open:
        return False
    aggregate: Json | None = None
    if spot.metric is not None:
        metric = spot.metric.metric
        if (
            metric.denominator is None
            and metric.numerator.get("agg") in {"sum", "count"}
            and "where" not in metric.numerator
        ):
            aggregate = dict(metric.numerator)
    elif spot.column is not None and is_measure(spot.column):
        aggregate = {"agg": "sum", "column": draft.ref(spot.column)}
    over = [c for c in draft.conditions if c.start >= spot.end]
    if aggregate is None or not over:
        return False
    spot.role = "measure"
    draft.numerator = over
    draft.conditions = [c for c in draft.conditions if c not in over]
    item: Json = {
        "op": "/",
        "left": {**aggregate, "where": [c.json for c in over]},
        "right": aggregate,
        "as": "share",
    }
    draft.measures.append(Measure(item, start))
    return True


def find_share_of_total(draft: Draft) -> bool:
    """`as a share of the total`, or a share of nothing but the groups."""
    for start, end, _ in draft.reading.find(_OF_TOTAL):
        if draft.reading.free(start, end):
            draft.reading.claim(start, end, "measure")
            return True
    return False


def find_counts(draft: Draft) -> None:
    reading = draft.reading
    for start, end, match in reading.find(_COUNT):
        if not reading.free(start, end) or reading.lower(start - 1) in {"each", "per", "every"}:
            continue
        much = match.group() == "how much"
        times = match.group() in {"how often", "how many times"}
        distinct = any(
            reading.lower(end + i) in _DISTINCT
            for i in range(3)
            if reading.owner[end + i : end + i + 1] == [FREE]
        )
        spot = None if times else draft.after(end, _PASSED, 3, claimed=True)
        if spot is not None and (not spot.open or spot.value is not None):
            spot = None
        if much and (spot is None or (spot.column and not is_measure(spot.column))):
            continue
        if reading.lower(start) == "count" and spot is None and start > 0:
            continue
        reading.claim(start, end, "measure")
        if spot is None and not times and not _units_of_time(draft, start, end):
            spot = _verb_after(draft, end)
        elif spot is None and not times:
            continue
        _count(draft, spot, start, distinct)


def _units_of_time(draft: Draft, start: int, end: int) -> bool:
    """`how many years has she been here`: a column that is counted in years."""
    unit = draft.reading.lower(end)
    if unit not in {"years", "months", "weeks", "days", "hours", "minutes", "seconds"}:
        return False
    column = speaking_of(unit, draft.home)
    if column is None or not is_measure(column):
        draft.doubt(0.4, f"no column is counted in {unit}")
        return False
    draft.measures.append(agg_measure(draft, "sum", column, start))
    return True


def _verb_after(draft: Draft, end: int) -> Spot | None:
    """`how many games did X lose`: the column is in the verb, when no other number is mentioned."""
    numbers = [s for s in draft.spots if s.start >= end and s.open and s.column and is_measure(s.column)]
    same = len({s.column.ref for s in numbers if s.column}) == 1
    return numbers[0] if same else None


def _count(draft: Draft, spot: Spot | None, start: int, distinct: bool) -> None:
    if spot is None:
        draft.measures.append(count_measure(draft, None, distinct=False, start=start))
        return
    spot.role = "measure"
    if spot.metric is not None:
        draft.measures.append(metric_measure(spot.metric, start))
        return
    number = next((c for c in spot.options if is_measure(c) and truth(c) is None), None)
    agg = AGGREGATES.get(draft.reading.lower(start - 1), "") if start > 0 else ""
    rank = draft.rank
    if number is not None and number is spot.column and rank is not None and 0 <= start - rank.end <= 1:
        rank.column = number
        spot.role = "rank"
        return
    if number is not None and number is spot.column and not distinct:
        draft.reading.claim(start - 1 if agg else start, start, "measure")
        draft.measures.append(agg_measure(draft, agg or "sum", number, start))
        return
    if agg == "avg" and _average_count(draft, spot, start):
        return
    measure = count_measure(draft, spot, distinct=distinct)
    measure.start = start
    draft.measures.append(measure)


def _average_count(draft: Draft, counted: Spot, start: int) -> bool:
    """`the average number of orders per customer`: all orders over all customers."""
    each = next(
        (
            i
            for i in range(counted.end, len(draft.reading))
            if draft.reading.lower(i) in {"per", "each", "by"}
        ),
        None,
    )
    spot = draft.after(each + 1, frozenset({"the", "each"}), 1) if each is not None else None
    if spot is None or not spot.open or spot.value is not None or spot.metric is not None:
        return False
    assert each is not None
    over = count_measure(draft, counted, distinct=False).item
    under = count_measure(draft, spot, distinct=True).item
    if over == under:
        return False
    spot.role = "measure"
    draft.reading.claim(start - 1, start, "measure")
    draft.reading.claim(each, each + 1, "measure")
    item: Json = {"op": "/", "left": over, "right": under, "as": "average_number"}
    draft.measures.append(Measure(item, start))
    return True


def find_aggregates(draft: Draft) -> None:
    _find_worded(draft, _PERCENTILE)
    _find_worded(draft, _DEVIATION)
    reading = draft.reading
    for at in range(len(reading)):
        agg = AGGREGATES.get(reading.lower(at), "")
        if not agg or reading.owner[at] != FREE:
            continue
        spot = draft.after(at + 1, _AGG_PASSED | frozenset(AGGREGATES), 8, claimed=True)
        if spot is None or not _aggregable(spot):
            before = draft.before(at, frozenset(), 0)
            spot = before if before is not None and _aggregable(before) and before.open else None
        if spot is not None:
            had = len(draft.measures)
            _aggregate(draft, agg, spot, at)
            if len(draft.measures) > had:
                reading.claim(at, at + 1, "measure")


def _find_worded(draft: Draft, pattern: re.Pattern[str]) -> None:
    for start, end, match in draft.reading.find(pattern):
        spot = draft.after(end, _AGG_PASSED, 4, claimed=True)
        column = _best_number(spot) if spot else None
        if spot is None or column is None or not draft.reading.free(start, end):
            continue
        groups = match.groupdict()
        said = groups.get("n") or groups.get("p")
        quantile = float(said) / 100 if said else None
        spot.role, spot.chosen = "measured", column
        draft.reading.claim(start, end, "measure")
        agg = "quantile" if quantile is not None else "stddev"
        draft.measures.append(agg_measure(draft, agg, column, start, quantile))


def _aggregable(spot: Spot) -> bool:
    return spot.role in {"", "measured"} and spot.value is None


def _best_number(spot: Spot) -> ColumnEntry | None:
    numbers = [c for c in spot.options if c.numeric]
    return next((c for c in numbers if not is_identifier(c)), numbers[0] if numbers else None)


def _aggregate(draft: Draft, agg: str, spot: Spot, at: int) -> None:
    if spot.metric is not None:
        spot.role = "measured"
        draft.measures.append(metric_measure(spot.metric, at))
        if agg not in {"sum", "avg"}:
            draft.doubt(0.6, f"{spot.metric.metric.name} already says how it is computed")
        return
    if spot.table is not None:
        if agg == "sum":
            spot.role = "measured"
            draft.measures.append(count_measure(draft, spot, distinct=False))
        return
    column = _best_number(spot)
    if column is None and agg in {"min", "max"}:
        column = next((c for c in spot.options if c.temporal), None)
    if column is None and agg == "avg":
        column = next((c for c in spot.options if truth(c) is not None and c.boolean), None)
    if column is None:
        if agg == "sum" and spot.column is not None:
            spot.role = "measured"
            draft.measures.append(count_measure(draft, spot, distinct=True))
        return
    spot.role, spot.chosen = "measured", column
    draft.measures.append(agg_measure(draft, agg, column, at))
    _spread(draft, agg, spot)


def _spread(draft: Draft, agg: str, spot: Spot) -> None:
    """`average price and quantity`: one word for both."""
    reading = draft.reading
    while reading.lower(spot.end) in {"and", ",", "&"}:
        following = draft.after(spot.end + 1, frozenset({"the", "and"}), 1)
        if following is None or not following.open or following.column is None:
            return
        column = following.column
        if not is_measure(column) or is_year(column) or truth(column) is not None:
            return
        following.role = "measured"
        draft.measures.append(agg_measure(draft, agg, column, following.start))
        spot = following
