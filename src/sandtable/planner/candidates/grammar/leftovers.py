"""Unexplained words: matched approximately where the data gives a reason, otherwise reported as unknown."""

from __future__ import annotations

from sandtable.planner.candidates.grammar.draft import Condition, Draft, Spot
from sandtable.planner.candidates.grammar.honesty import is_chance, is_passed_over, unanswered_heads
from sandtable.planner.language.reading import FREE
from sandtable.planner.language.vocabulary import FILLER, GENERIC, RELATING, ROW_NOUNS
from sandtable.planner.language.words import parse_number, stem
from sandtable.planner.mentions.matching import Match
from sandtable.planner.mentions.values import find_near
from sandtable.planner.schema.columns import label_of, truth
from sandtable.planner.schema.entries import ColumnEntry

UNKNOWN = 0.3
_COMMANDS = frozenset("print return output fetch pull query".split())
"""Filler at the start of a sentence only."""
_MOST_RUNS = 20
"""A text with more unexplained places is no question; a search for near spellings would waste time."""
_CALLED = frozenset({stem("name"), stem("title")})
_GENERAL = frozenset(stem(w) for w in "name title date id code".split())


def rescue(draft: Draft) -> None:
    """Near spellings, parts of values, words of descriptions; before anything is bound."""
    runs = _free_runs(draft)
    if len(runs) > _MOST_RUNS:
        return
    for start, end in runs:
        if not _rescue_span(draft, start, end):
            for at in range(start, end):
                _rescue_word(draft, at)
    _rescue_general(draft)
    draft.spots.sort(key=lambda s: s.start)


def _free_runs(draft: Draft) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    at = 0
    while at < len(draft.reading):
        end = at
        while end < len(draft.reading) and end - at < 4 and is_unexplained(draft, end):
            end += 1
        if end > at:
            runs.append((at, end))
        at = max(end, at + 1)
    return runs


def is_unexplained(draft: Draft, at: int) -> bool:
    word = draft.reading.words[at]
    if draft.reading.owner[at] != FREE or word.is_symbol:
        return False
    if word.lower in FILLER and not (word.lower in _COMMANDS and at > 3):
        return False
    return parse_number(word.lower) is None or word.lower.isalpha()


def _rescue_span(draft: Draft, start: int, end: int) -> bool:
    """Two or more words together as one value with a typo."""
    if end - start < 2:
        return False
    near = find_near(draft.reading, draft.index, start, end)
    return near is not None and _put(draft, Spot(start, end, value=near))


_OPPOSITES = ("un", "non", "in", "dis", "not")


def _rescue_general(draft: Draft) -> None:
    """`name`, `date`, `id` are filler at the start of a sentence and columns elsewhere."""
    for at in range(1, len(draft.reading)):
        word = draft.reading.words[at]
        if draft.reading.owner[at] != FREE or word.stem not in _GENERAL or word.lower in {"named", "titled"}:
            continue
        if parse_number(draft.reading.lower(at + 1) or "x") is not None:
            continue
        column = _generic(draft, word.stem) or (label_of(draft.home) if word.stem in _CALLED else None)
        named = any(s.column is column for s in draft.spots)
        if column is not None and not named:
            _put(draft, Spot(at, at + 1, columns=(Match(column, at, at + 1, 0.5, 0.5),)))


def _opposite(draft: Draft, at: int) -> bool:
    """`uninsured` where a column says `insured`."""
    word = draft.reading.words[at]
    for prefix in _OPPOSITES:
        rest = stem(word.lower.removeprefix(prefix))
        if not word.lower.startswith(prefix) or len(rest) < 4:
            continue
        for column in draft.home.columns:
            pair = truth(column) if rest in column.stems else None
            if pair is None or pair[1] is None:
                continue
            leaf = {"column": draft.ref(column), "op": "=", "value": pair[1]}
            draft.conditions.append(Condition(at, at + 1, leaf, column))
            draft.reading.claim(at, at + 1, "condition")
            return True
    return False


_SEXES = {
    "women": ("female", "f", "woman"), "woman": ("female", "f"), "girls": ("female", "f", "girl"),
    "ladies": ("female", "f"), "females": ("female", "f"), "female": ("f", "woman"),
    "men": ("male", "m", "man"), "man": ("male", "m"), "boys": ("male", "m", "boy"), "males": ("male", "m"),
    "male": ("m", "man"), "gentlemen": ("male", "m"),
}  # fmt: skip


def _sex(draft: Draft, at: int) -> bool:
    """`women` where a column of genders says F."""
    for column in draft.home.columns:
        if not set(column.stems) & {"gender", "sex"} or column.profile is None:
            continue
        for counted in column.profile.values[:10]:
            if str(counted.value).lower() in _SEXES.get(draft.reading.lower(at), ()):
                leaf = {"column": draft.ref(column), "op": "=", "value": counted.value}
                draft.conditions.append(Condition(at, at + 1, leaf, column, value=counted.value))
                draft.reading.claim(at, at + 1, "condition")
                return True
    return False


