"""Where a question names values: each such span with the conditions it may stand for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sandtable.catalog.model import ColumnType
from sandtable.catalog.profile import Cell
from sandtable.planner.candidates.lookup.view import TableView
from sandtable.planner.language.lexicon import NUMBER_WORDS
from sandtable.planner.language.words import Word, number_key, parse_number, value_key
from sandtable.planner.schema.index import SchemaIndex, ValueHit

Scalar = str | int | float | bool
_LONGEST = 30
_LARGEST = 1e15
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_SPELLED = NUMBER_WORDS | {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10,
}  # fmt: skip

_MORE = frozenset(
    "more greater larger higher bigger over above after exceed exceeds exceeding exceeded later older longer "
    "taller least since minimum better heavier beyond past newer great".split()
)
_LESS = frozenset(
    "less smaller lower fewer under below before younger shorter earlier prior most maximum worse lighter "
    "cheaper lesser small previous".split()
)
_BREAKS = frozenset(("and", ",", "is", "was", "are", "were", "of", "in", "when", "with"))
_ONLY_AFTER_AT = frozenset(("least", "most"))
_ONLY_BESIDE = frozenset(("minimum", "maximum", "better", "worse", "past"))
_LINKS = frozenset(("of", "than"))
_OPEN_ENDED = frozenset(("above", "over", "below", "under"))
_INCLUSIVE = frozenset(("least", "most", "minimum", "maximum", "since"))


@dataclass(frozen=True, slots=True)
class Option:
    """A condition that a span may stand for."""

    column: int
    op: str
    value: Scalar
    found: str
    """How: `=` as written, `s` but for a plural, `o` ordinal, `w` number in letters, `?` not among known values."""


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int
    text: str
    number: bool
    cue: str
    """`>` or `<` when words beside it compare; `` otherwise."""
    inclusive: bool
    options: tuple[Option, ...]


def find_spans(
    question: str, words: tuple[Word, ...], index: SchemaIndex, view: TableView
) -> tuple[Span, ...]:
    """Spans in the order of the question; none lies inside or across another."""
    found: list[tuple[int, int, list[Option]]] = []
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + _LONGEST) + 1):
            if words[end - 1].end - words[start].start > view.longest + 8:
                break
            if words[end - 1].is_symbol and end - start > 1 and words[end - 1].lower not in _CLOSING:
                continue
            options = _known(question[words[start].start : words[end - 1].end], end - start, index, view)
            if options:
                found.append((start, end, options))
    found.sort(key=lambda span: (span[0] - span[1], span[0]))
    kept: list[tuple[int, int, list[Option]]] = []
    for start, end, options in found:
        if all(end <= other[0] or start >= other[1] for other in kept):
            kept.append((start, end, options))
    covered = {at for start, end, _ in kept for at in range(start, end)}
    for at, word in enumerate(words):
        if at not in covered and _one_number(word.lower, words[at - 1].lower if at else "") is not None:
            kept.append((at, at + 1, []))
    spans = [_span(question, words, view, *one) for one in sorted(kept, key=lambda one: one[0])]
    return tuple(span for span in spans if span.options)


_CLOSING = frozenset(")%!?.\"'*+]")


def _known(text: str, length: int, index: SchemaIndex, view: TableView) -> list[Option]:
    key = value_key(text)
    options = _options(index.values.get(key, ()), view, "=")
    if length == 1:
        lower = text.lower().removesuffix("'s")
        number = parse_number(lower)
        if number is not None:
            options += _options(index.values.get("+" + key, ()), view, "s")
            options += _options(index.values.get(number_key(number), ()), view, "=")
        elif ordinal := _ORDINAL.fullmatch(lower):
            options += _options(index.values.get(number_key(float(ordinal.group(1))), ()), view, "o")
        elif lower in _SPELLED:
            options += _options(index.values.get(number_key(_SPELLED[lower]), ()), view, "w")
    if not options and len(key) > 3:
        other = key[:-1] if key.endswith("s") else key + "s"
        options = _options(index.values.get(other, ()), view, "s")
    return options


def _options(hits: tuple[ValueHit, ...], view: TableView, found: str) -> list[Option]:
    options: list[Option] = []
    seen: set[int] = set()
    for hit in hits:
        place = view.places.get(hit.column) if hit.table == view.entry.name else None
        if place is None or place in seen:
            continue
        value = _typed(hit.value, view.columns[place].entry.type)
        if value is not None:
            seen.add(place)
            options.append(Option(place, "=", value, found))
    return options


def _typed(cell: Cell, type_: ColumnType) -> Scalar | None:
    """A cell in the form that a plan's value has; None for what a plan cannot compare."""
    match type_:
        case ColumnType.INTEGER | ColumnType.DECIMAL | ColumnType.FLOAT:
            number = parse_number(cell) if isinstance(cell, str) else cell
            return None if number is None else _exact(float(number))
        case ColumnType.TEXT | ColumnType.DATE | ColumnType.TIMESTAMP:
            return cell if isinstance(cell, str) else None
        case ColumnType.BOOLEAN:
            return cell if isinstance(cell, bool) else None
        case _:
            return None


def _exact(number: float) -> int | float | None:
    if abs(number) > _LARGEST:
        return None
    return int(number) if number.is_integer() else number


def _span(
    question: str, words: tuple[Word, ...], view: TableView, start: int, end: int, options: list[Option]
) -> Span:
    text = question[words[start].start : words[end - 1].end]
    number = _one_number(text.lower(), words[start - 1].lower if start else "") if end - start == 1 else None
    exact = _exact(number) if number is not None else None
    cue, inclusive = _comparison(words, start, end) if exact is not None else ("", False)
    if cue and exact is not None:
        options = [
            *options,
            *(Option(c.place, op, exact, "?") for c in view.columns if c.numeric for op in "><"),
        ]
    return Span(start, end, text, exact is not None, cue, inclusive, tuple(options))


def _one_number(word: str, before: str) -> float | None:
    """A number in letters counts beside `than` only: `one` is seldom a number."""
    return float(NUMBER_WORDS[word]) if before == "than" and word in NUMBER_WORDS else parse_number(word)


def _comparison(words: tuple[Word, ...], start: int, end: int) -> tuple[str, bool]:
    """`>` or `<` from the words before (`more than 5`) or after (`5 or more`), and whether 5 itself counts."""
    after = [word.lower for word in words[end : end + 3]]
    if len(after) > 1 and (after[0] == "or" or after[1] in _OPEN_ENDED) and after[1] in _MORE | _LESS:
        return (">" if after[1] in _MORE else "<"), True
    for back in range(1, 6):
        at = start - back
        if at < 0:
            break
        word = words[at].lower
        if word in _MORE or word in _LESS:
            previous = words[at - 1].lower if at else ""
            if word in _ONLY_AFTER_AT and previous != "at":
                break
            if word in _ONLY_BESIDE and not (back == 1 or (back == 2 and words[at + 1].lower in _LINKS)):
                break
            negated = previous in ("no", "not")
            more = (word in _MORE) != negated
            return (">" if more else "<"), word in _INCLUSIVE or negated
        if word in _BREAKS and back > 2:
            break
    return "", False
