"""The account of a plan: which words of the question each part comes from, and which words are unbound.

`account` works for any plan, whatever proposed it. Invariant: every word of the question is in the words of
some part, in `aside`, in one `Unbound`, or in `likely`, and in one of the four only. `account` itself fills the first
three: `likely` is for a reader that proposes parts which no word names.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sandtable.observing import timed_part
from sandtable.planner.charting import wish_alone, wish_in
from sandtable.planner.conscience.comparing import bind_comparisons, bind_numbers
from sandtable.planner.conscience.computing import bind_computed
from sandtable.planner.conscience.content_words import bind_contents, lists_amounts
from sandtable.planner.conscience.coordinating import without_a_part
from sandtable.planner.conscience.ledger import Ledger, Unbound
from sandtable.planner.conscience.negating import bind_negations
from sandtable.planner.conscience.or_more import bind_or_more
from sandtable.planner.conscience.parts import pieces_of
from sandtable.planner.conscience.pieces import PartKind, Path, Piece, chart_in
from sandtable.planner.conscience.preambles import bind_preambles
from sandtable.planner.conscience.question_words import bind_question_words
from sandtable.planner.conscience.ranking_words import bind_ranks
from sandtable.planner.conscience.rating_words import bind_ratings
from sandtable.planner.conscience.seemingly_bound import seemingly_bound
from sandtable.planner.conscience.time_words import bind_times
from sandtable.planner.conscience.unasked import is_unasked
from sandtable.planner.conscience.unit_words import bind_units
from sandtable.planner.conscience.value_words import bind_values
from sandtable.planner.language import periods
from sandtable.planner.language.reading import Reading
from sandtable.planner.mentions.renaming import Renamed, renamed
from sandtable.planner.schema.index import SchemaIndex
from sandtable.recent import Recent


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a plan, with the words that asked for it."""

    kind: PartKind
    path: Path
    """Where it is in the plan, such as `("filters", 0)`."""
    label: str
    words: tuple[int, ...]
    """Places in `Reading.of(question).words`; none when no word asked for it."""


@dataclass(frozen=True, slots=True)
class Account:
    parts: tuple[Part, ...]
    aside: tuple[int, ...]
    """Words that mean nothing for the plan."""
    unbound: tuple[Unbound, ...]
    unasked: tuple[Part, ...]
    """Parts that change the answer though no word asks for them."""
    likely: tuple[tuple[Path, tuple[int, ...]], ...] = ()
    """The path of a part, and the places of words that name nothing in the data and that it was likely read from."""
    loose: tuple[int, ...] = ()
    """Words that are bound by what they may mean beside others, not by naming anything: `children` for the rows."""

    @property
    def clean(self) -> bool:
        """Whether no clarification is needed; parts in `likely` are answered, and shown to the user to check."""
        return not self.unbound and not self.unasked


def bind_chart(book: Ledger) -> None:
    """`as a stacked bar`: bound to the chart that the plan names. Unsupported charts are reported elsewhere."""
    text = book.reading.text
    wish = wish_alone(text, book.index) if book.follows else None
    wish = wish or wish_in(text, book.index)
    if wish is None:
        return
    found = [i for i in book.of_kind("chart") if wish.kind in book.pieces[i].does]
    if found:
        book.bind(wish.start, wish.end, found)
    elif wish.kind is None:
        book.put_aside(wish.start, wish.end)
    else:
        book.mark_unbound("chart", wish.start, wish.end, "the plan asks for no such chart")


STAGES: tuple[Callable[[Ledger], None], ...] = (
    bind_preambles,
    bind_chart,
    bind_values,
    bind_times,
    bind_ratings,
    bind_or_more,
    bind_numbers,
    bind_ranks,
    bind_negations,
    bind_computed,
    bind_units,
    bind_comparisons,
    bind_question_words,
    bind_contents,
)
"""In this order: the most certain first; a word that is settled stays settled."""


@timed_part("conscience")
def account(
    question: str,
    plan: dict[str, Any],
    index: SchemaIndex,
    before: dict[str, Any] | None = None,
    *,
    answered: frozenset[int] = frozenset(),
    asking: frozenset[int] = frozenset(),
) -> Account:
    """The words that each part of the plan comes from, and the words that no part of it means.

    `before` is the plan that a follow-up changes: its parts need no words, and words may refer to removed parts.
    `answered` are places of words that only say how it is changed (`instead`, `also`); `asking` those of a phrase that
    asks for everything that is new in the plan (`as percentages`, `which one is highest`).
    """
    found = [
        put_back(
            _known_account(each.text, plan, index, before, each.there(answered), each.there(asking)),
            each,
            question,
        )
        for each in renamed(question, index)
    ]
    if not found:
        return _known_account(question, plan, index, before, answered, asking)
    return next((each for each in found if each.clean), found[0])


