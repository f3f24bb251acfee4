"""Words that are values, flags or quoted text: bound to the conditions that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from sandtable.planner.conscience.ledger import Ledger
from sandtable.planner.conscience.naming import closeness, names_column, names_table, said_of, significant
from sandtable.planner.conscience.pieces import Piece, is_flag
from sandtable.planner.conscience.terms import ASIDE, OUTCOMES
from sandtable.planner.language.demonyms import COUNTRIES
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.spelling import tolerated, within
from sandtable.planner.language.vocabulary import ROW_NOUNS
from sandtable.planner.language.words import split_words, value_key

_QUOTED = re.compile(r"[\"“”«]([^\"“”»]{1,200})[\"“”»]|(?<!\w)['‘`]([^'’`]{1,200})['’`](?!\w)")
_LONGEST = 14
_SEXES = {
    "women": "fw", "woman": "fw", "girls": "fg", "ladies": "f", "females": "f", "female": "f", "men": "m", "man": "m",
    "boys": "mb", "males": "m", "male": "m", "gentlemen": "m",
}  # fmt: skip


def bind_values(book: Ledger) -> None:
    keys = _span_keys(book.reading.text)
    for number, piece in enumerate(book.pieces):
        if piece.kind != "where":
            continue
        if is_flag(piece):
            _bind_flag(book, number, piece)
        for value in piece.values:
            if isinstance(value, str):
                _bind_text(book, number, piece, value, keys)
    _bind_long_names(book)
    _bind_joined_names(book)
    _quoted(book)


@lru_cache(maxsize=64)
def _span_keys(question: str) -> dict[str, list[tuple[int, int]]]:
    """Where the question has what may be a value, by the key of the value."""
    reading = Reading.of(question)
    words = reading.words
    keys: dict[str, list[tuple[int, int]]] = {}
    for start in range(len(words)):
        if words[start].is_symbol:
            continue
        text = ""
        for end in range(start + 1, min(len(words), start + _LONGEST) + 1):
            if end - start > 1 and words[end - 1].start - words[end - 2].end > 2:
                break
            text = reading.written(start, end)
            keys.setdefault(value_key(text), []).append((start, end))
    return keys


def _bind_text(
    book: Ledger, number: int, piece: Piece, value: str, keys: dict[str, list[tuple[int, int]]]
) -> None:
    if not _occurs(piece, value):
        return
    key = value_key(value)
    forms = [
        key,
        f"{key}s",
        f"{key}es",
        f"{key[:-1]}ies" if key.endswith("y") else key,
        key.removesuffix("s"),
    ]
    for form in forms:
        spans = [s for s in keys.get(form, ()) if not _is_row_noun(book, *s)] if form else []
        for start, end in spans:
            book.bind(start, end, [number])
        if spans:
            return
    if _bind_slip(book, number, key, keys) or _bind_demonym(book, number, value):
        return
    parts = [w for w in split_words(value) if not w.is_symbol]
    telling = [w for w in parts if w.lower not in ASIDE] or parts
    found: dict[int, set[int]] = {}
    exact = 0
    for place, part in enumerate(telling):
        for at, word in enumerate(book.words):
            close = 1.0 if word.stem == part.stem else closeness(word.stem, part.stem)
            plain = word.stem in ROW_NOUNS and not word.text[0].isupper()
            if (
                close >= 0.7
                and not word.is_symbol
                and not plain
                and (close == 1.0 or word.lower not in ASIDE)
            ):
                found.setdefault(place, set()).add(at)
                exact += word.lower == part.lower or len(telling) == 1
    if telling and (2 * len(found) > len(telling) or (2 * len(found) == len(telling) and exact)):
        for places in found.values():
            for at in places:
                book.bind(at, at + 1, [number])
        return
    _bind_code(book, number, value, telling_initials(value))


def _bind_joined_names(book: Ledger) -> None:
    """`PM2.5` where a column is called pm25: words and signs without a blank between them spell the name."""
    words = book.words
    for start in range(len(words)):
        end = start + 1
        while end < len(words) and words[end].start == words[end - 1].end:
            end += 1
        if (
            end - start < 3
            or words[start].is_symbol
            or (start and words[start].start == words[start - 1].end)
        ):
            continue
        while words[end - 1].is_symbol:
            end -= 1
        key = "".join(word.lower for word in words[start:end] if not word.is_symbol)
        if len(key) < 3 or key.isdigit():
            continue
        named = book.where(lambda p, k=key: any("".join(c.words) == k for c in p.columns))
        if named:
            book.bind(start, end, named, named=True)


def _bind_demonym(book: Ledger, number: int, value: str) -> bool:
    """`French airports` where the country is France."""
    places = [
        at
        for at, word in enumerate(book.words)
        if word.text[:1].isupper() and COUNTRIES.get(word.lower, "").lower() == value.lower()
    ]
    for at in places:
        book.bind(at, at + 1, [number])
    return bool(places)


def _bind_slip(book: Ledger, number: int, key: str, keys: dict[str, list[tuple[int, int]]]) -> bool:
    """The whole value with a typo."""
    most = tolerated(len(key)) if len(key) > 4 and key.isalpha() else 0
    near = [form for form in keys if most and form[:1] == key[:1] and within(form, key, most) is not None]
    for start, end in (span for form in near for span in keys[form]):
        book.bind(start, end, [number])
    return bool(near)


def _is_row_noun(book: Ledger, start: int, end: int) -> bool:
    """`how many people …`: the plain word is no department of that name."""
    word = book.words[start]
    return end == start + 1 and word.stem in ROW_NOUNS and not word.text[0].isupper()


def _occurs(piece: Piece, value: str) -> bool:
    """Whether any row can have this value, as far as all values of the column are known."""
    column = piece.columns[0] if len(piece.columns) == 1 else None
    if column is None or column.profile is None or not column.profile.complete or not column.text:
        return True
    held = [str(v.value).lower() for v in column.profile.values]
    return any(value.lower() in text for text in held)


def telling_initials(value: str) -> str:
    parts = [w for w in split_words(value) if not w.is_symbol]
    return "".join(w.lower[0] for w in parts) if len(parts) > 1 else ""


def _bind_code(book: Ledger, number: int, value: str, initials: str) -> None:
    """`women` for F, `US` for United States."""
    for at, word in enumerate(book.words):
        if OUTCOMES.get(word.stem) == value.lower():
            book.bind(at, at + 1, [number])
        sex = _SEXES.get(word.lower)
        if sex and value[:1].lower() in sex:
            book.bind(at, at + 1, [number])
        if initials and word.lower == initials and word.text.isupper():
            book.bind(at, at + 1, [number])


def _bind_flag(book: Ledger, number: int, piece: Piece) -> None:
    """A yes/no column is asked for by its name: most of its words must be there."""
    column = piece.columns[0]
    for start, end in _spoken(book, column.stems):
        book.bind(start, end, [number])
    if said_of(book.stems, column) <= 0.5 and len(significant(column)) > 1 and not piece.negative:
        telling = frozenset(w.stem for w in book.words if not _names_rows(book, w.stem)) & set(
            significant(column)
        )
        if not telling:
            return
    for at, word in enumerate(book.words):
        within_name = word.lower in column.words and word.lower not in ASIDE
        verb = at > 0 and len(word.lower) > 4 and column.stems == (word.stem,)
        if (book.says(at) and names_column(word.stem, column) >= 0.7) or within_name or verb:
            book.bind(at, at + 1, [number])


def _names_rows(book: Ledger, word: str) -> bool:
    return any(p.table is not None and names_table(word, p.table) >= 0.7 for p in book.pieces)


def _bind_long_names(book: Ledger) -> None:
    """`price per night`: words that only link elsewhere belong to the name when all of it is said."""
    for number, piece in enumerate(book.pieces):
        _bind_table_name(book, number, piece)
        for column in piece.columns if "all" not in piece.does else ():
            _bind_name(book, number, column.stems)


def _bind_name(book: Ledger, number: int, stems: tuple[str, ...]) -> None:
    for start, end in _spoken(book, stems):
        book.bind(start, end, [number], named=True)


def _spoken(book: Ledger, stems: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """All words of a name in their order, signs between them aside; a single one only when it is a number (`2004`).

    So a name is found that consists of words which mean nothing elsewhere: `called off`, `on display`.
    """
    said = [at for at, word in enumerate(book.words) if not word.is_symbol]
    wide = len(stems)
    if wide == 1 and not stems[0].isdigit():
        return
    for first in range(len(said) - wide + 1):
        places = said[first : first + wide]
        if (
            all(book.words[at].stem == stems[i] for i, at in enumerate(places))
            and places[-1] - places[0] < 2 * wide
        ):
            yield places[0], places[-1] + 1


def _bind_table_name(book: Ledger, number: int, piece: Piece) -> None:
    """`top customers` where a table is called that."""
    stems = piece.table.stems if piece.table is not None else ()
    for start in range(len(book.words) - len(stems) + 1 if len(stems) > 1 else 0):
        if all(book.words[start + i].stem == stems[i] for i in range(len(stems))):
            book.bind(start, start + len(stems), [number])


def _quoted(book: Ledger) -> None:
    for match in _QUOTED.finditer(book.reading.text):
        begin, finish = match.span()
        span = [i for i, w in enumerate(book.words) if begin <= w.start and w.end <= finish]
        inside = [i for i in span if not book.words[i].is_symbol]
        if not inside:
            continue
        text = (match.group(1) or match.group(2)).strip()
        numbers = [i for i in book.of_kind("where") if text in map(str, book.pieces[i].values)]
        if numbers:
            book.bind(span[0], span[-1] + 1, numbers)
        elif any(book.settled[i] for i in inside):
            chosen = set[int]().union(*(book.bound[i] for i in inside))
            book.bind(span[0], span[-1] + 1, chosen)
        else:
            book.mark_unbound("quoted", inside[0], inside[-1] + 1, "no condition of the plan has this text")
