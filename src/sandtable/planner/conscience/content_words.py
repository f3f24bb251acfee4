"""Everything else a question says: names of columns and tables, the noun for the row, question words."""

from __future__ import annotations

from sandtable.planner.columns import is_identifier, is_measure, is_rank, is_unique, is_year, label_of
from sandtable.planner.conscience.ledger import Ledger
from sandtable.planner.conscience.naming import LEAST, names_column, names_table, said_of
from sandtable.planner.conscience.pieces import Piece
from sandtable.planner.conscience.terms import ASIDE, LEANING, LIGHT_VERBS, OCCASIONS, PERSON, PLACES
from sandtable.planner.entries import ColumnEntry
from sandtable.planner.vocabulary import ROW_NOUNS
from sandtable.planner.words import Word, split_name, stem

_NAMED = 0.7
_BEGINNINGS = frozenset(
    stem(w) for w in "created opened signup joined registered started listed start hired added".split()
)
_CALLED = frozenset(stem(w) for w in "name full first last".split())
_PEOPLE = frozenset(stem(w) for w in "person individual member everybody everyone anybody".split())
_LOOSE = frozenset("by but than more less over under after before since until".split())
"""What is left of phrases that were read already."""
_LISTING = frozenset("list show each every all which display give individual".split())


def bind_contents(book: Ledger) -> None:
    _question_words(book)
    for at, word in enumerate(book.words):
        if book.settled[at] and not book.bound[at]:
            continue
        if word.is_symbol:
            if not book.settled[at]:
                book.put_aside(at, at + 1)
            continue
        _name(book, at, word)
    for at, word in enumerate(book.words):
        if book.open(at):
            _left_over(book, at, word)


def _name(book: Ledger, at: int, word: Word) -> None:
    """Bound to every piece that it names best; function words only to a name that has them."""
    plain = word.lower in ASIDE
    scored = [(book.naming(at, piece), number) for number, piece in enumerate(book.pieces)]
    best = max((score for score, _ in scored), default=0.0)
    least = 1.0 if plain else 0.8 if word.stem in ROW_NOUNS else _NAMED
    if best < least:
        if not plain and best >= LEAST and not book.bound[at]:
            book.bind(at, at + 1, [n for score, n in scored if score == best], named=True)
        return
    if plain and word.stem not in {s for p in book.pieces for c in p.columns for s in c.stems}:
        return
    book.bind(at, at + 1, [n for score, n in scored if score >= best - 0.05], named=True)


def _left_over(book: Ledger, at: int, word: Word) -> None:
    signed = _signed(book, word) or _won(book, word)
    special = (
        _row_noun(book, at, word) or _new(book, at) or _dates(book, word) or _thing_counted(book, at, word)
    )
    if signed:
        book.bind(at, at + 1, signed)
    elif special:
        book.bind(at, at + 1, special, named=True)
    elif word.lower in OCCASIONS and book.lower(at - 1) == "the":
        book.put_aside(at, at + 1)
    elif word.lower in {"date", "dates"}:
        book.put_aside(at, at + 1) if book.lower(at - 1) == "to" else book.blame(
            "content", at, at + 1, "the plan shows no date"
        )
    elif word.lower in {"names", "name"} and at > 2 and not _shows_text(book):
        book.blame("content", at, at + 1, "the plan shows no names")
    elif _is_cell(book, at, word):
        book.blame("content", at, at + 1, "it is a value of the data that no condition of the plan has")
    elif word.lower in ASIDE or word.stem in LIGHT_VERBS or (book.follows and word.lower in LEANING):
        book.put_aside(at, at + 1)
    elif word.stem in ROW_NOUNS and word.stem not in _PEOPLE:
        book.bind(at, at + 1, book.where(lambda p: p.path[-1:] == ("table",)), named=True)
    elif word.stem in _PEOPLE or word.lower in _LOOSE or (len(word.lower) == 1 and word.lower.isalpha()):
        book.put_aside(at, at + 1)
    else:
        book.blame("content", at, at + 1, "no part of the plan is called that")


