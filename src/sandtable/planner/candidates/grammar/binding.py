"""Comparisons with numbers → conditions: which column, count or computed value each number is about."""

from __future__ import annotations

from dataclasses import replace

from sandtable.planner.candidates.grammar.against import bind_ordinals, compare_columns, more_of_one
from sandtable.planner.candidates.grammar.draft import Condition, Draft, Having, Measure, Spot
from sandtable.planner.candidates.grammar.implied import bind_signs, by_age
from sandtable.planner.candidates.grammar.measuring import (
    agg_measure,
    aggregate_before,
    count_measure,
    metric_measure,
)
from sandtable.planner.language.numbers import Comparison, find_comparisons, find_operators
from sandtable.planner.language.vocabulary import GENERIC, IMPLIED, OLDEST_BY_DATE
from sandtable.planner.language.words import Number, number_key, stem
from sandtable.planner.schema.columns import is_identifier, is_rank, is_unique, is_year, speaking_of, truth
from sandtable.planner.schema.entries import ColumnEntry

_LEFT = frozenset(
    "is are was were be been being has have had having a an the of at that which who to with , 's value values by for "
    "number : greater scored rated costs cost total it its level levels rate set equal =".split()
)
_NEAR = frozenset("is are was were of = : # number no equal to the a at has have had be".split())
_RIGHT = frozenset("of the in a different distinct unique total individual".split())


def bind_numbers(draft: Draft) -> None:
    compare_columns(draft)
    more_of_one(draft)
    bind_ordinals(draft)
    bind_signs(draft)
    for comparison in find_comparisons(draft.reading):
        if comparison.plain:
            _bind_plain(draft, comparison)
        else:
            _bind_worded(draft, comparison)


def _bind_worded(draft: Draft, comparison: Comparison) -> None:
    left = draft.before(comparison.start, _LEFT, 4)
    right = draft.after(comparison.end, _RIGHT, 2)
    if (left is None or not left.open or not _comparable(left)) and _bind_by_unit(draft, comparison):
        return
    # "more than 100 orders" counts; "price over 100" compares; both sides may name something
    if left is not None and left.open and _comparable(left) and not _counted(right, comparison, draft):
        _bind(draft, comparison, left)
    elif (
        right is not None
        and right.open
        and not _is_flag(right)
        and (right.columns or right.metric or right.table)
    ):
        _bind(draft, comparison, right)
    elif left is not None and left.role == "filter" and left.column is not None:
        _condition(draft, comparison, left.column)
    else:
        _bind_implied(draft, comparison)


def _bind_by_unit(draft: Draft, comparison: Comparison) -> bool:
    """`more than 500 units in stock`, `more than 3 lines`: the number has the unit of the column it is about."""
    at = comparison.end
    said = stem(draft.reading.lower(at)) if at < len(draft.reading) else ""
    measured = [c for c in draft.home.columns if c.numeric and c.unit and stem(c.unit.lower()) == said]
    named = draft.after(at + 1, _RIGHT, 2)
    column = named.number if named is not None and named.open else None
    if column not in measured:
        named, column = None, measured[0] if len(measured) == 1 else None
    own = [spot for spot in draft.spots if spot.start == at and spot.end == at + 1]
    if column is None or not own or any(spot.table is draft.home for spot in own):
        return False
    for spot in (*own, *([named] if named else [])):
        spot.role, spot.chosen = "filter", column
    _condition(draft, comparison, column)
    return True


def _is_flag(spot: Spot) -> bool:
    """`passengers under 18 survived`: a yes or no is not compared with a number."""
    return spot.column is not None and truth(spot.column) is not None


def _comparable(spot: Spot) -> bool:
    return spot.metric is not None or spot.number is not None


def _counted(right: Spot | None, comparison: Comparison, draft: Draft) -> bool:
    """Whether the number counts what follows it directly."""
    return bool(
        right is not None
        and right.open
        and right.start == comparison.end
        and (
            right.table is not None
            or (right.column is not None and _names_things(draft, right, right.column))
        )
        and comparison.op != "between"
        and draft.reading.lower(right.start - 1) not in {","}
    )


