"""Where a question refers to the table's columns, and how completely it says their names."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from sandtable.planner.candidates.lookup.view import PREFIX, TableView
from sandtable.planner.language.spelling import tolerated, within
from sandtable.planner.language.words import Word, stem

_EXACT, _PREFIX, _AKIN, _INITIALS, _SLIP = 1.0, 0.7, 0.6, 0.75, 0.65
_MOST = 3
_GAP = 0.02
"""What each foreign word inside a mention costs."""


@dataclass(frozen=True, slots=True)
class Mention:
    column: int
    share: float
    """Of the column's name that the words say, 0 to 1."""
    start: int
    end: int
    exact: bool
    said: int
    """Words of the name that were said."""


def find_mentions(words: tuple[Word, ...], view: TableView) -> tuple[tuple[Mention, ...], ...]:
    """For each column its best mentions, which do not overlap, best first."""
    hits: defaultdict[int, list[tuple[int, int, float]]] = defaultdict(list)
    for at, word in enumerate(words):
        for place, part, worth in _touched(word, words[at + 1].lower if at + 1 < len(words) else "", view):
            hits[place].append((at, part, worth))
    return tuple(
        _best(view, place, hits[place]) if place in hits else () for place in range(len(view.columns))
    )


def _touched(word: Word, following: str, view: TableView) -> list[tuple[int, int, float]]:
    """The parts of column names that a word may say, and how surely."""
    if word.is_symbol and word.stem not in view.exact:
        return []
    own = word.stem
    found = [(place, part, _EXACT) for place, part in view.exact.get(own, ())]
    if following.isalpha():
        together = view.exact.get(stem(word.lower + following), ())
        found += [(place, part, _EXACT) for place, part in together if (place, part, _EXACT) not in found]
    seen = {(place, part) for place, part, _ in found}
    if len(own) >= PREFIX:
        for place, part in view.prefixes.get(own[:PREFIX], ()):
            if (place, part) not in seen:
                seen.add((place, part))
                found.append((place, part, _PREFIX))
    found += [(place, part, _AKIN) for place, part in view.akin.get(own, ()) if (place, part) not in seen]
    if not found and word.lower.isalpha():
        found = _unclear(word, view)
    return found


def _unclear(word: Word, view: TableView) -> list[tuple[int, int, float]]:
    """The initials of a name, or a word of one with a typo in it."""
    places = view.initials.get(word.lower, ())
    if places:
        return [
            (place, part, _INITIALS) for place in places for part in range(len(view.columns[place].stems))
        ]
    most = tolerated(len(word.lower)) if len(word.lower) > 4 else 0
    if not most:
        return []
    return [
        (place, part, _SLIP)
        for known, parts in view.exact.items()
        if len(known) > 3 and within(word.stem, known, most) is not None
        for place, part in parts
    ]


def _best(view: TableView, place: int, hits: list[tuple[int, int, float]]) -> tuple[Mention, ...]:
    column = view.columns[place]
    longest = len(column.stems) + 3
    found: list[Mention] = []
    for first in range(len(hits)):
        said: dict[int, float] = {}
        start = hits[first][0]
        if first and hits[first - 1][0] == start:
            continue
        for at, part, worth in hits[first:]:
            if at - start > longest:
                break
            said[part] = max(said.get(part, 0.0), worth)
            share = 0.0
            for one, value in said.items():
                share += column.weights[one] * value
            share -= _GAP * max(0, at + 1 - start - len(said))
            found.append(Mention(place, share, start, at + 1, max(said.values()) == _EXACT, len(said)))
    found.sort(key=lambda m: (-m.share, m.start, m.end))
    kept: list[Mention] = []
    for mention in found:
        if all(mention.end <= other.start or mention.start >= other.end for other in kept):
            kept.append(mention)
            if len(kept) == _MOST:
                break
    return tuple(kept)