def _row_noun(book: Ledger, at: int, word: Word) -> list[int]:
    """What the rows are called: by their label (`titles` of books), the dataset's title, or a condition's table."""
    for number, piece in enumerate(book.pieces):
        if piece.table is None:
            continue
        label = label_of(piece.table)
        labels = [c for c in piece.table.columns if c is label or is_unique(c, piece.table)]
        if word.lower.endswith("s") and any(names_column(word.stem, c) == 1.0 for c in labels):
            return [number]
        if word.stem in _title_stems(book):
            return [number]
    for number in book.of_kind("where", "by"):
        tables = (book.index.table(c.table) for c in book.pieces[number].columns)
        if any(t is not None and names_table(word.stem, t) >= _NAMED for t in tables):
            return [number]
    return []


def _won(book: Ledger, word: Word) -> list[int]:
    """`who won`: the one in the first place."""
    if word.stem != "win":
        return []
    return [
        i
        for i in book.of_kind("where")
        if 1 in book.pieces[i].values and any(is_rank(c) for c in book.pieces[i].columns)
    ]


def _thing_counted(book: Ledger, at: int, word: Word) -> list[int]:
    """`lost 6 games`, `how many games did they lose`: what the numbers of a named column count; `port of departure`."""
    if word.lower.endswith("s") and at > 0:
        numbers = [
            i
            for i in book.bound[at - 1]
            if book.pieces[i].kind == "where" and not book.words[at - 1].is_symbol
        ]
        counted = [
            i
            for i in numbers
            if any(c.numeric and said_of(book.stems, c) > 0 for c in book.pieces[i].columns)
        ]
        if counted and any(ch.isdigit() for ch in book.lower(at - 1)):
            return counted
        if book.lower(at - 1) == "many":
            return [i for i in book.bound[at - 1] if "sum" in book.pieces[i].does]
    if book.lower(at + 1) == "of" and at + 2 < len(book.words) and not word.lower.endswith("s"):
        return [
            i for i in book.of_kind("by", "shape")
            if any(c.text for c in book.pieces[i].columns) and book.naming(at + 2, book.pieces[i]) >= 0.75
        ]  # fmt: skip
    return []


def _dates(book: Ledger, word: Word) -> list[int]:
    if word.lower not in {"date", "dates"}:
        return []
    return [i for i, p in enumerate(book.pieces) if any(c.temporal for c in p.columns)]


def _shows_text(book: Ledger) -> bool:
    return any(
        c.text or is_identifier(c) for i in book.of_kind("shape", "by") for c in book.pieces[i].columns
    )


def _title_stems(book: Ledger) -> frozenset[str]:
    return frozenset(stem(w) for w in split_name(book.index.dataset.title)) - {stem("data")}


def _signed(book: Ledger, word: Word) -> list[int]:
    """`a positive balance`: more than nothing."""
    ops = {"positive": {">", ">="}, "negative": {"<", "<="}}.get(word.lower)
    if ops is None:
        return []
    return [i for i in book.of_kind("where") if book.pieces[i].op in ops and 0 in book.pieces[i].values]


def _new(book: Ledger, at: int) -> list[int]:
    """`new listings per month`: rows by the day they began, when the rows themselves are named."""
    if book.lower(at) != "new" or at + 1 >= len(book.words) or book.doing("count_distinct"):
        return []
    rows = [p for p in book.pieces if p.table is not None and book.naming(at + 1, p) >= _NAMED]
    began = book.where(
        lambda p: (
            (p.kind == "when" or "bucket" in p.does) and any(set(c.stems) & _BEGINNINGS for c in p.columns)
        )
    )
    return began if rows else []


