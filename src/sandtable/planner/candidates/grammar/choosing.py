"""What is ranked and what is asked for: the last decisions before a draft becomes a plan."""

from __future__ import annotations

from sandtable.catalog.measures import bad_end
from sandtable.planner.candidates.grammar.against import ORDINALS
from sandtable.planner.candidates.grammar.draft import Draft, Measure, Rank, Spot
from sandtable.planner.candidates.grammar.measuring import (
    agg_measure,
    count_measure,
    metric_measure,
    superlative_aggregate,
)
from sandtable.planner.candidates.grammar.sequence import row_order
from sandtable.planner.language.reading import FREE
from sandtable.planner.language.vocabulary import GENERIC, IMPLIED, LEAST, MOST, OLDEST_BY_DATE
from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import is_measure, is_rank, is_unique, is_year, label_of, speaking_of
from sandtable.planner.schema.entries import ColumnEntry
from sandtable.planner.schema.main_measures import bad_end_of, is_averaged

_PASSED = frozenset(
    "of the in a an value values single overall number total amount level rate recorded".split()
)
_ADDED_UP = frozenset("most fewest least top bottom best worst".split())
_TAKEN_IN = frozenset(stem(w) for w in "revenue sales turnover profit takings".split())
"""Of a group these are added up, whatever the superlative."""
_SPEED = frozenset({"fastest", "slowest", "faster", "slower", "quickest"})
"""Where there is no speed, the fastest needs the least time."""
_NOT_ADDED = frozenset(
    stem(w)
    for w in "rate price rating score percent pct age temperature ratio avg average mean level speed humidity year "
    "rank position latitude longitude height weight grade gpa index fraction csat satisfaction nps quality".split()
)


def settle_rank(draft: Draft, by_keys: list[Spot]) -> None:
    rank = draft.rank
    if rank is None:
        _order_by_keys(draft, by_keys)
        return
    if rank.common:
        _most_common(draft, rank)
        _commonest_number(draft, rank)
        return
    _commonest_number(draft, rank)
    if by_keys:
        _take_key(draft, rank, by_keys[0])
    if rank.measure is None and rank.column is None:
        _key_after(draft, rank)
    if rank.measure is None and rank.column is None:
        _key_elsewhere(draft, rank)
    _good_or_bad(draft, rank)
    _first_only_sorts(draft, rank)
    _compared_rows(draft, rank)


def _good_or_bad(draft: Draft, rank: Rank) -> None:
    """`the worst return rate` is the highest, and the best one the lowest."""
    if rank.word not in {"best", "worst"}:
        return
    column = rank.column or (rank.measure.column if rank.measure is not None else None)
    metric = rank.measure.metric if rank.measure is not None else None
    if metric is not None:
        bad = bad_end(metric.metric)
    else:
        bad = bad_end_of(column, draft.index) if column is not None and not is_rank(column) else None
    if bad == "high":
        rank.descending = rank.word == "worst"


def _commonest_number(draft: Draft, rank: Rank) -> None:
    """`how many cylinders do most cars have`: the number that occurs most often, not their sum."""
    said = rank.common or (rank.word == "most" and draft.reading.lower(rank.start - 1) in {"do", "did"})
    summed = [m for m in draft.measures if m.item.get("agg") == "sum" and m.column is not None]
    if not said or len(summed) != 1 or draft.groups or len(draft.measures) != 1:
        return
    column = summed[0].column
    if column is not None and column.numeric:
        draft.groups, draft.measures = [column], []


def _compared_rows(draft: Draft, rank: Rank) -> None:
    """`which is older, A or B`: both must be values of one column."""
    either = any("any" in c.json for c in draft.conditions)
    if draft.reading.lower(rank.start) not in MOST | LEAST and either and not rank.common:
        draft.doubt(0.4, "what is compared is not of one column")


def _first_only_sorts(draft: Draft, rank: Rank) -> None:
    """`highest return rate first` is about the order: nothing is dropped."""
    key = next((s for s in draft.spots if s.role == "rank" and s.start >= rank.end), None)
    end = key.end if key else rank.end
    if draft.reading.lower(end) == "first" or draft.reading.lower(rank.end) == "first":
        rank.keep = False


def _order_by_keys(draft: Draft, by_keys: list[Spot]) -> None:
    for spot in by_keys:
        if spot.open and spot.metric is None and spot.column is not None:
            spot.role = "group"
            draft.groups.append(spot.column)


def _most_common(draft: Draft, rank: Rank) -> None:
    rank.measure = count_measure(draft, None, distinct=False, start=rank.start)
    spot = draft.after(rank.end, _PASSED | {"for", "among", "type", "kind"}, 3, claimed=True)
    if spot is not None and spot.open and spot.column is not None:
        spot.role = "group"
        draft.groups.append(spot.column)


def _take_key(draft: Draft, rank: Rank, spot: Spot) -> None:
    spot.role = "rank"
    if spot.metric is not None:
        rank.measure = metric_measure(spot.metric, spot.start)
    elif spot.table is not None:
        rank.measure = count_measure(draft, spot, distinct=False)
    else:
        rank.column = next((c for c in spot.options if c.numeric or c.temporal), spot.column)
        spot.chosen = rank.column


