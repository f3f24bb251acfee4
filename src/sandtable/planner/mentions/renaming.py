"""A question with the real names of tables, columns and metrics instead of the catalog's synonyms.

All later steps read the real name: the grammar, the network, the checks of a plan. So a synonym counts as what it
stands for, and a dataset without synonyms is read as before.
Invariant: `Renamed.places` has, for each word of the text, the words of the question that it stands for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product

from sandtable.observing import timed_part
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.words import split_words
from sandtable.planner.mentions.values import find_quoted
from sandtable.planner.schema.index import SchemaIndex
from sandtable.planner.schema.other_names import OtherNames, RealName, Stems
from sandtable.quoting import quote
from sandtable.recent import Recent

_LONGEST = 8
"""Words of a name or a value that is looked for around a synonym."""
_MOST_READINGS = 4

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Renamed:
    """One reading of a question: its text with real names."""

    text: str
    places: tuple[Span, ...]
    """For each word of `text`, the words of the question that it stands for, the end excluded."""
    remarks: tuple[str, ...] = ()
    doubtful: str = ""
    """The first synonym that has more than one meaning, as it was written."""
    meant: str = ""
    """What that was read as."""

    def back(self, words: tuple[int, ...]) -> tuple[int, ...]:
        """Words of the text as words of the question."""
        return tuple(sorted({at for word in words for at in range(*self.places[word])}))

    def there(self, words: frozenset[int]) -> frozenset[int]:
        """Words of the question as words of the text."""
        return frozenset(at for at, span in enumerate(self.places) if words & set(range(*span)))

    def span(self, start: int, end: int) -> Span:
        return self.places[start][0], max(self.places[end - 1][1], self.places[start][0] + 1)


@dataclass(frozen=True, slots=True)
class _Synonym:
    start: int
    end: int
    written: str
    options: tuple[tuple[str, str], ...]
    """What is written instead, and the name that it is."""


@timed_part("linking")
def renamed(question: str, index: SchemaIndex) -> tuple[Renamed, ...]:
    """Every reading; one where each synonym has one meaning. None of a question without synonyms."""
    if index.other_names is None:
        return ()
    key = (id(index), question)
    known = _READINGS.get(key)
    if known is None:
        known = (index, _readings(question, index, index.other_names))
        _READINGS.put(key, known)
    return known[1]


_READINGS: Recent[tuple[int, str], tuple[SchemaIndex, tuple[Renamed, ...]]] = Recent(64)
"""Keyed by the `id` of the index, which the cache keeps alive as long as its id."""


def _readings(question: str, index: SchemaIndex, others: OtherNames) -> tuple[Renamed, ...]:
    reading = Reading.of(question)
    found = list(_synonyms(reading, index, others))
    if not found:
        return ()
    chosen = islice(product(*(synonym.options for synonym in found)), _MOST_READINGS)
    return tuple(_with(reading, found, names) for names in chosen)


def _synonyms(reading: Reading, index: SchemaIndex, others: OtherNames) -> Iterator[_Synonym]:
    """From left to right, the longest first; none in quotes, in a real name or in a value of the data."""
    for match in find_quoted(reading, index):
        reading.claim(match.start, match.end, "value")
    stems = [word.stem for word in reading.words]
    longest = max(map(len, others.by_stems))
    at = 0
    while at < len(stems):
        ends = range(min(len(stems), at + 2 * longest), at, -1)
        end = next((e for e in ends if _plain(stems[at:e]) in others.by_stems and reading.free(at, e)), None)
        if end is None or _is_part(reading, at, end, index, others):
            at += 1
            continue
        written = reading.written(at, end)
        names = others.by_stems[_plain(stems[at:end])]
        options = [(_written(name, reading.lower(end - 1)), name.name) for name in names]
        if index.find_value(written):
            options.append((written, written))
        yield _Synonym(at, end, written, tuple(options))
        at = end


def _plain(stems: list[str]) -> Stems:
    """`send-back` is `send back`; a hyphen at an end belongs to the words around."""
    inner = "-" not in (stems[0], stems[-1])
    return tuple(each for each in stems if each != "-") if inner else ()


def _is_part(reading: Reading, start: int, end: int, index: SchemaIndex, others: OtherNames) -> bool:
    """Whether a longer name or value of the data holds these words."""
    for first in range(max(0, end - _LONGEST), start + 1):
        for last in range(end, min(len(reading), first + _LONGEST) + 1):
            if last - first <= end - start:
                continue
            stems = tuple(word.stem for word in reading.words[first:last])
            if stems in others.real or index.find_value(reading.written(first, last)):
                return True
    return False


def _written(name: RealName, written: str) -> str:
    """Rows in the number in which they were spoken of: `client` for a table of customers is `customer`."""
    words = name.words
    if not name.is_table or not words[-1:].isalpha() or written.endswith("s") == words.endswith("s"):
        return words
    if written.endswith("s"):
        return f"{words}s"
    return words[:-1] if not words.endswith(("ss", "us", "is", "ies")) else words


def _with(reading: Reading, found: list[_Synonym], names: tuple[tuple[str, str], ...]) -> Renamed:
    text, places, at, begun = "", list[Span](), 0, 0
    remarks: list[str] = []
    for synonym, (put, name) in zip(found, names, strict=True):
        first, last = reading.words[synonym.start], reading.words[synonym.end - 1]
        text += reading.text[begun : first.start] + put
        places += [(n, n + 1) for n in range(at, synonym.start)]
        written = split_words(put)
        same = name == synonym.written
        places += [
            (synonym.start + n, synonym.start + n + 1) if same else (synonym.start, synonym.end)
            for n in range(len(written))
        ]
        if not same:
            remarks.append(f"{quote(synonym.written)} read as {name}")
        at, begun = synonym.end, last.end
    text += reading.text[begun:]
    places += [(n, n + 1) for n in range(at, len(reading))]
    doubtful = next((s for s in found if len(s.options) > 1), None)
    if doubtful is None:
        return Renamed(text, tuple(places), tuple(remarks))
    return Renamed(text, tuple(places), tuple(remarks), doubtful.written, names[found.index(doubtful)][1])