def _names_things(draft: Draft, spot: Spot, column: ColumnEntry) -> bool:
    """`more than 3 products`: a noun of the column's name, not a verb that only sounds like it."""
    word = draft.reading.lower(spot.start)
    return not column.numeric and any(word.startswith(name[:4]) for name in column.words)


def _bind(draft: Draft, comparison: Comparison, spot: Spot) -> None:
    if spot.metric is not None:
        spot.role = "having"
        _having(draft, comparison, metric_measure(spot.metric, spot.start))
        return
    if spot.table is not None:
        spot.role = "having"
        _having(draft, comparison, count_measure(draft, spot, distinct=False))
        return
    column = spot.number
    agg = aggregate_before(draft, spot)
    if column is None or (is_identifier(column) and not comparison.plain and spot.start >= comparison.end):
        spot.role = "having"
        _having(draft, comparison, count_measure(draft, spot, distinct=True))
        return
    spot.role, spot.chosen = "filter", column
    if agg:
        _having(draft, comparison, agg_measure(draft, agg, column, spot.start))
        draft.reading.claim(spot.start - 3, spot.start, "condition")
    else:
        _condition(draft, comparison, column)


def _having(draft: Draft, comparison: Comparison, measure: Measure) -> None:
    percent = measure.metric is not None and measure.metric.metric.format == "percent"
    values = [_scaled(n, fraction=percent) for n in comparison.numbers]
    draft.having.append(Having(measure, comparison.op, values if comparison.op == "between" else values[0]))
    draft.reading.claim(comparison.start, comparison.end, "condition")


def _scaled(number: Number, *, fraction: bool) -> int | float:
    """25 % of something that is kept as a fraction is 0.25."""
    if fraction and (number.percent or number.value > 1):
        return round(number.value / 100, 10)
    return number.exact


def _is_fraction(column: ColumnEntry) -> bool:
    if column.unit == "fraction":
        return True
    high = column.profile.maximum if column.profile else None
    try:
        return column.unit == "" and not is_year(column) and high is not None and 0 < float(high) <= 1
    except ValueError:
        return False


_SECONDS = {"second": 1, "sec": 1, "minut": 60, "min": 60, "hour": 3600, "day": 86400, "week": 604800}


def _in_the_columns_unit(draft: Draft, comparison: Comparison, column: ColumnEntry) -> Comparison:
    """`2 hours` of a column in minutes is 120."""
    said = _SECONDS.get(stem(draft.reading.lower(comparison.end)))
    words = [*column.stems, stem(column.unit.lower())]
    kept = next((_SECONDS[w] for w in words if w in _SECONDS), None)
    if said is None or kept is None or said == kept:
        return comparison
    numbers = tuple(replace(n, value=n.value * said / kept) for n in comparison.numbers)
    return replace(comparison, numbers=numbers)


def _condition(draft: Draft, comparison: Comparison, column: ColumnEntry) -> None:
    if column.temporal:
        _temporal(draft, comparison, column)
        return
    comparison = _in_the_columns_unit(draft, comparison, column)
    fraction = _is_fraction(column)
    values = [_in_units(column, _scaled(n, fraction=fraction and n.percent)) for n in comparison.numbers]
    op = comparison.op
    if op == "between":
        leaf = {"column": draft.ref(column), "op": op, "value": sorted(values)}
    else:
        leaf = {"column": draft.ref(column), "op": op, "value": values[0]}
    value = values[0] if op == "=" else None
    draft.conditions.append(Condition(comparison.start, comparison.end, leaf, column, value=value))
    draft.reading.claim(comparison.start, comparison.end, "condition")


def _in_units(column: ColumnEntry, value: int | float) -> int | float:
    """`8 million` of a column that is kept in millions is 8."""
    high = column.profile.maximum if column.profile else None
    if value < 1_000_000 or not isinstance(high, int | float) or high * 1_000 > value:
        return value
    scaled = value / 1_000_000
    return int(scaled) if scaled.is_integer() else scaled