def _key_after(draft: Draft, rank: Rank) -> None:
    near = [m for m in draft.measures if rank.end <= m.start <= rank.end + 2]
    if near:
        rank.measure = near[0]
        return
    spot = draft.after(rank.end, _PASSED, 3, claimed=True)
    if spot is None or not spot.open:
        return
    counted = rank.word in {"most", "fewest", "least"}
    if spot.metric is not None or (spot.table is not None and counted):
        _take_key(draft, rank, spot)
    elif spot.column is not None:
        number = next((c for c in spot.options if c.numeric or c.temporal), None)
        if number is not None and rank.word in OLDEST_BY_DATE and (number.temporal or is_year(number)):
            rank.column, rank.descending = number, OLDEST_BY_DATE[rank.word]
            return
        if number is not None and rank.word not in {"top", "bottom"} and not _is_the_one(draft, rank, spot):
            _take_key(draft, rank, spot)
        elif counted:
            spot.role = "rank"
            rank.measure = count_measure(draft, spot, distinct=not is_unique(spot.column, draft.home))


def _is_the_one(draft: Draft, rank: Rank, spot: Spot) -> bool:
    """`the oldest singer` asks for a singer, even where a column is called `Singer age`."""
    named = spot.column is not None and spot.column.text and spot.columns[0].exact
    implied = IMPLIED.get(rank.word)
    return named and implied is not None and speaking_of(implied[0], draft.home) is not None


def _key_elsewhere(draft: Draft, rank: Rank) -> None:
    """The sort key from the adjective (`cheapest`), the question's measure, or its only number."""
    if _by_order_of_rows(draft, rank) or _by_adjective(draft, rank):
        return
    if rank.word in _SPEED and _slowness(draft, rank):
        return
    if draft.measures:
        rank.measure = draft.measures[0]
        return
    numbers = [s for s in draft.spots if s.open and (s.metric or any(is_measure(c) for c in s.options))]
    if numbers:
        _take_key(draft, rank, numbers[-1] if numbers[-1].start > rank.start else numbers[0])
        return
    ranked = next((c for c in draft.home.columns if is_rank(c)), None)
    if ranked is not None and rank.word in {"top", "best", "bottom", "worst", "first", "last"}:
        rank.column, rank.descending = ranked, not rank.descending
        return
    if rank.word in {"most", "fewest", "least"} and any(s.open and s.column for s in draft.spots):
        rank.measure = count_measure(draft, None, distinct=False, start=rank.start)
        draft.doubt(0.8, f"{rank.word} was taken as how often it occurs")
        return
    if rank.word in {"top", "bottom"} and any(s.open for s in draft.spots):
        rank.measure = count_measure(draft, None, distinct=False, start=rank.start)
        draft.doubt(0.75, f"{rank.word} by what was not said; taken by how often it occurs")
        return
    draft.keyless = True


def _by_order_of_rows(draft: Draft, rank: Rank) -> bool:
    if draft.reading.lower(rank.start) in {"first", "last", "final"}:
        rank.column = row_order(draft)
    return rank.column is not None


def _by_adjective(draft: Draft, rank: Rank) -> bool:
    """`cheapest`, or the verb of `earns the most`."""
    implied = IMPLIED.get(rank.word) or _verb_before(draft, rank)
    if implied is None:
        return False
    for name in sorted(draft.reach, key=lambda n: draft.reach[n]):
        table = draft.index.table(name)
        column = speaking_of(implied[0], table) if table else None
        if column is not None and rank.word in OLDEST_BY_DATE and _of_another(draft, rank, column):
            column = None
        if column is None and table is not None and rank.word in OLDEST_BY_DATE:
            column = next((c for c in table.columns if c.temporal or is_year(c)), None)
            if column is not None:
                rank.descending = OLDEST_BY_DATE[rank.word]
        if column is not None:
            rank.column = column
            return True
    return False


_EARNING = frozenset("earn earns earned earning makes cost costs weigh weighs lasted paid".split())


def _verb_before(draft: Draft, rank: Rank) -> tuple[str, bool] | None:
    """`who earns the most`: the verb determines the column."""
    at = rank.start - 1
    if draft.reading.lower(at) == "the":
        at -= 1
    word = draft.reading.lower(at) if at >= 0 else ""
    if word not in _EARNING or rank.word not in {"most", "least"} or draft.reading.owner[at] != FREE:
        return None
    return IMPLIED.get(word)


def _of_another(draft: Draft, rank: Rank, column: ColumnEntry) -> bool:
    """`the oldest song` is not the one with the oldest singer, where songs have a year."""
    noun = draft.reading.words[rank.end].stem if rank.end < len(draft.reading) else ""
    about = set(column.stems) - {stem("age")} - GENERIC - set(draft.home.stems)
    dated = any(c.temporal or is_year(c) for c in draft.home.columns)
    return dated and bool(about) and noun in draft.home.stems and noun not in about


