"""Yes/no columns said as adjectives, and cells that are or are not empty → conditions."""

from __future__ import annotations

from sandtable.planner.candidates.grammar.draft import Condition, Draft, Spot
from sandtable.planner.candidates.grammar.filtering import NEGATIONS, is_negated
from sandtable.planner.language.vocabulary import RELATING
from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import has_nulls, is_measure, truth
from sandtable.planner.schema.entries import ColumnEntry

_EMPTY = frozenset("missing empty blank null unknown absent unspecified unassigned".split())
_NONE = frozenset({"none", "n/a", "na", "nil", "null", "no", "-", "not applicable", "nothing"})
"""Cell texts that mean an absent value."""
_ENDED = frozenset(
    stem(w)
    for w in "discontinued closed cancelled canceled retired terminated ended inactive archived obsolete".split()
)
_GOING = frozenset(stem(w) for w in "active available current".split())
_LACKING = frozenset("without missing lacking lack lacks no".split())
_HAVING = frozenset("with having has have had used using use got left received entered".split())


def bind_flags(draft: Draft) -> None:
    """Yes/no columns said as adjectives, and cells that are or are not empty."""
    for spot in draft.spots:
        if not spot.open or spot.column is None:
            continue
        if _empty(draft, spot) or _grouping(draft, spot):
            continue
        flagged = next((c for c in spot.options if truth(c) is not None), None)
        if flagged is not None and flagged is spot.column:
            _flag(draft, spot, flagged)
    _still(draft)


def _still(draft: Draft) -> None:
    """`that are still sold`: not ended, by the column that says what has ended."""
    reading = draft.reading
    for at in range(len(reading) - 1):
        if reading.lower(at) != "still" or not reading.free(at, at + 2):
            continue
        if reading.words[at + 1].stem not in RELATING:
            continue
        for column in draft.home.columns:
            pair = truth(column)
            ended, going = set(column.stems) & _ENDED, set(column.stems) & _GOING
            if pair is None or not (ended or going) or pair[1] is None:
                continue
            leaf = {"column": draft.ref(column), "op": "=", "value": pair[1] if ended else pair[0]}
            draft.conditions.append(Condition(at, at + 2, leaf, column))
            draft.used.append(f'"{reading.written(at, at + 2)}" read as {column.name} = {leaf["value"]}')
            reading.claim(at, at + 2, "condition")
            break
        else:
            draft.doubt(0.4, f"no column says what is still {reading.lower(at + 1)}")


def _grouping(draft: Draft, spot: Spot) -> bool:
    """`by whether it was returned`, `for each status`: asked for as a column."""
    if draft.reading.lower(spot.end) in {"rate", "rates"}:
        return False
    at = spot.start - 1
    while at >= 0 and draft.reading.lower(at) in {
        "the",
        "a",
        "it",
        "was",
        "is",
        "were",
        "are",
        "whether",
        "if",
    }:
        at -= 1
    return draft.reading.lower(at) in {
        "by",
        "per",
        "each",
        "every",
        "which",
        "what",
        "distribution",
        "different",
        "and",
    } and (draft.reading.lower(at) != "and" or draft.reading.lower(at - 1) == "by")


def _flag(draft: Draft, spot: Spot, column: ColumnEntry) -> None:
    if column.numeric and _aggregated(draft, spot):
        return
    pair = truth(column)
    assert pair is not None
    negated = is_negated(draft, spot.start, None) or _explicit_no(draft, spot)
    value = pair[1] if negated else pair[0]
    spot.role, spot.chosen = "filter", column
    if value is None:
        leaf = {"not": {"column": draft.ref(column), "op": "=", "value": pair[0]}}
        draft.conditions.append(Condition(spot.start, spot.end, leaf, column, negated))
    else:
        leaf = {"column": draft.ref(column), "op": "=", "value": value}
        draft.conditions.append(Condition(spot.start, spot.end, leaf, column, negated))
    draft.used.append(f'"{draft.reading.written(spot.start, spot.end)}" read as {column.name} = {value}')


