"""Units requested for the answer, and words that are units elsewhere: bound to conversions, periods and names."""

from __future__ import annotations

from sandtable.planner.conscience.ledger import Ledger
from sandtable.planner.conscience.naming import names_column, names_table
from sandtable.planner.conscience.quantities import is_converted
from sandtable.planner.conscience.time_phrases import ADVERBS
from sandtable.planner.conscience.units import UNIT_WORDS, Unit, unit_named, unit_of, unit_of_two
from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import is_identifier, is_year
from sandtable.planner.schema.entries import ColumnEntry

_OF_ONE = frozenset({"a", "an", "per", "each", "every"})
_CLOCK = frozenset({"hour_of_day", "hour_name"})
_WEEK = frozenset({"day_of_week", "day_name"})
_EXTENTS = {
    3: frozenset(stem(w) for w in "volume capacity".split()),
    6: frozenset(stem(w) for w in "area surface size space".split()),
}
"""Words for what is measured in volumes and areas, by the kind of unit."""
_PERIODS = frozenset({"day", "week", "month", "quarter", "year"})


def bind_units(book: Ledger) -> None:
    """`in hours`, `in thousands`: the unit requested for the answer."""
    for at, word in enumerate(book.words):
        if not book.open(at) or word.stem not in UNIT_WORDS:
            continue
        asked = (
            book.lower(at - 1) in {"in", "as"}
            or at == len(book.words) - 1
            or book.lower(at + 1) in {"please", "pls"}
        )
        unit = unit_of_two(book.lower(at - 1), word.stem) or unit_named(word.stem)
        if _is_of_area(book, at, unit):
            continue
        if _is_period(book, at) or (not asked and word.stem in _PERIODS):
            continue
        if unit is not None and _is_of_another(book, at, unit):
            continue
        named = [i for i, p in enumerate(book.pieces) if book.naming(at, p) >= 0.9]
        if unit is None:
            factors = book.where(lambda p: any(f in {1e-3, 1e3, 1e6, 1e-6} for f in p.factors))
            if factors:
                book.bind(at, at + 1, factors)
            elif not named:
                book.mark_unbound("unit", at, at + 1, "the plan gives other units")
            continue
        shown = [
            i for i in book.of_kind("measure", "shape", "by", "order") if is_converted(book.pieces[i], unit)
        ]
        if shown:
            book.bind(at, at + 1, shown)
        elif named:
            book.bind(at, at + 1, named)
        elif asked or unit.kind >= 0:
            book.mark_unbound("unit", at, at + 1, "the plan gives other units")


def _is_of_area(book: Ledger, at: int, unit: Unit | None) -> bool:
    """`square metres` of a column in these, or of an area whose unit is unknown."""
    two = unit_of_two(book.lower(at - 1), book.words[at].stem)
    if unit is None or two is None:
        return False
    fitting = book.where(
        lambda p: is_converted(p, unit)
        or any(unit_of(c) is None and set(c.stems) & _EXTENTS.get(unit.kind, frozenset()) for c in p.columns)
    )  # fmt: skip
    if fitting:
        book.bind(at - 1, at + 1, fitting)
    return bool(fitting)


def _is_of_another(book: Ledger, at: int, unit: Unit) -> bool:
    """`800 a month` of a monthly rent, `the price of a tonne`, meters that are things, rows that are hours."""
    word = book.words[at].stem
    adverb = stem(ADVERBS.get(word, word))
    one = book.lower(at - 1) in _OF_ONE or (book.lower(at - 1) == "the" and book.lower(at - 2) == "by")
    found = book.where(
        lambda p: (one and any(adverb in c.stems or _is_per(c, word, unit) for c in p.columns))
        or (p.table is not None and p.kind in {"shape", "where"} and names_table(word, p.table) >= 0.75)
        or any(is_identifier(c) and names_column(word, c) >= 0.75 for c in p.columns)
    )  # fmt: skip
    hours = adverb != word and book.doing("count", "share") and not book.doing("sum")
    if not found and hours:
        found = book.where(lambda p: p.table is not None and adverb in p.table.stems)
    if found:
        book.bind(at, at + 1, found, named=True)
    return bool(found)


def _is_per(column: ColumnEntry, word: str, unit: Unit) -> bool:
    """A price of one such unit: `cost_per_kg`, `eur_t`."""
    money = any((u := unit_named(s)) is not None and u.kind == -1 for s in column.stems)
    said = any(
        (u := unit_named(s)) is not None and (u.kind, u.factor) == (unit.kind, unit.factor)
        for s in column.stems
    )
    return said and ("per" in column.words or money or word in column.stems)


def _is_period(book: Ledger, at: int) -> bool:
    """`over the months`, `title and year`: periods that the plan shows."""
    unit = book.words[at].stem
    clock = unit == "hour" or (
        unit == "day" and book.lower(at - 2) == "hour" and book.lower(at - 1) in {"of", "the"}
    )
    clock = clock or (unit == "day" and book.lower(at - 3) == "hour" and book.lower(at - 1) == "the")
    week = (
        unit == "week"
        and "day" in {book.lower(at - 2), book.lower(at - 3)}
        and book.lower(at - 1) in {"of", "the"}
    )
    also = _CLOCK if clock else _WEEK if week else frozenset[str]()
    fitting = book.where(
        lambda p: "bucket" in p.does and (any(stem(mark) == unit for mark in p.does) or bool(p.does & also))
    )
    if unit == "year" and not fitting:
        fitting = book.where(
            lambda p: p.kind in {"shape", "by", "measure"} and any(is_year(c) for c in p.columns)
        )
    if fitting:
        book.bind(at, at + 1, fitting)
    return bool(fitting)