def _temporal(draft: Draft, comparison: Comparison, column: ColumnEntry) -> None:
    """A number beside a date can only be a year."""
    year = int(comparison.numbers[0].value)
    if not 1000 <= year <= 2999 or comparison.op == "between":
        return
    bounds = {
        ">": (">=", f"{year + 1}-01-01"), ">=": (">=", f"{year}-01-01"),
        "<": ("<", f"{year}-01-01"), "<=": ("<=", f"{year}-12-31"),
    }  # fmt: skip
    op, value = bounds.get(comparison.op, ("", ""))
    leaf = {"column": draft.ref(column), "op": op, "value": value}
    if not op:
        leaf = {"column": draft.ref(column), "op": "between", "value": [f"{year}-01-01", f"{year}-12-31"]}
    draft.conditions.append(Condition(comparison.start, comparison.end, leaf, column))
    draft.reading.claim(comparison.start, comparison.end, "condition")


def _bind_implied(draft: Draft, comparison: Comparison) -> None:
    """No column beside the number: its unit, a comparative or the only number mentioned may determine it."""
    tries = (_by_adjective, _by_unit, by_age, _by_general_word, _only_number, _by_size)
    column = next((c for tried in tries if (c := tried(draft, comparison)) is not None), None)
    if column is None:
        return
    if not (column.temporal and comparison.adjective in OLDEST_BY_DATE):
        _condition(draft, comparison, column)


def _by_adjective(draft: Draft, comparison: Comparison) -> ColumnEntry | None:
    words = [
        comparison.adjective,
        draft.reading.lower(comparison.start - 1),
        draft.reading.lower(comparison.end),
    ]
    for word in words:
        if word in IMPLIED:
            found = speaking_of(IMPLIED[word][0], draft.home)
            if found and found.numeric:
                draft.reading.claim(comparison.start - 1, comparison.start, "condition")
                return found
    if draft.reading.lower(comparison.end) in {"years", "year"} and draft.reading.lower(
        comparison.end + 1
    ) in {"old", "of"}:
        return speaking_of("age", draft.home)
    return None


def _by_unit(draft: Draft, comparison: Comparison) -> ColumnEntry | None:
    number = comparison.numbers[-1]
    after = draft.reading.lower(comparison.end)
    numeric = [
        c
        for t in draft.index.tables
        if t.name in draft.reach
        for c in t.columns
        if c.numeric and not is_identifier(c)
    ]
    for column in numeric:
        unit = column.unit.lower()
        if after and unit and (stem(after) == stem(unit) or after == unit):
            draft.reading.claim(comparison.end, comparison.end + 1, "condition")
            return column
    if number.currency:
        return speaking_of("total amount price cost revenue salary value fee", draft.home)
    return None


def _by_general_word(draft: Draft, comparison: Comparison) -> ColumnEntry | None:
    """`a total of at least 500`: a general word that only one number column has."""
    for at in range(comparison.start - 1, max(-1, comparison.start - 4), -1):
        word = draft.reading.words[at]
        bearing = [
            c for c in draft.home.columns if c.numeric and word.stem in c.stems and not is_identifier(c)
        ]
        if len(bearing) == 1 and word.stem in GENERIC:
            draft.reading.claim(at, comparison.start, "condition")
            return bearing[0]
    return None


def _by_size(draft: Draft, comparison: Comparison) -> ColumnEntry | None:
    """Only one number column has values of that size."""
    wanted = [n.value for n in comparison.numbers]
    fitting = [c for c in draft.home.columns if c.numeric and not is_identifier(c) and _spans(c, wanted)]
    if len(fitting) != 1 or max(wanted) < 100:
        return None
    draft.doubt(0.75, f"{wanted[0]:g} taken for {fitting[0].name}")
    return fitting[0]


def _spans(column: ColumnEntry, wanted: list[float]) -> bool:
    profile = column.profile
    if profile is None or profile.minimum is None or profile.maximum is None:
        return False
    try:
        low, high = float(profile.minimum), float(profile.maximum)
    except ValueError:
        return False
    return all(low <= value <= high for value in wanted)


