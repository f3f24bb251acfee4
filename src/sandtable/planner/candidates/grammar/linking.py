"""Question and table → draft: which words refer to columns, metrics, tables, values and times.

Longer and more exact readings win; a word has one reading.
"""

from __future__ import annotations

from dataclasses import replace

from sandtable.planner.candidates.grammar.draft import Draft, Spot
from sandtable.planner.language.buckets import Bucket
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.times import TimePhrase
from sandtable.planner.language.vocabulary import AGGREGATES, GENERIC
from sandtable.planner.mentions.finding import Found
from sandtable.planner.mentions.matching import Match
from sandtable.planner.schema.columns import is_identifier, is_unique
from sandtable.planner.schema.entries import ColumnEntry, MetricEntry, TableEntry
from sandtable.planner.schema.index import SchemaIndex, reach_of

_JOINED = 0.06
"""Score penalty of a column of another table."""


def link(text: str, index: SchemaIndex, home: TableEntry, found: Found) -> Draft:
    draft = Draft(index, Reading.of(text), home, reach_of(index, home))
    candidates = _candidates(draft, found)
    timed = _times(draft, found, candidates)
    for spot in candidates:
        if _is_aggregate_word(draft, spot, candidates):
            continue
        if draft.reading.free(spot.start, spot.end) and not any(
            t.start < spot.end and spot.start < t.end for t in timed
        ):
            draft.spots.append(spot)
            draft.reading.claim(spot.start, spot.end, "spot")
    draft.spots.sort(key=lambda s: s.start)
    _miss_metrics(draft, found)
    for phrase in draft.phrases:
        draft.reading.claim(phrase.start, phrase.end, "time")
    for bucket in draft.buckets:
        draft.reading.claim(bucket.start, bucket.end, "time")
    return draft


def _is_aggregate_word(draft: Draft, spot: Spot, candidates: list[Spot]) -> bool:
    """`total` before a number or a noun computes, even where a column is called Total."""
    if spot.end != spot.start + 1 or not spot.columns or draft.reading.lower(spot.start) not in AGGREGATES:
        return False
    after = draft.reading.lower(spot.end)
    if after in {"number", "amount", "count", "of"}:
        return True
    return any(s.start == spot.end and (s.columns or s.metric) for s in candidates)


def _miss_metrics(draft: Draft, found: Found) -> None:
    """A metric that is named in full but belongs to another table lowers the score of this one."""
    for match in found.mentions:
        if not isinstance(match.target, MetricEntry) or match.target.metric.table == draft.home.name:
            continue
        covered = any(s.start <= match.start and match.end <= s.end and s.columns for s in draft.spots)
        if match.coverage >= 0.99 and not covered:
            draft.doubt(0.6, f"{match.target.metric.name} is a metric of {match.target.metric.table}")


def _score(spot: Spot) -> float:
    if spot.value is not None:
        return spot.value.score
    if spot.metric is not None:
        return (spot.end - spot.start) * 1.15
    if spot.table is not None:
        return spot.weight * 1.02
    return spot.columns[0].score


def _candidates(draft: Draft, found: Found) -> list[Spot]:
    """Readings of spans, the best first."""
    spots: list[Spot] = []
    by_span: dict[tuple[int, int], list[Match]] = {}
    for match in found.mentions:
        target = match.target
        if isinstance(target, ColumnEntry) and _names_a_row(draft, match, target):
            spots.append(Spot(match.start, match.end, table=draft.home, weight=match.weight * 0.9))
        elif isinstance(target, ColumnEntry) and target.table in draft.reach:
            weight = match.weight - _JOINED * draft.reach[target.table]
            by_span.setdefault((match.start, match.end), []).append(replace(match, weight=weight))
        elif isinstance(target, MetricEntry) and target.metric.table == draft.home.name:
            spots.append(Spot(match.start, match.end, metric=target))
        elif isinstance(target, TableEntry):
            spots.append(Spot(match.start, match.end, table=target, weight=match.weight))
    for (start, end), matches in by_span.items():
        ranked = sorted(matches, key=_preference)
        spots.append(Spot(start, end, columns=tuple(ranked)))
    for value in (*found.quoted, *found.values):
        if value.quoted or any(h.table in draft.reach for h in value.hits):
            spots.append(Spot(value.start, value.end, value=value))
    order = {"column": 0, "metric": 0, "table": 1, "value": 2}
    return sorted(spots, key=lambda s: (-round(_score(s), 4), order[kind_of(s)], s.start))


def _names_a_row(draft: Draft, match: Match, column: ColumnEntry) -> bool:
    """`customers` where `customer_id` is the key: the rows themselves are meant, not their numbers."""
    if column.table != draft.home.name or match.coverage >= 0.9 or not is_identifier(column):
        return False
    return is_unique(column, draft.home) and set(column.stems) - GENERIC != set() and match.weight >= 0.75


def _preference(match: Match) -> tuple[float, int]:
    assert isinstance(match.target, ColumnEntry)
    return (-round(match.score, 4), match.target.position)


def kind_of(spot: Spot) -> str:
    if spot.value is not None:
        return "value"
    if spot.metric is not None:
        return "metric"
    return "table" if spot.table is not None else "column"


def _times(draft: Draft, found: Found, candidates: list[Spot]) -> list[TimePhrase | Bucket]:
    """The times that no column's own name explains better (`year` where a column is called so)."""
    temporal = any(c.temporal for t in draft.index.tables if t.name in draft.reach for c in t.columns)
    named = [s for s in candidates if s.columns and s.columns[0].exact]
    longer = [s for s in candidates if s.columns and s.end - s.start > 1 and s.columns[0].coverage > 0.9]
    for bucket in found.buckets:
        if any(s.start < bucket.end and bucket.start < s.end for s in longer):
            continue
        own = [s for s in named if bucket.start <= s.start and s.end <= bucket.end]
        plain = [s for s in own if s.column and not s.column.temporal]
        if temporal and not plain:
            draft.buckets.append(bucket)
    for phrase in found.phrases:
        if any(s.start < phrase.end and phrase.start < s.end for s in longer):
            continue
        if temporal or phrase.years is not None:
            draft.phrases.append(phrase)
    return [*draft.phrases, *draft.buckets]
