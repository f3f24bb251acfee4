"""Yes/no questions → the numbers that decide them.

Invariant: rows that fulfil the claim are counted, never filtered beforehand: filtered rows would confirm any claim,
whatever the data says.
"""

from __future__ import annotations

import re

from sandtable.planner.candidates.grammar.draft import Condition, Draft, Measure
from sandtable.planner.candidates.grammar.measuring import (
    agg_measure,
    aggregate_before,
    count_measure,
    share_measure,
)
from sandtable.planner.language.numbers import find_comparisons
from sandtable.planner.language.vocabulary import AGGREGATES
from sandtable.planner.schema.columns import is_unique, key_of, label_of
from sandtable.planner.schema.entries import ColumnEntry, Json

_PART = re.compile(
    r"\w+ (?:(?:all|every|each|everyone|everybody|everything|most)(?= )"
    r"|(?:the |a )?majority(?= )|(?:more than|over) (?:a )?half(?= ))"
)
_MORE = re.compile(r"(?:more|fewer|less)(?= )")
_THAN = re.compile(r"than(?= )")
_AS_MANY = re.compile(r"as (?:many|much|high|low)(?= )")
_LIMITS = frozenset({">", ">=", "<", "<="})
_OPENING = frozenset("is are was were there do does did have has".split())
_JOINTS = frozenset({"and", ",", "but", "also", "is", "are", "a", "an", "the", "both", "not"})


def quantify(draft: Draft) -> None:
    """`do most …` ranks nothing."""
    rank = draft.rank
    if draft.yes_no and rank is not None and rank.word == "most" and (rank.start, rank.end) == (1, 2):
        draft.rank = None


def decide_early(draft: Draft) -> None:
    """Runs before `spread_rank`: claims about the first row, and about a single value."""
    if not draft.yes_no:
        return
    if draft.reading.match_at(_PART, 0) is not None and len(draft.groups) == 1 and not draft.measures:
        # `is every employee …` names the rows; it asks for no groups.
        draft.groups = []
    _first_row(draft)
    _value_itself(draft)
    _value_further_on(draft)


def decide(draft: Draft) -> None:
    """Shares for `all` and `most`, two counts for `more A than B`, a count for the rest."""
    if not draft.yes_no:
        return
    _two_counts(draft)
    _share(draft)
    if not (draft.measures or draft.asked or draft.groups or draft.rank or draft.having):
        draft.measures.append(count_measure(draft, None, distinct=False))
        _limit_of_count(draft)
    if draft.reading.find(_AS_MANY) and not draft.groups:
        draft.doubt(0.3, "two sides were compared, but not which")


def _first_row(draft: Draft) -> None:
    """`is the oldest … a …?`: the claim is tested on the row that comes first."""
    rank = draft.rank
    if rank is None or not rank.keep or not draft.conditions:
        return
    before = [c for c in draft.conditions if c.start < rank.start]
    named = [c for c in before if c.value is not None and rank.start - c.end <= 1]
    claim = named or _claimed(draft, [c for c in draft.conditions if c.start >= rank.end])
    names = _row_names(draft)
    alone = rank.column is not None and rank.count in (None, 1) and not draft.groups and not draft.measures
    known = rank.column not in [c.column for c in claim] and not (named and len(before) > 1)
    if rank.column is None or not (claim and names and alone and known):
        # With the claim as a filter, the first row would always confirm it.
        draft.doubt(0.3, "it is unclear whether the first part is a condition")
        return
    draft.conditions = [c for c in draft.conditions if c not in claim]
    rank.measure = agg_measure(draft, "max" if rank.descending else "min", rank.column, rank.start)
    rank.column = None
    fits = Measure({"agg": "count", "where": [c.json for c in claim], "as": "fits"}, claim[0].start)
    draft.measures = [rank.measure, fits]
    draft.asked, draft.subject = names, None


def _row_names(draft: Draft) -> list[ColumnEntry]:
    """The columns that identify a row."""
    label = label_of(draft.home)
    if label is not None and is_unique(label, draft.home):
        return [label]
    key = key_of(draft.home)
    if key is None:
        return []
    return [key] if label is None else [key, label]


def _value_itself(draft: Draft) -> None:
    """`is the average age above 30?`: the average is the answer, not a condition on it."""
    grouped = draft.groups or draft.bucket or draft.asked or draft.rank or draft.measures
    if grouped or len(draft.having) != 1:
        return
    measure = draft.having[0].measure
    if draft.subject is not None and draft.subject.start < measure.start:
        return
    draft.having, draft.subject = [], None
    draft.measures.append(measure)
    _claim_aggregate(draft, measure.start)


