"""All other words of a question: names of columns and tables, the noun for the row, question words."""

from __future__ import annotations

from sandtable.planner.conscience.amounts import names_one
from sandtable.planner.conscience.ledger import Ledger
from sandtable.planner.conscience.meant_otherwise import means_otherwise
from sandtable.planner.conscience.naming import LEAST, names_column, names_table, said_of
from sandtable.planner.conscience.question_words import is_slip
from sandtable.planner.conscience.terms import ASIDE, ENTITIES, LEANING, LIGHT_VERBS, OCCASIONS
from sandtable.planner.language.lexicon import MONTHS
from sandtable.planner.language.spelling import within
from sandtable.planner.language.vocabulary import ROW_NOUNS
from sandtable.planner.language.words import Word, split_name, stem
from sandtable.planner.schema.columns import is_identifier, is_measure, is_rank, is_unique, label_of

_NAMED = 0.7
_MOST_PASSED = 2
_BEGINNINGS = frozenset(
    stem(w) for w in "created opened signup joined registered started listed start hired added".split()
)
_PEOPLE = frozenset(stem(w) for w in "person individual member everybody everyone anybody".split())
_GIVING = frozenset(
    stem(w) for w in "left leave gave give used use redeemed entered got received had".split()
)
_RATERS = frozenset(stem(w) for w in "customer client user guest member patient buyer people shopper".split())
_PAYING = frozenset(stem(w) for w in "spend pay buy".split())
_CONTENT = frozenset(stem(w) for w in "happiest unhappiest satisfied happy unhappy content".split())
_LOOSE = frozenset("by but than more less over under after before since until".split())
"""The rest of phrases that were already read."""
_TIMES = (
    *(name for name in MONTHS if len(name) > 5),
    *"monday tuesday wednesday thursday friday saturday sunday yesterday quarter".split(),
)
_LISTING = frozenset("list show each every all which display give individual".split())


def bind_contents(book: Ledger) -> None:
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
        _row_noun(book, at, word)
        or _gave(book, at, word)
        or _new(book, at)
        or _dates(book, word)
        or _thing_counted(book, at, word)
        or _describes_rows(book, at, word)
        or _heads_count(book, at, word)
        or means_otherwise(book, at, word)
    )
    if signed:
        book.bind(at, at + 1, signed)
    elif special:
        book.bind(at, at + 1, special, named=True)
        book.loose.add(at)
    elif word.lower in OCCASIONS and book.lower(at - 1) == "the":
        book.put_aside(at, at + 1)
    elif word.lower in {"date", "dates"}:
        book.mark_unbound("content", at, at + 1, "the plan shows no date")
    elif word.lower in {"names", "name"} and at > 2 and not _shows_text(book):
        book.mark_unbound("content", at, at + 1, "the plan shows no names")
    elif _is_cell(book, at, word):
        book.mark_unbound(
            "content", at, at + 1, "it is a value of the data that no condition of the plan has"
        )
    elif _is_light(book, word):
        book.put_aside(at, at + 1)
    elif word.stem in ROW_NOUNS and word.stem not in _PEOPLE:
        book.bind(at, at + 1, book.where(lambda p: p.path[-1:] == ("table",)), named=True)
    elif word.stem in _PEOPLE or word.lower in _LOOSE or (len(word.lower) == 1 and word.lower.isalpha()):
        book.put_aside(at, at + 1)
    elif _is_misspelt_time(word):
        book.mark_unbound("time", at, at + 1, "it may be a month or a day that is spelled otherwise")
    elif _is_role(book, at):
        book.mark_unbound("role", at, at + 1, "no column says who that is")
    else:
        book.mark_unbound("content", at, at + 1, "no part of the plan is called that")


def _is_role(book: Ledger, at: int) -> bool:
    """`who is the mayor of Paris?`: another name for a person is no other word for a column of names."""
    asked = " ".join(book.lower(place) for place in range(max(0, at - 3), at))
    return asked.endswith(("who is the", "who was the", "who's the")) and book.lower(at + 1) in {
        "of",
        "in",
        "for",
        "at",
    }


def _is_misspelt_time(word: Word) -> bool:
    """`Febuary`, `Wensday`: a typo or two away from a time."""
    return len(word.lower) > 5 and any(within(word.lower, name, 2) is not None for name in _TIMES)


def _is_light(book: Ledger, word: Word) -> bool:
    light = word.lower in ASIDE or is_slip(word.lower) or word.stem in LIGHT_VERBS
    return light or (book.follows and word.lower in LEANING)


def _row_noun(book: Ledger, at: int, word: Word) -> list[int]:
    """What the rows are called: by their label (`titles` of books), the dataset's title, or a condition's table."""
    for number, piece in enumerate(book.pieces):
        if piece.table is None:
            continue
        label = label_of(piece.table)
        labels = [c for c in piece.table.columns if c is label or is_unique(c, piece.table)]
        if word.lower.endswith("s") and any(names_column(word.stem, c) >= 0.8 for c in labels):
            return [number]
        if word.stem in _title_stems(book):
            return [number]
    for number in book.of_kind("where", "by"):
        tables = (book.index.table(c.table) for c in book.pieces[number].columns)
        if any(t is not None and names_table(word.stem, t) >= _NAMED for t in tables):
            return [number]
    return []


