"""Where a question names values that the data holds: in quotes, word for word, in part, or with a typo."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sandtable.planner.language.reading import Reading
from sandtable.planner.language.vocabulary import FILLER, NEVER_VALUES, WEAK_VALUES
from sandtable.planner.language.words import parse_number
from sandtable.planner.schema.index import SchemaIndex, ValueHit

LONGEST = 8
"""Words in a value that is not quoted."""
_QUOTED = re.compile(r"[\"“”«]([^\"“”»]{1,200})[\"“”»]|(?<!\w)['‘`]([^'’`]{1,200})['’`](?!\w)")
_CATEGORICAL = 60


@dataclass(frozen=True, slots=True)
class ValueMatch:
    start: int
    end: int
    text: str
    hits: tuple[ValueHit, ...]
    quoted: bool = False
    quality: float = 1.0
    partial: bool = False
    """The words are only a part of the cells: compare with `contains`."""

    @property
    def score(self) -> float:
        width = self.end - self.start
        return (3.0 if self.quoted else 1.0) * self.quality * (1.1 * width if width > 1 else 1.0)


def find_quoted(reading: Reading, index: SchemaIndex) -> list[ValueMatch]:
    """What stands in quotes, whether or not the data is known to hold it."""
    found: list[ValueMatch] = []
    for match in _QUOTED.finditer(reading.text):
        inside = (match.group(1) or match.group(2) or "").strip()
        begin, finish = match.span()
        span = [i for i, w in enumerate(reading.words) if begin <= w.start and w.end <= finish]
        if inside and span:
            hits = tuple(h for h in index.find_value(inside) if isinstance(h.value, str))
            found.append(ValueMatch(span[0], span[-1] + 1, inside, hits, quoted=True))
    return found


def find_values(reading: Reading, index: SchemaIndex) -> list[ValueMatch]:
    """Spans of free words that are a text cell of the data."""
    found: list[ValueMatch] = []
    for start in range(len(reading)):
        if reading.words[start].is_symbol:
            continue
        for end in range(min(len(reading), start + LONGEST), start, -1):
            if reading.words[end - 1].is_symbol or not reading.free(start, end):
                continue
            match = _match(reading, index, start, end)
            if match:
                found.append(match)
    return found


def _match(reading: Reading, index: SchemaIndex, start: int, end: int) -> ValueMatch | None:
    text = reading.written(start, end)
    if end - start == 1:
        return _one_word(reading, index, start, text)
    if all(w.lower in NEVER_VALUES or w.is_symbol for w in reading.words[start:end]):
        return None
    hits = _text_hits(index.find_value(text))
    return ValueMatch(start, end, text, hits) if hits else None


def _one_word(reading: Reading, index: SchemaIndex, at: int, text: str) -> ValueMatch | None:
    word = reading.words[at]
    if parse_number(word.lower) is not None:
        return None
    plain = text[:-2] if text.lower().endswith(("'s", "’s")) else text
    hits = _text_hits(index.find_value(plain))
    if not hits:
        return None
    if word.lower in NEVER_VALUES:
        written_so = tuple(h for h in hits if h.value == plain and len(plain) > 1 and plain.isupper())
        if written_so:
            return ValueMatch(at, at + 1, plain, written_so)
        if word.lower not in WEAK_VALUES:
            return None
        hits = tuple(h for h in hits if _is_categorical(index, h))
        return ValueMatch(at, at + 1, plain, hits, quality=0.8) if hits else None
    if len(word.lower) < 2 and not plain.isupper():
        return None
    named = at > 0 and plain[0].isupper()
    quality = 1.2 if named else 0.7 if word.lower in FILLER else 1.0
    return ValueMatch(at, at + 1, plain, hits, quality=quality)


def _text_hits(hits: tuple[ValueHit, ...]) -> tuple[ValueHit, ...]:
    return tuple(h for h in hits if isinstance(h.value, str))


def _is_categorical(index: SchemaIndex, hit: ValueHit) -> bool:
    column = index.column(hit.table, hit.column)
    return bool(column and column.profile and column.profile.distinct <= _CATEGORICAL)


def find_near(reading: Reading, index: SchemaIndex, start: int, end: int) -> ValueMatch | None:
    """A span that nothing explains, as a value with a typo or as a part of one."""
    text = reading.written(start, end)
    near = _text_hits(index.near_values(text))
    if near:
        return ValueMatch(start, end, text, near, quality=0.8)
    if end - start > 1:
        return None
    inside = tuple(h for h in index.values_with_word(text) if isinstance(h.value, str))
    if not inside or len(text) < 3:
        return None
    return ValueMatch(start, end, text, inside, quality=0.75, partial=True)
