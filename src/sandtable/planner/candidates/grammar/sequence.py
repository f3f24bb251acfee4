"""Rows by their place in an order: `the first episode of season 2`, `ranked last`, `third place`, `in the top 10`."""

from __future__ import annotations

import re

from sandtable.planner.candidates.grammar.draft import Condition, Draft, Rank, Spot
from sandtable.planner.language.reading import FREE
from sandtable.planner.language.words import number_key, read_number, stem
from sandtable.planner.schema.columns import is_rank, is_unique, is_year
from sandtable.planner.schema.entries import ColumnEntry

_SINGLE = frozenset("first last final".split())
_PLACED = frozenset(
    stem(w) for w in "finished came ranked placed started ended stood qualified arrived".split()
)
"""Verbs after which `last` means a place, not a time."""
_STEPS = frozenset(stem(w) for w in "week round stage heat match race game leg matchday".split())
_PLACES = frozenset("place position spot".split())
_COUNTED = re.compile(
    r"(?:how many|(?:what (?:is|was|are|were) )?(?:the )?(?:total |average |mean |combined )?(?:number|average|total)) "
)
_REACHING = frozenset("reached reach reaching hit in within made make entered".split())
_TOP = re.compile(r"(?:the )?top(?= \w+)")


def first_or_last(draft: Draft) -> Rank | None:
    """`who started last on the grid` by that number; `the first episode` by time or by the running number."""
    reading = draft.reading
    named = _named_first(draft)
    if named is not None:
        return named
    end = len(reading)
    while end > 0 and reading.words[end - 1].is_symbol:
        end -= 1
    for at in range(len(reading)):
        if reading.lower(at) not in _SINGLE or reading.owner[at] != FREE:
            continue
        down = reading.lower(at) != "first"
        place = _place(draft, at)
        if place is not None:
            return Rank(at, at + 1, down, None, column=place, word=reading.lower(at))
        placed = at > 0 and reading.words[at - 1].stem in _PLACED
        if not _before_noun(draft, at) and at != end - 1 and not placed:
            if reading.lower(at - 1) == "the" or reading.lower(at + 1) == "name":
                draft.doubt(0.45, f"the {reading.lower(at)} of what was not understood")
            continue
        if not any(c.temporal or is_year(c) for c in draft.home.columns) and row_order(draft) is None:
            draft.doubt(0.45, f"no column tells which row is the {reading.lower(at)}")
            return None
        return Rank(at, at + 1, down, None, word="latest" if down else "earliest")
    return None


def _named_first(draft: Draft) -> Rank | None:
    """`who was elected first`, where a column is called First elected."""
    for spot in draft.spots:
        last = draft.reading.lower(spot.end - 1)
        column = spot.number
        if not spot.open or column is None or last not in _SINGLE or spot.end - spot.start < 2:
            continue
        if draft.reading.lower(0) in {"who", "which", "what"} and (column.temporal or is_year(column)):
            spot.role, spot.chosen = "rank", column
            return Rank(spot.end - 1, spot.end, last != "first", None, column=column, word=last)
    return None


def _before_noun(draft: Draft, at: int) -> bool:
    following = draft.starting(at + 1)
    if following is not None and following.value is not None:
        following = draft.starting(following.end)
    if following is None or draft.reading.lower(following.start) in {"name", "names"}:
        return False
    return following.table is not None or bool(following.column and following.column.text)


def _place(draft: Draft, at: int) -> ColumnEntry | None:
    """The column of places: named beside the word, or the table's only one after a verb of placing."""
    before = draft.ending(at)
    if before is not None and before.open and before.number is not None:
        column = before.number
        if is_rank(column) or column.temporal or is_year(column):
            return _taken(before, column)
    if at == 0 or draft.reading.words[at - 1].stem not in _PLACED:
        return None
    after = draft.after(at + 1, frozenset({"on", "in", "the"}), 2)
    numbered = after is not None and read_number(draft.reading.words, after.end) is not None
    if (
        after is not None
        and after.open
        and not numbered
        and after.number is not None
        and not is_year(after.number)
    ):
        return _taken(after, after.number)
    started = draft.reading.words[at - 1].stem == stem("started")
    return None if started else only_place(draft)


