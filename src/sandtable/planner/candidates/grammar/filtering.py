"""Values named in a question → conditions; conditions that belong together are joined."""

from __future__ import annotations

from typing import Any

from sandtable.planner.candidates.grammar.draft import Condition, Draft, Spot
from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import truth
from sandtable.planner.schema.entries import ColumnEntry
from sandtable.planner.schema.index import ValueHit

NEGATIONS = frozenset(
    "not except excluding exclude without isn't aren't wasn't weren't don't doesn't didn't never non no besides "
    "ignoring ignore minus excluded hasn't haven't neither nor outside unless omit omitting n't cannot".split()
)
_HINT = frozenset(
    "is are was were of = : the a an in as equals equal to for by with called named ' \" “ ” being contains containing "
    "contain includes including starts starting begins beginning ends ending word".split()
)
_PART_OPS = {
    "contains": "contains", "containing": "contains", "contain": "contains", "includes": "contains",
    "including": "contains", "starts": "startswith", "starting": "startswith", "begins": "startswith",
    "beginning": "startswith", "ends": "endswith", "ending": "endswith",
}  # fmt: skip
_RIGHT_HINT = frozenset("' \" “ ” - as the is was".split())
_PASSED = frozenset(
    "the a an any in from of by for with to either being those that are is was were been at on".split()
)


def bind_values(draft: Draft) -> None:
    """Every value that was named becomes a condition on the column that holds it."""
    last: Condition | None = None
    for spot in draft.spots:
        if spot.value is None or not spot.open:
            continue
        column, hits = _holder(draft, spot, last)
        if column is None:
            continue
        spot.role = "filter"
        negated = is_negated(draft, spot.start, last)
        condition = _value_condition(draft, spot, column, hits, negated)
        draft.conditions.append(condition)
        draft.reading.claim(spot.start, spot.end, "condition")
        last = condition


def _holder(draft: Draft, spot: Spot, last: Condition | None) -> tuple[ColumnEntry | None, list[ValueHit]]:
    """The column a value is about: the one named beside it, the one of the value before it, the nearest."""
    assert spot.value is not None
    hits = draft.hits(spot.value)
    beside = _beside(draft, spot, hits)
    if beside is not None:
        return beside, [h for h in hits if (h.table, h.column) == (beside.table, beside.name)]
    if not hits:
        return None, []
    if last is not None and last.column is not None:
        same = [h for h in hits if (h.table, h.column) == (last.column.table, last.column.name)]
        known = [c for h in hits if (c := draft.index.column(h.table, h.column)) is not None]
        if same and _by_preposition(draft, spot, known) is None:
            return last.column, same
    entries = {(h.table, h.column): draft.index.column(h.table, h.column) for h in hits}
    own = [c for c in entries.values() if c is not None and c.table == hits[0].table]
    towards = _by_preposition(draft, spot, own)
    column = towards or _likeliest(own)
    if len(own) > 1 and towards is None:
        draft.doubt(0.8, f'"{spot.value.text}" occurs in {" and ".join(c.name for c in own[:3])}')
    chosen = [h for h in hits if (h.table, h.column) == (column.table, column.name)]
    draft.used.append(f'"{spot.value.text}" read as {column.name} = {chosen[0].value}')
    return column, chosen


_FROM = frozenset(stem(w) for w in "from origin source departure start home sender".split())
_TO = frozenset(stem(w) for w in "to destination arrival target end away receiver recipient".split())


def _by_preposition(draft: Draft, spot: Spot, columns: list[ColumnEntry]) -> ColumnEntry | None:
    """`from LHR to JFK`: the one is an origin, the other a destination."""
    before = draft.reading.lower(spot.start - 1)
    wanted = (
        _FROM
        if before in {"from", "leaving", "departing"}
        else _TO
        if before in {"to", "into", "towards"}
        else None
    )
    fitting = [c for c in columns if wanted and set(c.stems) & wanted]
    return fitting[0] if len(columns) > 1 and len(fitting) == 1 else None


def _likeliest(columns: list[ColumnEntry]) -> ColumnEntry:
    return min(columns, key=lambda c: (c.position, c.name))


def _beside(draft: Draft, spot: Spot, hits: list[ValueHit]) -> ColumnEntry | None:
    assert spot.value is not None
    left = draft.before(spot.start, _HINT, 4)
    right = draft.after(spot.end, _RIGHT_HINT, 2)
    holders = {(h.table, h.column) for h in hits}
    for neighbour in (left, right):
        if neighbour is None or not neighbour.open or neighbour.value is not None:
            continue
        for column in neighbour.options:
            if (column.table, column.name) in holders:
                if not _asked_for(draft, neighbour):
                    neighbour.role = "hint"
                return column
    if hits or left is None or not left.open or left.column is None:
        return None
    # Quoted, and in no known cell: only a column with unknown values can hold it.
    if left.column.text and spot.value.quoted:
        left.role = "hint"
        return left.column
    return None


