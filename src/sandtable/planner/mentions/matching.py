"""Where a question refers to columns, metrics and tables, and how well each fits.

Invariant: a match covers consecutive words of the question; each of them, linking words aside, is a
word of the name (or a synonym, an inflection, a typo).
"""

from __future__ import annotations

from dataclasses import dataclass

from sandtable.planner.language.reading import Reading
from sandtable.planner.language.vocabulary import FILLER, GENERIC, LINKS
from sandtable.planner.schema.columns import is_identifier
from sandtable.planner.schema.entries import MetricEntry, TableEntry
from sandtable.planner.schema.index import SchemaIndex
from sandtable.planner.schema.names import NameBook, Target

LEAST_COVERAGE = 0.3
LEAST_NEAR = 0.4
"""The score when only synonyms were used."""


@dataclass(frozen=True, slots=True)
class Match:
    target: Target
    start: int
    end: int
    weight: float
    """Matched words, each from 0 to 1."""
    coverage: float
    """The part of the name that was said."""
    whole: bool = True
    """Whether the last word of the name was said: the `rate` of `breach_rate`."""

    @property
    def score(self) -> float:
        return self.weight * (0.55 + 0.45 * self.coverage)

    @property
    def exact(self) -> bool:
        return self.coverage >= 0.99 and self.weight >= (self.end - self.start) * 0.5


def find_mentions(reading: Reading, index: SchemaIndex) -> list[Match]:
    """Every way in which words that are still free refer to a name, best first."""
    book = index.names
    places = [book.places(w) if not w.is_symbol or w.lower in {"%", "#"} else {} for w in reading.words]
    found: dict[tuple[int, int, int], Match] = {}
    for start, here in enumerate(places):
        if not reading.free(start, start + 1):
            continue
        for number in here:
            match = _grow(reading, book, places, start, number)
            if match and _counts(match, reading):
                key = (start, match.end, id(match.target))
                if key not in found or found[key].score < match.score:
                    found[key] = match
        for match in _joined(reading, book, start):
            found[start, match.end, id(match.target)] = match
    return sorted(found.values(), key=lambda m: (-m.score, m.start, -m.coverage))


def _grow(
    reading: Reading, book: NameBook, places: list[dict[int, dict[int, float]]], start: int, number: int
) -> Match | None:
    """The longest run of words from `start` that all belong to one name."""
    used: dict[int, float] = {}
    at = end = start
    skipped = 0
    while at < len(reading) and reading.free(at, at + 1):
        options = {p: q for p, q in places[at].get(number, {}).items() if p not in used}
        if options:
            place = max(options, key=lambda p: (options[p], -p))
            used[place] = options[place] if reading.lower(at) not in LINKS else 0.2
            end, skipped = at + 1, 0
        elif reading.lower(at) in LINKS and skipped < 2 and at > start:
            skipped += 1
        else:
            break
        at += 1
    if not used:
        return None
    weights = book.weights[number]
    said = sum(weights[p] * q for p, q in used.items())
    full = sum(weights)
    last = len(weights) - 1 in used
    return Match(book.targets[number], start, end, sum(used.values()), min(1.0, said / full), last)


def _joined(reading: Reading, book: NameBook, start: int) -> list[Match]:
    """`wind speed` for `windspeed`, and the other way round."""
    found: list[Match] = []
    for width in (1, 2, 3):
        end = start + width
        if end > len(reading) or not reading.free(start, end):
            break
        words = reading.words[start:end]
        for joined in {
            "".join(w.lower for w in words),
            "".join(w.lower for w in words[:-1]) + words[-1].stem,
        }:
            found.extend(
                Match(book.targets[n], start, end, float(max(width, len(book.stems[n]))), 1.0)
                for n in book.by_joined.get(joined, ())
                if width != len(book.stems[n])
            )
    return found


def _counts(match: Match, reading: Reading) -> bool:
    if isinstance(match.target, MetricEntry):
        return _metric_counts(match, match.target)
    if isinstance(match.target, TableEntry):
        return match.coverage >= 0.55 and (match.coverage >= 0.99 or len(match.target.stems) == 1)
    counted = reading.line.startswith(("number of", "count of"), reading.offsets[match.start])
    if counted and is_identifier(match.target):
        return False
    if match.end == match.start + 1:
        word = reading.words[match.start]
        if word.lower in LINKS or (word.lower in FILLER and match.coverage < 0.7):
            return False
        if word.stem in GENERIC and match.coverage < 0.9:
            return False
    near = match.weight < 0.75 * (match.end - match.start)
    return match.coverage >= (LEAST_NEAR if near else LEAST_COVERAGE)


def _metric_counts(match: Match, metric: MetricEntry) -> bool:
    if match.coverage >= 0.99:
        return True
    said = match.end - match.start
    if len(metric.stems) == 1:
        return match.coverage >= 0.6
    return said >= 2 and match.coverage >= 0.6 and match.whole