def _known_account(
    question: str,
    plan: dict[str, Any],
    index: SchemaIndex,
    before: dict[str, Any] | None,
    answered: frozenset[int],
    asking: frozenset[int],
) -> Account:
    """The account of a question without synonyms, computed once."""
    text = json.dumps((plan, before), default=str)
    key = (id(index), question, text, answered, asking)
    known = _ACCOUNTS.get(key)
    if known is not None:
        return known[1]
    found = _account(question, plan, index, before, answered, asking)
    _ACCOUNTS.put(key, (index, found))
    return found


def put_back(found: Account, renamed: Renamed, question: str) -> Account:
    """The account of a question with synonyms, by that of its text with real names."""
    reading = Reading.of(question)
    unbound = tuple(_unbound_back(each, renamed, reading) for each in found.unbound)
    parts = tuple(replace(part, words=renamed.back(part.words)) for part in found.parts)
    likely = tuple((path, renamed.back(words)) for path, words in found.likely)
    placed = {at for part in parts for at in part.words} | {at for _, words in likely for at in words}
    placed |= {at for each in unbound for at in range(each.start, each.end)}
    return Account(
        parts,
        tuple(at for at in renamed.back(found.aside) if at not in placed),
        unbound,
        tuple(replace(part, words=renamed.back(part.words)) for part in found.unasked),
        likely,
        renamed.back(found.loose),
    )


def _unbound_back(unbound: Unbound, renamed: Renamed, reading: Reading) -> Unbound:
    start, end = renamed.span(unbound.start, unbound.end)
    return replace(unbound, start=start, end=end, text=reading.written(start, end))


_ACCOUNTS: Recent[tuple[int, str, str, frozenset[int], frozenset[int]], tuple[SchemaIndex, Account]] = Recent(
    64
)
"""Keyed by the `id` of the index, which the cache keeps alive as long as its id."""


def _account(
    question: str,
    plan: dict[str, Any],
    index: SchemaIndex,
    before: dict[str, Any] | None,
    answered: frozenset[int],
    asking: frozenset[int],
) -> Account:
    pieces = (*known_pieces(plan, index), *chart_in(plan))
    earlier = (*known_pieces(before, index), *chart_in(before)) if before is not None else ()
    kept = {(p.kind, p.label) for p in pieces}
    gone = tuple(_gone(p) for p in earlier if (p.kind, p.label) not in kept)
    window = before.get("time") if before is not None else None
    period = periods.of_window(window, index.dataset.as_of, index.rules) if window else None
    book = Ledger(question, (*pieces, *gone), index, follows=before is not None, period=period)
    known = {(p.kind, p.label) for p in earlier}
    new = [number for number, piece in enumerate(pieces) if (piece.kind, piece.label) not in known]
    for at in asking:
        book.bind(at, at + 1, new)
    for at in answered:
        book.put_aside(at, at + 1)
    for stage in STAGES:
        stage(book)
    parts = tuple(
        Part(piece.kind, piece.path, piece.label, tuple(book.words_of(number)))
        for number, piece in enumerate(pieces)
    )
    amounts = lists_amounts(book) if before is None else None
    if amounts is not None:
        parts = _released(
            book, parts, *amounts, "every single one is listed; it could be added up or averaged"
        )
    for start, end, why in (*seemingly_bound(book), *without_a_part(book)) if before is None else ():
        parts = _released(book, parts, start, end, why)
    unasked = tuple(
        part
        for number, part in enumerate(parts)
        if (part.kind, part.label) not in known and is_unasked(book, number, book.pieces[number])
    )
    placed = {at for part in parts for at in part.words}
    placed |= {at for u in book.unbound for at in range(u.start, u.end)}
    aside = tuple(at for at in range(len(book.words)) if at not in placed)
    unbound = tuple(sorted(book.unbound, key=lambda u: u.start))
    return Account(parts, aside, unbound, unasked, loose=tuple(sorted(book.loose)))


_PIECES: Recent[tuple[int, str], tuple[SchemaIndex, tuple[Piece, ...]]] = Recent(64)


def known_pieces(plan: dict[str, Any], index: SchemaIndex) -> tuple[Piece, ...]:
    """`pieces_of`, for a plan that is taken apart more than once for a question."""
    key = (id(index), json.dumps(plan, default=str))
    known = _PIECES.get(key)
    if known is None:
        known = (index, pieces_of(plan, index))
        _PIECES.put(key, known)
    return known[1]


def _gone(piece: Piece) -> Piece:
    """A part of the previous plan that the follow-up removed: words with a negation may refer to it."""
    return replace(piece, path=("before", *piece.path), negative=piece.kind == "where" or piece.negative)


def _released(book: Ledger, parts: tuple[Part, ...], start: int, end: int, why: str) -> tuple[Part, ...]:
    text = book.reading.written(start, end)
    book.unbound.append(Unbound("aggregate", start, end, text, why))
    kept: list[Part] = []
    for part in parts:
        words = tuple(at for at in part.words if not start <= at < end)
        kept.append(Part(part.kind, part.path, part.label, words))
    return tuple(kept)