def _gave(book: Ledger, at: int, word: Word) -> list[int]:
    """`left no score`, `never used a coupon`; `the happiest customers`: said of what its neighbour is bound to."""
    if word.stem in _GIVING:
        beside = [i for place in (at - 1, at + 1) if 0 <= place < len(book.words) for i in book.bound[place]]
        return [i for i in beside if book.pieces[i].kind == "where" and book.pieces[i].negative]
    if word.stem in _RATERS and at + 1 < len(book.words) and book.words[at + 1].stem in _PAYING:
        return [i for i in book.bound[at + 1] if book.pieces[i].kind == "measure"]
    if word.stem in _RATERS and at > 0 and book.words[at - 1].stem in _CONTENT:
        return [i for i in book.bound[at - 1] if book.pieces[i].kind in {"measure", "order"}]
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
    if word.lower.endswith("ed") and at + 1 < len(book.words) and book.lower(at + 1).isdigit():
        # `completed 58 laps`: the verb of a number whose column is named.
        return [i for i in book.bound[at + 1] if book.pieces[i].kind == "where"]
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
    if word.lower not in {"date", "dates", "year", "years", "month", "months", "week", "weeks", "quarter"}:
        return []
    return [i for i, p in enumerate(book.pieces) if any(c.temporal for c in p.columns)]


def _shows_text(book: Ledger) -> bool:
    return any(
        c.text or is_identifier(c) for i in book.of_kind("shape", "by") for c in book.pieces[i].columns
    )


def _describes_rows(book: Ledger, at: int, word: Word) -> list[int]:
    """`the production code of the episode written by X`: in a lookup, what the row is called in passing.

    Only where the column that is asked for and a condition are both said, and the word is no cell and no number column.
    """
    rows = book.where(lambda p: p.path == ("table",))
    pieces = [book.pieces[i] for i in book.of_kind("shape", "by", "measure") if book.pieces[i].columns]
    if len(pieces) != 1 or "count" in pieces[0].does or word.lower in ASIDE or not _is_noun(book, at, word):
        return []
    named = any(w.stem in c.stems for w in book.words for c in pieces[0].columns)
    if not named or not book.asked & set(book.of_kind("where")):
        return []
    passed = [i for i in range(at) if book.bound[i] == set(rows)]
    columns = [c for t in book.index.tables for c in t.columns if not c.text]
    claimed = any(names_column(word.stem, c) >= _NAMED for c in columns) or book.index.find_value(word.text)
    return [] if claimed or len(passed) >= _MOST_PASSED else rows


def _heads_count(book: Ledger, at: int, word: Word) -> list[int]:
    """`how many children were under 10`: an unknown plural that is counted is the row, under a condition."""
    counted = book.lower(at - 1) == "many" or (book.lower(at - 1) == "of" and book.lower(at - 2) == "number")
    plural = word.text.islower() and (word.lower.endswith("s") or word.lower != word.stem)
    rows = book.where(lambda p: p.path == ("table",))
    said = any(book.words_of(i) for i in rows) or not book.asked & set(book.of_kind("where"))
    if not counted or not plural or said or not any("count" in p.does and not p.columns for p in book.pieces):
        return []
    columns = (c for t in book.index.tables for c in t.columns)
    known = any(names_column(word.stem, c) >= _NAMED for c in columns)
    tables = any(names_table(word.stem, t) >= _NAMED for t in book.index.tables)
    return [] if known or tables or book.index.find_value(word.text) else rows


def _is_noun(book: Ledger, at: int, word: Word) -> bool:
    """Not a person's name: in lower case, or a common noun after an article."""
    if word.text[:1].islower() or at == 0:
        return True
    return word.stem in ENTITIES and book.lower(at - 1) in {"the", "a", "an"}


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
    if book.lower(at) != "new" or at + 1 >= len(book.words):
        return []
    if book.doing("count_distinct"):
        # Customers are new where their first row is.
        return [i for i in book.of_kind("where") if {"min", "within"} <= book.pieces[i].does]
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
        letters = [c for c in book.reading.text if c.isalpha()]
        return sum(c.isupper() for c in letters) < len(letters) / 2
    hits = [hit for hit in book.index.find_value(word.text) if hit.value == word.text]
    if at > 0:
        return bool(hits)
    columns = [c for hit in hits if (c := book.index.column(hit.table, hit.column)) is not None]
    return len(book.words) > 1 and any(names_column(book.words[1].stem, c) >= _NAMED for c in columns)


def lists_amounts(book: Ledger) -> tuple[int, int] | None:
    """`fares in September` answered with every single fare: neither added up nor listed on purpose."""
    shown = [i for i in book.of_kind("shape", "by") if book.pieces[i].columns]
    ordered = book.of_kind("order", "limit", "measure")
    asked = {w.lower for w in book.words} & {"what", "which", "what's", "name"}
    looked_up = bool(asked) and book.lower(1) not in {"did", "do", "does"}
    if not shown or ordered or looked_up or any(w.lower in _LISTING for w in book.words):
        return None
    columns = [c for i in shown for c in book.pieces[i].columns]
    if not all(is_measure(c) for c in columns):
        return None
    if any(names_one(book, book.pieces[i]) for i in book.of_kind("where")):
        return None
    for at, word in enumerate(book.words):
        plural = word.lower.endswith("s") and word.lower != word.stem
        if plural and any(names_column(word.stem, c) >= _NAMED for c in columns):
            return at, at + 1
    return None