def _asked_for(draft: Draft, spot: Spot) -> bool:
    """`which category is Books`: the column is asked for, not only named beside its value."""
    return draft.reading.lower(spot.start - 1) in {"which", "what", "by", "per", "each"}


def is_negated(draft: Draft, at: int, last: Condition | None) -> bool:
    reading = draft.reading
    back = at - 1
    for _ in range(4):
        word = reading.lower(back)
        if word in NEGATIONS or (word == "than" and reading.lower(back - 1) in {"other", "rather"}):
            reading.claim(back, back + 1, "condition")
            return not (word == "no" and reading.lower(back - 1) in {"yes", "or"})
        if word == "from" and reading.lower(back - 1) in {"apart", "aside", "different"}:
            return True
        if word == "for" and reading.lower(back - 1) == "except":
            return True
        if word in {"-"} and reading.lower(back - 1) == "non":
            return True
        if word not in _PASSED and not _is_hint(draft, back):
            break
        back -= 1
    if last is None or not last.negated or last.end > at:
        return False
    between = {reading.lower(i) for i in range(last.end, at)}
    return between <= {"and", "or", ",", "nor", "the", "in"}


def _is_hint(draft: Draft, at: int) -> bool:
    return any(s.start <= at < s.end and s.role == "hint" for s in draft.spots)


def _value_condition(
    draft: Draft, spot: Spot, column: ColumnEntry, hits: list[ValueHit], negated: bool
) -> Condition:
    assert spot.value is not None
    ref = draft.ref(column)
    different = list(dict.fromkeys(h.value for h in hits))
    value: Any = different[0] if different else spot.value.text
    if spot.value.quality < 1 and (spot.value.partial or len(different) > 1):
        draft.doubt(0.85, f'"{spot.value.text}" is only near to what the data holds')
    words = [draft.reading.lower(i) for i in range(max(0, spot.start - 4), spot.start)]
    part = next((_PART_OPS[w] for w in reversed(words) if w in _PART_OPS), None)
    if (spot.value.partial and len(different) > 1) or not hits or part:
        leaf = {"column": ref, "op": part or "contains", "value": spot.value.text}
        return Condition(spot.start, spot.end, {"not": leaf} if negated else leaf, column, negated)
    if len(different) > 1:
        leaf = {"column": ref, "op": "not_in" if negated else "in", "value": different[:100]}
        return Condition(spot.start, spot.end, leaf, column, negated)
    leaf = {"column": ref, "op": "!=" if negated else "=", "value": value}
    return Condition(spot.start, spot.end, leaf, column, negated, value)


def join_conditions(draft: Draft) -> None:
    """Several values of one column become a list; `or` between two columns becomes `any`."""
    _opposed_flags(draft)
    joined: list[Condition] = []
    for condition in sorted(draft.conditions, key=lambda c: c.start):
        other = next(
            (
                c
                for c in joined
                if condition.value is not None
                and c.value is not None
                and c.column is condition.column
                and c.negated == condition.negated
            ),
            None,
        )
        if other is not None and condition.column is not None:
            _add_value(draft, other, condition)
            continue
        if joined and _or_between(draft, joined[-1], condition):
            _either(joined[-1], condition)
            continue
        joined.append(condition)
    draft.conditions = joined


def _opposed_flags(draft: Draft) -> None:
    """`returned vs not returned`: both sides are asked for, so they are the groups."""
    flags = [c for c in draft.conditions if c.column is not None and truth(c.column) is not None]
    for flag in flags:
        others = [c for c in flags if c.column is flag.column and c.negated != flag.negated]
        if others and flag in draft.conditions and flag.column is not None:
            draft.conditions = [c for c in draft.conditions if c is not flag and c not in others]
            draft.comparing = True
            if flag.column not in draft.groups:
                draft.groups.append(flag.column)


def _add_value(draft: Draft, into: Condition, condition: Condition) -> None:
    assert into.column is not None
    had: Any = into.json["value"]
    values: list[Any] = [*had] if into.json["op"] in {"in", "not_in"} else [had]
    if condition.value not in values:
        values.append(condition.value)
    if len(values) > 1:
        into.json = {
            "column": draft.ref(into.column),
            "op": "not_in" if into.negated else "in",
            "value": values,
        }
    into.end = condition.end


def _or_between(draft: Draft, a: Condition, b: Condition) -> bool:
    words = [draft.reading.lower(i) for i in range(a.end, b.start)]
    return "or" in words and len(words) <= 5


def _either(into: Condition, condition: Condition) -> None:
    parts = into.json["any"] if set(into.json) == {"any"} else [into.json]
    into.json = {"any": [*parts, condition.json]}
    into.end, into.value, into.column = condition.end, None, None