def _taken(spot: Spot, column: ColumnEntry) -> ColumnEntry:
    spot.role, spot.chosen = "rank", column
    return column


def only_place(draft: Draft) -> ColumnEntry | None:
    places = [c for c in draft.home.columns if is_rank(c)]
    return places[0] if len(places) == 1 else None


def row_order(draft: Draft) -> ColumnEntry | None:
    """The order of rows where there is no date: a running number, else the step within a fixed year."""
    columns = draft.home.columns
    if any(c.temporal for c in columns):
        return None
    numbered = [c for c in columns if c.numeric and c.stems[0] == "number" and len(c.stems) > 1]
    running = next((c for c in numbered if is_unique(c, draft.home)), None)
    if running is not None:
        return running
    fixed = [c.column for c in draft.conditions if c.json.get("op") == "="]
    years = [c for c in columns if is_year(c)]
    steps = [c for c in columns if c.numeric and set(c.stems) & _STEPS and c not in fixed]
    settled = all(y in fixed for y in years)
    if len(steps) == 1 and not settled and draft.rank is not None:
        draft.doubt(0.45, f"{steps[0].name} starts again with every {years[0].name}")
    return steps[0] if len(steps) == 1 and settled else None


def bind_places(draft: Draft, ordinals: dict[str, int]) -> None:
    """`in third place`, `finished second`: the table's only column of places."""
    reading = draft.reading
    for at in range(len(reading)):
        number = ordinals.get(reading.lower(at))
        if number is None or reading.owner[at] != FREE:
            continue
        said = reading.lower(at + 1) in _PLACES
        back = at - 2 if reading.lower(at - 1) == "in" else at - 1
        verb = back >= 0 and reading.words[back].stem in _PLACED and draft.starting(at + 1) is None
        column = only_place(draft)
        if column is None or not (said or verb) or not _holds(draft, column, number):
            continue
        _fix(draft, at, at + 1 + said, column, "=", number)


_REACHED = re.compile(r"(?:reached|reach|hit|peaked at|peaked)(?: number| no| #)?(?= \d)")


def bind_reached(draft: Draft) -> None:
    """`reached number 1`: the place, not the number that names the row."""
    for start, end, _ in draft.reading.find(_REACHED):
        number = read_number(draft.reading.words, end)
        column = only_place(draft)
        if number is None or column is None or not draft.reading.free(end, number.end):
            continue
        _fix(draft, start, number.end, column, "=", int(number.value))


def bind_top_places(draft: Draft) -> None:
    """`how many songs reached the top 10`: places up to 10, where the table has a column of places."""
    counted = _COUNTED.match(draft.reading.line) is not None
    for start, end, _ in draft.reading.find(_TOP):
        earlier = set(draft.reading.line.split()[:start]) & {"most", "fewest"}
        if not counted and not (earlier and draft.reading.lower(start - 1) in _REACHING):
            continue
        number = read_number(draft.reading.words, end)
        column = only_place(draft)
        if number is None or column is None or not draft.reading.free(start, number.end):
            continue
        if "by" in draft.reading.line.split()[number.end :] or number.percent:
            continue
        if not is_unique(column, draft.home) and draft.reading.lower(start - 1) not in _REACHING:
            if "average" in draft.reading.line.split()[:start]:
                draft.doubt(0.4, "an average over the first few of a ranking")
            continue
        _fix(draft, start, number.end, column, "<=", int(number.value))
        return


def _holds(draft: Draft, column: ColumnEntry, number: int) -> bool:
    hits = draft.index.values.get(number_key(number), ())
    return any((h.table, h.column) == (column.table, column.name) for h in hits)


def _fix(draft: Draft, start: int, end: int, column: ColumnEntry, op: str, number: int) -> None:
    leaf = {"column": draft.ref(column), "op": op, "value": number}
    value = number if op == "=" else None
    draft.conditions.append(Condition(start, end, leaf, column, value=value))
    draft.reading.claim(start, end, "condition")
    draft.used.append(f'"{draft.reading.written(start, end)}" read as {column.name} {op} {number}')
