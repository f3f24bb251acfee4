"""The ledger of one question: which words are bound to which pieces, which are set aside, which are unbound.

Invariant: a word is settled once; `close` settles what is left, so that every word ends in exactly one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from sandtable.planner.conscience.naming import names_column, names_table
from sandtable.planner.conscience.pieces import Piece
from sandtable.planner.conscience.terms import ASIDE, NOT
from sandtable.planner.language.buckets import Bucket, find_buckets
from sandtable.planner.language.numbers import Comparison, find_comparisons
from sandtable.planner.language.periods import Period
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.times import Calendar, TimePhrase, find_time_phrases
from sandtable.planner.language.words import Word
from sandtable.planner.schema.index import SchemaIndex

UnboundKind = Literal[
    "negation",
    "comparison",
    "number",
    "unit",
    "quoted",
    "superlative",
    "time",
    "content",
    "role",
    "aggregate",
    "chart",
]


@dataclass(frozen=True, slots=True)
class Unbound:
    """Words of the question that no part of the plan means."""

    kind: UnboundKind
    start: int
    end: int
    """Places in `Reading.of(question).words`, the end excluded."""
    text: str
    why: str


@lru_cache(maxsize=64)
def time_phrases_in(question: str, calendar: Calendar) -> tuple[TimePhrase, ...]:
    """The times that a question names: searched once, not for every plan that the question is checked against."""
    return tuple(find_time_phrases(Reading.of(question), calendar))


@lru_cache(maxsize=64)
def buckets_in(question: str, in_fiscal: bool) -> tuple[Bucket, ...]:
    return tuple(find_buckets(Reading.of(question), in_fiscal=in_fiscal))


@lru_cache(maxsize=64)
def comparisons_in(question: str) -> tuple[Comparison, ...]:
    return tuple(find_comparisons(Reading.of(question)))


class Ledger:
    def __init__(
        self,
        question: str,
        pieces: tuple[Piece, ...],
        index: SchemaIndex,
        *,
        follows: bool = False,
        period: Period | None = None,
    ) -> None:
        self.follows = follows
        self.period = period
        """The whole period that the previous answer was about."""
        self.reading = Reading.of(question)
        self.words: tuple[Word, ...] = self.reading.words
        self.pieces = pieces
        self.index = index
        self.bound: list[set[int]] = [set() for _ in self.words]
        self.settled = [False] * len(self.words)
        self.unbound: list[Unbound] = []
        self.asked: set[int] = set()
        """Pieces that words ask for, beyond naming their columns."""
        self.loose: set[int] = set()
        """Places of words that are bound though they name nothing."""
        self.stems = frozenset(w.stem for w in self.words)

    def lower(self, at: int) -> str:
        return self.words[at].lower if 0 <= at < len(self.words) else ""

    def open(self, at: int) -> bool:
        return 0 <= at < len(self.words) and not self.settled[at]

    def bind(self, start: int, end: int, pieces: Iterable[int], *, named: bool = False) -> None:
        """These words mean these pieces; `named`: they only name its column, which asks for no condition.

        Words that are settled already keep their place.
        """
        chosen = set(pieces)
        if not named:
            self.asked |= chosen
        for at in range(max(0, start), min(end, len(self.words))):
            if not self.settled[at] or self.bound[at]:
                self.bound[at] |= chosen
                self.settled[at] = True

    def put_aside(self, start: int, end: int) -> None:
        for at in range(max(0, start), min(end, len(self.words))):
            self.settled[at] = True

    def mark_unbound(self, kind: UnboundKind, start: int, end: int, why: str) -> None:
        """Mark these words as unbound, except those that are already bound or set aside."""
        places = [at for at in range(max(0, start), min(end, len(self.words))) if not self.settled[at]]
        while places:
            last = next((at for at, after in pairwise(places) if after != at + 1), places[-1])
            run = [at for at in places if at <= last]
            places = places[len(run) :]
            text = self.reading.written(run[0], run[-1] + 1)
            self.unbound.append(Unbound(kind, run[0], run[-1] + 1, text, why))
            self.put_aside(run[0], run[-1] + 1)

    def of_kind(self, *kinds: str) -> list[int]:
        return [i for i, piece in enumerate(self.pieces) if piece.kind in kinds]

    def doing(self, *marks: str) -> list[int]:
        wanted = set(marks)
        return [i for i, piece in enumerate(self.pieces) if piece.does & wanted]

    def where(self, test: Callable[[Piece], bool]) -> list[int]:
        return [i for i, piece in enumerate(self.pieces) if test(piece)]

    def inside(self, piece: int) -> list[int]:
        """The conditions on the rows that a piece looks for in another table."""
        return self.where(self.pieces[piece].holds)

    def words_of(self, piece: int) -> list[int]:
        return [at for at, pieces in enumerate(self.bound) if piece in pieces]

    def naming(self, at: int, piece: Piece) -> float:
        """How well the word at this place names a column, the table or the metric of a piece."""
        word = self.words[at].stem
        best = max((names_column(word, column) for column in piece.columns), default=0.0)
        if piece.table is not None:
            best = max(best, names_table(word, piece.table))
        return max(best, 0.9 if word in piece.names else 0.0)

    def places_of(self, piece: int) -> list[int]:
        """Where the question refers to a piece: its own words, and words that name its column."""
        own = set(self.words_of(piece))
        stems = {s for column in self.pieces[piece].columns for s in column.stems if len(s) > 3}
        named = (
            at
            for at, word in enumerate(self.words)
            if word.stem in stems or (self.says(at) and self.naming(at, self.pieces[piece]) >= 0.7)
        )
        return sorted(own.union(named))

    def says(self, at: int) -> bool:
        word = self.words[at]
        return not word.is_symbol and word.lower not in ASIDE and word.lower not in NOT

    def near(self, at: int, piece: int, before: int, after: int) -> bool:
        return any(at - before <= place <= at + after for place in self.places_of(piece))

    def next_said(self, at: int) -> int | None:
        """The next word after this place that carries meaning."""
        return next((i for i in range(at + 1, len(self.words)) if self.says(i) or self.bound[i]), None)