def _rescue_word(draft: Draft, at: int) -> None:
    word = draft.reading.words[at]
    if _opposite(draft, at) or _sex(draft, at):
        return
    generic = _generic(draft, word.stem)
    if generic is not None:
        _put(draft, Spot(at, at + 1, columns=(Match(generic, at, at + 1, 0.5, 0.5),)))
        return
    near = find_near(draft.reading, draft.index, at, at + 1)
    if (
        near is not None
        and not (near.partial and (word.stem in RELATING or is_chance(draft, at, near)))
        and _put(draft, Spot(at, at + 1, value=near))
    ):
        return
    if word.stem in RELATING or len(word.lower) < 4:
        return
    described = [
        c
        for t in draft.index.tables
        if t.name in draft.reach
        for c in t.columns
        if word.stem in c.description_stems
    ]
    own = [c for c in described if c.table == draft.home.name]
    pool = own or described
    if len(pool) == 1:
        _put(draft, Spot(at, at + 1, columns=(Match(pool[0], at, at + 1, 0.5, 0.5),)))
        draft.doubt(0.85, f"{word.text} taken for {pool[0].name}")


def _generic(draft: Draft, word: str) -> ColumnEntry | None:
    """`name`, `date`, `id`: a column's general word, when just one column has it."""
    if word not in GENERIC:
        return None
    having = [c for c in draft.home.columns if word in c.stems]
    return having[0] if len(having) == 1 else None


def _put(draft: Draft, spot: Spot) -> bool:
    if spot.value is not None and not any(h.table in draft.reach for h in spot.value.hits):
        return False
    if not draft.reading.free(spot.start, spot.end):
        return False
    draft.spots.append(spot)
    draft.reading.claim(spot.start, spot.end, "spot")
    return True


def unknown_words(draft: Draft) -> list[str]:
    """Content words that stay unexplained; they lower the draft's confidence."""
    unknown: list[str] = []
    free = [at for at in range(len(draft.reading)) if is_unexplained(draft, at)]
    numbers = [
        at
        for at in range(len(draft.reading))
        if draft.reading.owner[at] == FREE and parse_number(draft.reading.lower(at)) is not None
    ]
    for at in (*free, *unanswered_heads(draft)):
        word = draft.reading.words[at]
        if is_passed_over(draft, at):
            draft.doubt(0.95, f"{word.text} was passed over")
        elif word.stem in ROW_NOUNS:
            draft.doubt(0.95, f"{word.text} taken for the rows of {draft.home.name}")
        else:
            unknown.append(word.text)
            draft.doubt(UNKNOWN, f"{word.text} is unknown")
    _unused_aggregates(draft, unknown)
    _neighbours(draft)
    unplaced = [s.value.text for s in draft.spots if s.value is not None and s.open]
    for text in unplaced:
        unknown.append(text)
        draft.doubt(UNKNOWN, f"{text} is in no column that was named")
    for at in numbers:
        unknown.append(draft.reading.words[at].text)
        draft.doubt(UNKNOWN, f"the number {draft.reading.words[at].text} is about nothing")
    return unknown


_COMPUTED = frozenset(
    "average mean avg median percentile stddev std variance correlation rate rates ratio percentage percent proportion "
    "fraction share difference".split()
)


def _unused_aggregates(draft: Draft, unknown: list[str]) -> None:
    """`average` of nothing that is known was asked for and not computed."""
    for at, word in enumerate(draft.reading.words):
        if word.lower in _COMPUTED and draft.reading.owner[at] == FREE:
            draft.doubt(UNKNOWN, f"{word.text} of what was not understood")
            if not unknown:
                unknown.append(_meant_by(draft, at))


def _meant_by(draft: Draft, at: int) -> str:
    """The words after `average` that were taken for values, or the word itself."""
    end = at + 1
    while (spot := draft.starting(end)) is not None and spot.value is not None:
        end = spot.end
    return draft.reading.written(at + 1, end) or draft.reading.words[at].text


_BESIDE = frozenset("after before next previous preceding following above below".split())


def _neighbours(draft: Draft) -> None:
    """`the one listed after X`: rows have no order that could be asked for."""
    for condition in draft.conditions:
        if condition.value is None or condition.column is None or not condition.column.text:
            continue
        for at in range(max(0, condition.start - 2), condition.start):
            if draft.reading.lower(at) in _BESIDE and draft.reading.owner[at] == FREE:
                draft.doubt(0.4, f"what comes {draft.reading.lower(at)} another row")
