"""Columns computed over the answer's rows (shares, changes, running totals, z-scores) and its explicit order."""

from __future__ import annotations

from sandtable.planner.candidates.grammar.against import ORDINALS
from sandtable.planner.candidates.grammar.draft import Draft, Measure, Spot
from sandtable.planner.candidates.grammar.measuring import count_measure
from sandtable.planner.candidates.grammar.special import need_bucket
from sandtable.planner.language.reading import FREE
from sandtable.planner.schema.columns import is_measure, label_of

_FAR_ROWS = 3
_FAR_GROUPS = 2


def derive(draft: Draft) -> None:
    if draft.running or draft.change:
        need_bucket(draft)
    if draft.bucket is not None and (draft.change or draft.bucket.change or draft.running):
        _along(draft, running=draft.running)
    if draft.of_total:
        measure = _first_measure(draft)
        draft.derive.append({"share_of_total": measure.name, "as": "share"})
    _nth(draft)
    if draft.unusual:
        _outliers(draft, draft.most_unusual)


def _nth(draft: Draft) -> None:
    """`the second most expensive`: the row whose rank is 2."""
    rank = draft.rank
    at = rank.start - 1 if rank is not None else -1
    if rank is not None and draft.reading.lower(rank.start) == "the":
        at = -1
    number = ORDINALS.get(draft.reading.lower(at)) if at >= 0 else None
    if rank is None or number is None or number < 2 or draft.reading.owner[at] != FREE:
        return
    key = rank.measure.name if rank.measure else draft.ref(rank.column) if rank.column else ""
    if not key:
        return
    draft.reading.claim(at, at + 1, "rank")
    draft.derive.append({"rank": key, "dir": "desc" if rank.descending else "asc", "as": "place"})
    draft.derived_having.append({"column": "place", "op": "=", "value": number})
    rank.keep = False


def _first_measure(draft: Draft) -> Measure:
    if not draft.measures and draft.rank is not None and draft.rank.measure is not None:
        return draft.rank.measure
    if not draft.measures:
        numbers = [c for c in draft.asked if is_measure(c)]
        if numbers and (draft.groups or draft.bucket):
            # default_aggregate in composing gives the name; taken early so that it can be referred to
            from_asked = _aggregate_asked(draft)
            if from_asked is not None:
                return from_asked
        draft.measures.append(count_measure(draft, None, distinct=False))
    return draft.measures[0]


def _aggregate_asked(draft: Draft) -> Measure | None:
    from_numbers = [c for c in draft.asked if is_measure(c)]
    if not from_numbers:
        return None
    column = from_numbers[0]
    draft.asked.remove(column)
    item = {"agg": "sum", "column": draft.ref(column), "as": f"total_{column.name}"[:100]}
    measure = Measure(item, 0, column)
    draft.measures.append(measure)
    return measure


def _along(draft: Draft, *, running: bool) -> None:
    assert draft.bucket is not None
    measure = _first_measure(draft)
    unit = draft.bucket.unit if draft.bucket.unit != "auto" else "month"
    if draft.bucket.unit == "auto":
        draft.bucket = type(draft.bucket)(draft.bucket.start, draft.bucket.end, "month", draft.bucket.asked)
    if running:
        draft.derive.append(
            {"running_total": measure.name, "along": unit, "as": f"running_{measure.name}"[:100]}
        )
    else:
        draft.derive.append({"change": measure.name, "along": unit, "kind": "percent", "as": "change"})


def _outliers(draft: Draft, most: bool) -> None:
    if draft.measures or draft.groups or draft.bucket:
        measure = _first_measure(draft)
        name, far = measure.name, _FAR_GROUPS
    else:
        numbers = [c for c in draft.asked if is_measure(c)]
        if not numbers:
            draft.doubt(0.3, "what is unusual was not said")
            return
        name, far = draft.ref(numbers[0]), _FAR_ROWS
        _show_rows(draft)
    draft.derive.append({"zscore": name, "as": "z_score"})
    draft.order = [("z_score", True)]
    if most or draft.rank is not None:
        draft.limit = (draft.rank.count if draft.rank else None) or 1
        draft.rank = None
        return
    draft.derived_having.append(
        {
            "any": [
                {"column": "z_score", "op": ">", "value": far},
                {"column": "z_score", "op": "<", "value": -far},
            ]
        }
    )


def _show_rows(draft: Draft) -> None:
    """Show the row's name and time before an unusual number."""
    time = draft.home.column(draft.home.time_column) if draft.home.time_column else None
    for column in (time, label_of(draft.home) or next((c for c in draft.home.columns if c.text), None)):
        if column is not None and column not in draft.asked:
            draft.asked.insert(0, column)


def settle_order(draft: Draft, keys: list[Spot]) -> None:
    downward = draft.downward
    if draft.order:
        return
    for spot in keys:
        measured = next((m for m in draft.measures if spot.start - 3 <= m.start <= spot.end), None)
        if measured is not None:
            draft.order.append((measured.name, bool(downward)))
        elif spot.metric is not None:
            draft.order.append((spot.metric.metric.name, bool(downward)))
        elif spot.column is not None:
            name = (
                spot.column.name if spot.column in [*draft.groups, *draft.asked] else draft.ref(spot.column)
            )
            draft.order.append((name, bool(downward)))
    if keys or downward is None:
        return
    if draft.rank is None and draft.measures:
        draft.order.append((draft.measures[0].name, downward))
    elif draft.rank is None and draft.asked:
        draft.order.append((draft.ref(draft.asked[0]), downward))