def _slowness(draft: Draft, rank: Rank) -> bool:
    """Where there is no speed column, fast means little time: the time that was mentioned, or the table's only one."""
    spoken = next((s for s in draft.spots if s.open and s.number is not None and is_measure(s.number)), None)
    if spoken is not None:
        _take_key(draft, rank, spoken)
    else:
        rank.column = speaking_of("time duration minutes seconds", draft.home)
    if rank.column is not None:
        rank.descending = not rank.descending
    return rank.column is not None


def spread_rank(draft: Draft) -> None:
    """A ranked number: a row's own, added up per subject, or the highest there is."""
    rank = draft.rank
    if rank is None or rank.column is None:
        return
    column = rank.column
    subjects = [c for c in draft.asked if c is not column and not is_measure(c)]
    entity = bool(subjects) or draft.subject is not None
    if draft.bucket is not None and draft.bucket.asked:
        rank.measure, rank.column = _grouped_key(draft, rank, column), None
        return
    if not entity and _value_is_the_noun(draft, rank):
        return
    if not entity:
        _without_subject(draft, rank, column)
        return
    subject = subjects[0] if subjects else _of_subject(draft)
    if subject is None or (subject.table == draft.home.name and is_unique(subject, draft.home)):
        return
    if draft.subject is not None and not subjects and draft.subject.table is draft.home:
        return
    if (
        (column.numeric and subject.table == column.table)
        or draft.measures
        or subject.table != draft.home.name
    ):
        rank.measure, rank.column = _grouped_key(draft, rank, column), None


def _value_is_the_noun(draft: Draft, rank: Rank) -> bool:
    """`the two cheapest toys`, where toys are a category: the rows are asked for by name, not their price."""
    noun = draft.starting(rank.end)
    label = label_of(draft.home)
    if noun is None or noun.value is None or label is None or rank.word not in IMPLIED:
        return False
    if draft.asked or draft.groups or draft.measures or any(c.column is label for c in draft.conditions):
        return False
    draft.asked.append(label)
    return True


def _of_subject(draft: Draft) -> ColumnEntry | None:
    table = draft.subject.table if draft.subject else None
    if table is None or table.name == draft.home.name:
        return None
    return label_of(table)


def _without_subject(draft: Draft, rank: Rank, column: ColumnEntry) -> None:
    """`the highest temperature` [by site]: the value itself is the answer."""
    if draft.asked and not draft.groups:
        return
    nth = ORDINALS.get(draft.reading.lower(rank.start - 1), 1) > 1 if rank.start > 0 else False
    several = rank.count is not None and rank.count > 1
    if (nth or several) and not draft.groups and draft.bucket is None:
        draft.asked.append(column)
        return
    agg = superlative_aggregate(rank.word) or ("max" if rank.descending else "min")
    if rank.word in {"top", "bottom"} and rank.count:
        if draft.groups:
            rank.measure, rank.column = _grouped_key(draft, rank, column), None
        return
    measure = agg_measure(draft, agg, column, rank.start)
    draft.measures.append(measure)
    rank.column = None
    if draft.groups or draft.bucket:
        rank.keep, rank.measure = False, measure
    else:
        draft.rank = None


def _grouped_key(draft: Draft, rank: Rank, column: ColumnEntry) -> Measure:
    if "on average" in draft.reading.line:
        for at in range(len(draft.reading)):
            draft.reading.claim(at, at + 1, "measure") if draft.reading.lower(at) == "average" else None
        return agg_measure(draft, "avg", column, rank.start)
    averaged = bool(set(column.stems) & _NOT_ADDED) or is_averaged(column, draft.index)
    if rank.word in {"best", "worst"} and averaged and not is_rank(column):
        return agg_measure(draft, "avg", column, rank.start)
    row = draft.before(rank.start, frozenset("with the having that has had".split()), 3)
    of_one_row = row is not None and row.table is draft.home
    if (
        column.numeric
        and set(column.stems) & _TAKEN_IN
        and not set(column.stems) & _NOT_ADDED
        and not of_one_row
    ):
        return agg_measure(draft, "sum", column, rank.start)
    if column.numeric and rank.word in _ADDED_UP and not set(column.stems) & _NOT_ADDED and not of_one_row:
        return agg_measure(draft, "sum", column, rank.start)
    return agg_measure(draft, "max" if rank.descending else "min", column, rank.start)


def default_aggregate(draft: Draft, column: ColumnEntry, start: int) -> Measure:
    """A number per group, when the question does not say how to combine it."""
    averaged = bool(set(column.stems) & _NOT_ADDED) or column.unit in {"%", "fraction", "°C"}
    if column.stated_aggregate is not None:
        return agg_measure(draft, column.stated_aggregate, column, start)
    draft.doubt(0.9, f"{column.name} was {'averaged' if averaged else 'added up'}")
    return agg_measure(draft, "avg" if averaged else "sum", column, start)
