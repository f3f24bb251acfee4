"""A question beside a table: its words, the columns they mention and the values they name."""

from __future__ import annotations

from dataclasses import dataclass

from sandtable.planner.candidates.lookup.mentions import Mention, find_mentions
from sandtable.planner.candidates.lookup.spans import Span, find_spans
from sandtable.planner.candidates.lookup.view import TableView, table_view
from sandtable.planner.language.words import Word, parse_number, split_words
from sandtable.planner.schema.index import SchemaIndex

MOST_WORDS = 80
MOST_CHARACTERS = 1_000
_ASKING = frozenset("who when where which what how name whose whom list give tell show".split())
_FAR = 99


@dataclass(frozen=True, slots=True)
class Nearness:
    """The mention of a column that is nearest to a span, outside of it."""

    share: float
    distance: int
    """In words; negative when the mention comes after the span."""
    start: int = 0
    end: int = 0

    @property
    def score(self) -> float:
        return self.share - 0.04 * min(abs(self.distance), 20) if self.share else 0.0


_NOWHERE = Nearness(0.0, _FAR)


@dataclass(frozen=True, slots=True)
class Reading:
    view: TableView
    words: tuple[Word, ...]
    tokens: tuple[str, ...]
    """Each word in lower case, `#` for a number."""
    asking: int
    """Where the first question word stands."""
    mentions: tuple[tuple[Mention, ...], ...]
    """By column."""
    spans: tuple[Span, ...]
    named: tuple[frozenset[int], ...]
    """By word: the columns whose name it says, most of the name being said there."""

    def near(self, column: int, start: int, end: int) -> Nearness:
        best = _NOWHERE
        for mention in self.mentions[column]:
            if mention.end <= start:
                found = Nearness(mention.share, start - mention.end, mention.start, mention.end)
            elif mention.start >= end:
                found = Nearness(mention.share, end - mention.start - 1, mention.start, mention.end)
            else:
                continue
            if found.score > best.score or not best.share:
                best = found
        return best


def read_question(question: str, index: SchemaIndex, table: str) -> Reading | None:
    """None when there is no such table, or nothing that could be a question about it."""
    view = table_view(index, table)
    if view is None or len(question) > MOST_CHARACTERS:
        return None
    words = split_words(question)
    if not 0 < len(words) <= MOST_WORDS:
        return None
    tokens = tuple("#" if parse_number(word.lower) is not None else word.lower for word in words)
    mentions = find_mentions(words, view)
    named: list[set[int]] = [set() for _ in words]
    for column in mentions:
        for mention in column:
            if mention.share >= 0.75:
                for at in range(mention.start, mention.end):
                    named[at].add(mention.column)
    asking = next((at for at, token in enumerate(tokens) if token in _ASKING), 0)
    spans = find_spans(question, words, index, view)
    return Reading(view, words, tokens, asking, mentions, spans, tuple(frozenset(s) for s in named))