def _value_further_on(draft: Draft) -> None:
    """`is the average age of smokers above 50?`: the number is about the average, and about no other column."""
    limits = [c for c in draft.conditions if c.json.get("op") in _LIMITS and "value" in c.json]
    if not limits or draft.groups or draft.rank or draft.having or len(draft.measures) > 1:
        return
    limit = max(limits, key=lambda c: c.start)
    spot = next((s for s in draft.spots if s.column is limit.column and s.end <= limit.start + 1), None)
    agg = aggregate_before(draft, spot) if spot is not None else ""
    if draft.measures:
        measure = draft.measures[0]
        other = spot is not None and limit.column is not measure.column
        if other or measure.column is None or measure.start > limit.start:
            return
    elif spot is not None and agg and limit.column is not None:
        draft.measures.append(agg_measure(draft, agg, limit.column, spot.start))
        _claim_aggregate(draft, spot.start)
    else:
        return
    draft.conditions.remove(limit)
    draft.asked, draft.subject = [], None


def _claim_aggregate(draft: Draft, start: int) -> None:
    for at in range(max(0, start - 4), start):
        if draft.reading.lower(at) in AGGREGATES:
            draft.reading.claim(at, at + 1, "measure")


def _limit_of_count(draft: Draft) -> None:
    """`are there more than 30 …?`: the count is the answer; it is compared where the answer is worded."""
    for comparison in find_comparisons(draft.reading):
        opening = {draft.reading.lower(at) for at in range(comparison.start)}
        if opening <= _OPENING and not comparison.plain and comparison.op in _LIMITS:
            draft.reading.claim(comparison.start, comparison.end, "measure")


def _two_counts(draft: Draft) -> None:
    """`do more … have A than B?` of two columns: each is counted by itself."""
    more = [s for s, _, _ in draft.reading.find(_MORE)]
    than = [s for s, _, _ in draft.reading.find(_THAN)]
    if not more or not than or draft.measures or draft.groups or draft.rank or len(draft.conditions) < 2:
        return
    before = [c for c in draft.conditions if more[0] < c.start < than[-1]]
    after = [c for c in draft.conditions if c.start > than[-1]]
    if len(before) != 1 or len(after) != 1 or before[0].column is after[0].column:
        return
    draft.conditions = [c for c in draft.conditions if c not in (before[0], after[0])]
    draft.asked, draft.subject, draft.comparing = [], None, True
    for claim in (before[0], after[0]):
        name = f"with_{claim.column.name if claim.column else len(draft.measures)}"[:100]
        draft.measures.append(Measure({"agg": "count", "where": [claim.json], "as": name}, claim.start))
    draft.reading.claim(more[0], more[0] + 1, "measure")
    draft.reading.claim(than[-1], than[-1] + 1, "measure")


def _share(draft: Draft) -> None:
    """`do all …`: yes when the share is 1; `do most …`: when it is more than a half."""
    found = draft.reading.match_at(_PART, 0)
    if found is None or draft.measures or draft.rank or draft.groups:
        return
    draft.reading.claim(1, found[0], "measure")
    _in_stock(draft)
    if not draft.conditions:
        draft.doubt(0.3, "what is said of all of them was not understood")
        return
    draft.numerator = _claimed(draft, draft.conditions)
    draft.conditions = [c for c in draft.conditions if c not in draft.numerator]
    draft.measures.append(share_measure(draft.numerator, 0))
    draft.asked, draft.subject = [], None


def _in_stock(draft: Draft) -> None:
    """`are all … in stock?`: there is more than nothing of it."""
    spot = next((s for s in draft.spots if draft.reading.lower(s.start) == "in" and s.column), None)
    if spot is not None and spot.column is not None and spot.column.numeric and draft.asked == [spot.column]:
        leaf: Json = {"column": draft.ref(spot.column), "op": ">", "value": 0}
        draft.conditions.append(Condition(spot.start, spot.end, leaf, spot.column))


def _claimed(draft: Draft, conditions: list[Condition]) -> list[Condition]:
    """The claim comes last, and its subject before it; `A and B` are one claim."""
    ordered = sorted(conditions, key=lambda c: c.start)
    claimed = ordered[-1:]
    del ordered[-1:]
    while ordered:
        between = [draft.reading.lower(at) for at in range(ordered[-1].end, claimed[0].start)]
        if "and" not in between or not set(between) <= _JOINTS:
            break
        claimed.insert(0, ordered.pop())
    return claimed
