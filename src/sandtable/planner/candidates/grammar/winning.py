"""Verbs that stand for a value: won and lost where a column of results says W and L, died where one says survived."""

from __future__ import annotations

from sandtable.planner.candidates.grammar.draft import Condition, Draft
from sandtable.planner.candidates.grammar.filtering import is_negated
from sandtable.planner.candidates.grammar.sequence import only_place
from sandtable.planner.language.reading import FREE
from sandtable.planner.language.words import number_key, stem
from sandtable.planner.schema.columns import is_measure, truth
from sandtable.planner.schema.entries import ColumnEntry

_RESULTS = frozenset(stem(w) for w in "result outcome wl decision".split())
_CELLS: dict[str, frozenset[str]] = {
    stem("win"): frozenset("w win won victory".split()),
    stem("victory"): frozenset("w win won victory".split()),
    stem("lose"): frozenset("l loss lost lose defeat".split()),
    stem("defeat"): frozenset("l loss lost lose defeat".split()),
    stem("tied"): frozenset("t tie tied d draw drawn".split()),
    stem("draw"): frozenset("d draw drawn t tie tied".split()),
}
_DEATH = frozenset(stem(w) for w in "died killed perished".split())
_SURVIVAL = frozenset(stem(w) for w in "survived survivor survival alive".split())
_EVENTS = frozenset(
    "race event match tournament competition contest final championship cup league tour".split()
)


def bind_outcomes(draft: Draft) -> None:
    for at, word in enumerate(draft.reading.words):
        if draft.reading.owner[at] != FREE:
            continue
        if word.stem in _CELLS:
            if not _result(draft, at):
                _first_place(draft, at)
        elif word.stem in _DEATH:
            _death(draft, at)


def _result(draft: Draft, at: int) -> bool:
    cells = _CELLS[draft.reading.words[at].stem]
    for column in draft.home.columns:
        if not column.text or not set(column.stems) & _RESULTS or column.profile is None:
            continue
        found = [v.value for v in column.profile.values[:20] if str(v.value).strip().lower() in cells]
        if len(found) == 1:
            _equals(draft, at, column, found[0], negated=is_negated(draft, at, None))
            if draft.reading.lower(at + 1) == "by":
                draft.doubt(0.4, "by how much was won is in no column")
            return True
    return False


def _first_place(draft: Draft, at: int) -> None:
    """`who won the race`: the row in the first place."""
    reading = draft.reading
    column = only_place(draft)
    numbers = any(s.number is not None and is_measure(s.number) for s in draft.spots)
    known = (
        any(h.column == column.name for h in draft.index.values.get(number_key(1), ())) if column else False
    )
    asked = reading.words[at].lower == "won" and reading.lower(0) in {"who", "which"} and not numbers
    winner = reading.words[at].lower == "winner" and reading.lower(at - 1) == "the"
    if column is None or not known or not (asked or winner):
        return
    _equals(draft, at, column, 1, negated=False)
    if reading.lower(at + 1) == "the" and reading.lower(at + 2) in _EVENTS:
        reading.claim(at + 1, at + 3, "condition")


def _death(draft: Draft, at: int) -> None:
    for column in draft.home.columns:
        pair = truth(column) if set(column.stems) & _SURVIVAL else None
        if pair is not None and pair[1] is not None:
            alive = is_negated(draft, at, None)
            _equals(draft, at, column, pair[0] if alive else pair[1], negated=False)
            return


def _equals(draft: Draft, at: int, column: ColumnEntry, value: object, *, negated: bool) -> None:
    leaf = {"column": draft.ref(column), "op": "!=" if negated else "=", "value": value}
    draft.conditions.append(Condition(at, at + 1, leaf, column, negated, None if negated else value))
    draft.reading.claim(at, at + 1, "condition")
    said = draft.reading.words[at].text
    draft.used.append(f'"{said}" read as {column.name} {leaf["op"]} {value}')