def _is_cell(book: Ledger, at: int, word: Word) -> bool:
    """`grade A`: a single capital letter, or a plain word in capitals, that is a cell of the data."""
    if not word.text.isupper() or word.lower not in ASIDE or word.text == "I":
        return False
    if len(word.text) > 1:
        # `US` is no pronoun, unless the whole question is in capitals.
        return not book.reading.text.isupper()
    hits = [hit for hit in book.index.find_value(word.text) if hit.value == word.text]
    if at > 0:
        return bool(hits)
    columns = [c for hit in hits if (c := book.index.column(hit.table, hit.column)) is not None]
    return len(book.words) > 1 and any(names_column(book.words[1].stem, c) >= _NAMED for c in columns)


# Question words.


def _question_words(book: Ledger) -> None:
    for at in range(min(len(book.words), 40)):
        if not book.open(at):
            continue
        word = book.lower(at)
        if word in {"who", "who's"}:
            _asked(book, at, _persons(book), "the plan shows nobody's name")
        elif word == "when":
            shown = [i for i in _told(book) if any(c.temporal or is_year(c) for c in book.pieces[i].columns)]
            _asked(book, at, shown, "the plan shows no date")
        elif word in {"where", "where's"}:
            _asked(book, at, _places(book), "the plan shows no place")


def _asked(book: Ledger, at: int, fitting: list[int], why: str) -> None:
    if fitting:
        book.bind(at, at + 1, fitting)
    elif _is_relative(book, at):
        book.put_aside(at, at + 1)
    else:
        book.blame("content", at, at + 1, why)


def _is_relative(book: Ledger, at: int) -> bool:
    """`customers who …`, `orders where …`: no question of its own."""
    return at > 0 and book.says(at - 1)


def _told(book: Ledger) -> list[int]:
    return [i for i in book.of_kind("shape", "by", "measure") if book.pieces[i].columns]


def _persons(book: Ledger) -> list[int]:
    told = [i for i in _told(book) if not book.pieces[i].does & {"count", "sum", "avg"}]
    fitting = [i for i in told if _is_person(book.pieces[i])]
    if fitting:
        return fitting
    others = [c for p in book.pieces if p.table is not None for c in p.table.columns]
    better = any(c.text and names_persons(c) for c in others)
    return [] if better else [i for i in told if any(c.text for c in book.pieces[i].columns)]


def _is_person(piece: Piece) -> bool:
    return any(c.text and (names_persons(c) or c.words[-1:] == ("by",)) for c in piece.columns)


def names_persons(column: ColumnEntry) -> bool:
    """`mechanic`, `buyer`, `analyst`: by the word, or by its ending."""
    agents = any(s.endswith(("ist", "yst", "ian")) or w.endswith(("er", "or", "ee")) for s, w in
                 zip(column.stems, column.words, strict=True) if len(s) > 4)  # fmt: skip
    if is_identifier(column):
        return False
    rest = [s for s in column.stems if s not in _CALLED]
    return not rest or bool(set(rest) & PERSON) or agents


def _places(book: Ledger) -> list[int]:
    told = [i for i in _told(book) if any(set(c.stems) & PLACES for c in book.pieces[i].columns)]
    return told or book.doing("rank")


# What the plan does that no word asked for.


def lists_amounts(book: Ledger) -> tuple[int, int] | None:
    """`fares in September` answered with every single fare: neither added up nor listed on purpose."""
    shown = [i for i in book.of_kind("shape", "by") if book.pieces[i].columns]
    ordered = book.of_kind("order", "limit", "measure")
    if not shown or ordered or any(w.lower in _LISTING for w in book.words):
        return None
    columns = [c for i in shown for c in book.pieces[i].columns]
    if not all(is_measure(c) for c in columns):
        return None
    for at, word in enumerate(book.words):
        plural = word.lower.endswith("s") and word.lower != word.stem
        if plural and any(names_column(word.stem, c) >= _NAMED for c in columns):
            return at, at + 1
    return None