def _explicit_no(draft: Draft, spot: Spot) -> bool:
    if draft.reading.lower(spot.start - 1) == "of" and draft.reading.lower(spot.start - 2) == "out":
        draft.reading.claim(spot.start - 2, spot.start, "condition")
        return True
    after = [draft.reading.lower(spot.end + i) for i in range(2)]
    for at, word in enumerate(after):
        if word in {"no", "false", "0"}:
            draft.reading.claim(spot.end, spot.end + at + 1, "condition")
            return True
        if word in {"yes", "true", "1"}:
            draft.reading.claim(spot.end, spot.end + at + 1, "condition")
            return False
        if word not in {"is", "=", "are", "was"}:
            break
    return False


def _aggregated(draft: Draft, spot: Spot) -> bool:
    words = {draft.reading.lower(spot.start - 1), draft.reading.lower(spot.start - 2)}
    return bool(words & {"average", "mean", "total", "sum", "avg"})


def _empty(draft: Draft, spot: Spot) -> bool:
    column = spot.column
    assert column is not None
    missing = _said_missing(draft, spot, column)
    if missing is None:
        return False
    ref = draft.ref(column)
    spelled = next((v for v in _texts(column) if v.strip().lower() in _NONE), None) if missing else None
    if spelled is not None:
        leaf = {"column": ref, "op": "=", "value": spelled}
    elif missing and column.numeric and not has_nulls(column):
        leaf = {"column": ref, "op": "=", "value": 0}
    else:
        leaf = {"column": ref, "op": "is_null" if missing else "not_null"}
    spot.role, spot.chosen = "filter", column
    draft.conditions.append(Condition(spot.start, spot.end, leaf, column))
    return True


def _texts(column: ColumnEntry) -> list[str]:
    """The cells of a column in which an absence may be written out."""
    counted = column.profile.values if column.text and column.profile is not None else ()
    return [v.value for v in counted if isinstance(v.value, str)]


def _said_missing(draft: Draft, spot: Spot, column: ColumnEntry) -> bool | None:
    reading = draft.reading
    back = spot.start - 1
    while reading.lower(back) in {"a", "an", "any", "the", "valid", "known"}:
        back -= 1
    before, earlier = reading.lower(back), reading.lower(back - 1)
    after = [reading.lower(spot.end + i) for i in range(3)]
    if before == "of" and earlier == "out" and column.numeric:
        reading.claim(back - 1, spot.start, "condition")
        draft.conditions.append(
            Condition(spot.start, spot.end, {"column": draft.ref(column), "op": "=", "value": 0}, column)
        )
        spot.role, spot.chosen = "filter", column
        return None
    denied = any(reading.lower(back - i) in NEGATIONS for i in range(3))
    if reading.lower(spot.start - 1) == "any" and denied and truth(column) is None:
        reading.claim(back - 2, spot.start, "condition")
        return True
    if before in _LACKING and truth(column) is None and earlier not in {"or", "is"}:
        reading.claim(back, spot.start, "condition")
        return True
    if before == "never" and column.temporal:
        reading.claim(back, spot.start, "condition")
        return True
    if after[0] in {"is", "are", "was", "were"} and (
        after[1] in _EMPTY or (after[1] == "not" and after[2] in {"known", "set", "given"})
    ):
        reading.claim(spot.end, spot.end + 3, "condition")
        return True
    if before in _EMPTY:
        reading.claim(back, spot.start, "condition")
        return True
    plain_having = before in _HAVING and reading.lower(spot.start - 1) in {"a", "an", "any"}
    if plain_having and has_nulls(column) and truth(column) is None and not is_measure(column):
        reading.claim(back, spot.start, "condition")
        return False
    if (
        plain_having
        and has_nulls(column)
        and is_measure(column)
        and after[0] not in {"of", "over", "above", "between"}
    ):
        return False
    return None