def _only_number(draft: Draft, comparison: Comparison) -> ColumnEntry | None:
    """The nearest number column before the comparison, when no other condition has taken it."""
    before = [
        s for s in draft.spots if s.open and s.end <= comparison.start and s.number and s.metric is None
    ]
    near = [s for s in before if comparison.start - s.end <= 4]
    if not near:
        return None
    column = near[-1].number
    if column is None or is_identifier(column):
        return None
    near[-1].role = "filter"
    return column


def _bind_plain(draft: Draft, comparison: Comparison) -> None:
    """`rating of 4`, `4 bedrooms`, `season 3`: a number beside its column."""
    number = comparison.numbers[0]
    left = _more_exact(draft, draft.before(comparison.start, _NEAR, 2))
    right = draft.after(comparison.end, frozenset({"-"}), 1)
    for spot in (left, right):
        if spot is None or not spot.open or spot.value is not None or spot.metric is not None:
            continue
        column = spot.number
        if column is None and spot.column is not None and _held(draft, number, spot.column):
            spot.role = "filter"
            _text_number(draft, comparison, spot.column)
            return
        if column is None or (spot is right and is_unique(column, draft.home)):
            continue
        if spot is left and aggregate_before(draft, spot):
            continue
        spot.role, spot.chosen = "filter", column
        _condition(draft, _with_operator_before(draft, comparison, spot), column)
        return
    _bind_by_value(draft, comparison)


def _more_exact(draft: Draft, left: Spot | None) -> Spot | None:
    """`grid position 1` is about the grid: the general word behind a column's own name adds nothing."""
    earlier = draft.ending(left.start) if left is not None else None
    if left is None or earlier is None or not (left.open and earlier.open):
        return left
    if left.number is None or not is_rank(left.number) or earlier.number is None:
        return left
    left.role = "hint"
    return earlier


def _with_operator_before(draft: Draft, comparison: Comparison, spot: Spot) -> Comparison:
    """`above age 20`: the comparing word stands before the column."""
    for operator in find_operators(draft.reading):
        if operator.end == spot.start and spot.end <= comparison.start:
            draft.reading.claim(operator.start, operator.end, "condition")
            return replace(comparison, op=operator.op)
    return comparison


def _held(draft: Draft, number: Number, column: ColumnEntry) -> bool:
    hits = draft.index.find_value(str(number.exact))
    return any(h.table == column.table and h.column == column.name for h in hits)


def _text_number(draft: Draft, comparison: Comparison, column: ColumnEntry) -> None:
    written = str(comparison.numbers[0].exact)
    hits = [h for h in draft.index.find_value(written) if (h.table, h.column) == (column.table, column.name)]
    value = hits[0].value
    leaf = {"column": draft.ref(column), "op": "=", "value": value}
    draft.conditions.append(Condition(comparison.start, comparison.end, leaf, column, value=value))
    draft.reading.claim(comparison.start, comparison.end, "condition")


def _bind_by_value(draft: Draft, comparison: Comparison) -> None:
    """A number on its own is a value when just one column can hold it: a year, a code."""
    number = comparison.numbers[0]
    written = draft.reading.written(comparison.start, comparison.end)
    hits = [h for h in draft.index.values.get(number_key(number.value), ()) if h.table in draft.reach]
    hits += [
        h for h in draft.index.find_value(written) if isinstance(h.value, str) and h.table in draft.reach
    ]
    columns = {(h.table, h.column): h for h in hits}
    if not columns:
        return
    entries = [(draft.index.column(*key), hit) for key, hit in columns.items()]
    likely = [(c, h) for c, h in entries if c is not None and (is_year(c) or is_identifier(c) or c.text)]
    pool = likely or [(c, h) for c, h in entries if c is not None]
    column, hit = min(pool, key=lambda pair: (not is_year(pair[0]), pair[0].position))
    if len(pool) > 1:
        draft.doubt(0.75, f"{written} occurs in several columns")
    elif not likely:
        draft.doubt(0.7, f"{written} stands alone")
    value = number.exact if column.numeric else hit.value
    leaf = {"column": draft.ref(column), "op": "=", "value": value}
    draft.conditions.append(Condition(comparison.start, comparison.end, leaf, column, value=value))
    draft.reading.claim(comparison.start, comparison.end, "condition")
