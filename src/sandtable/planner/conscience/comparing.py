"""Numbers and comparing words: bound to conditions, limits and places."""

from __future__ import annotations

import re

from sandtable.planner.conscience.ledger import Ledger, comparisons_in
from sandtable.planner.conscience.naming import names_column
from sandtable.planner.conscience.pieces import Piece
from sandtable.planner.conscience.quantities import directions, has_number, same_number
from sandtable.planner.conscience.terms import AGAINST, COMPARATIVES
from sandtable.planner.conscience.units import Unit, unit_named, unit_of, unit_of_two
from sandtable.planner.language.numbers import Comparison
from sandtable.planner.language.words import Number, split_name, stem
from sandtable.planner.schema.columns import is_identifier, is_rank, truth

_A_UNIT = re.compile(
    r"(?P<op>more than|less than|longer than|shorter than|at least|at most|over|under|older than|younger than|"
    r"exceed(?:s|ed|ing)?|up to|no more than|below|above|(?P<within>within)) "
    r"(?P<n>a|an|one|(?(within)\d[\d.]*|one)) (?P<unit>[a-z]+)(?= |$)"
)
_OPS = {"at least": ">=", "at most": "<=", "up to": "<=", "no more than": "<=", "within": "<="}
_LESS = frozenset({"less than", "shorter than", "under", "younger than", "below"})
_NTH = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")
_BEFORE_NAME = {
    "above": ">", "over": ">", "exceeding": ">", "after": ">", "below": "<", "under": "<", "before": "<", "top": "<=",
}  # fmt: skip
_TIMES = {"once": 1.0, "twice": 2.0}
_RANKED = frozenset("top bottom first last best worst".split())
_YES_NO = frozenset("is are was were do does did has have had".split())
_OTHERS = frozenset({"others", "other", "rest", "remainder"})
_SPLIT = frozenset(stem(w) for w in "differ differs split divided divide vary distributed shared".split())
_VERSUS = frozenset({"vs", "versus", "against", "compare", "compares", "compared", "comparing", "comparison"})


def bind_numbers(book: Ledger) -> None:
    _a_unit(book)
    for comparison in comparisons_in(book.reading.text):
        if any(book.open(at) for n in comparison.numbers for at in range(n.start, n.end)):
            _comparison(book, comparison)
    for at in range(len(book.words)):
        one = book.lower(at) == "one" and book.lower(at - 1) in {"only", "just", "exactly"}
        if book.open(at) and (book.lower(at) in _TIMES or one):
            _times(book, at)
        elif book.open(at) and (found := _NTH.fullmatch(book.lower(at))) is not None:
            _percentile(book, at, int(found[1]))
        elif book.open(at) and book.lower(at) == "half" and book.doing("share"):
            start = at - 2 if book.lower(at - 1) == "than" else at
            book.bind(start, at + 1, book.doing("share"))


def _unit_after(book: Ledger, end: int) -> tuple[Unit | None, int]:
    """The unit that stands behind a number, and the word after it."""
    if book.lower(end) in {"-", "/"}:
        end += 1
    word = book.words[end].stem if end < len(book.words) else ""
    after = book.words[end + 1].stem if end + 1 < len(book.words) else ""
    if (two := unit_of_two(book.lower(end), after)) is not None:
        return two, end + 2
    unit = unit_named(word) if word else None
    return unit, end + 1 if unit is not None else end


def _a_unit(book: Ledger) -> None:
    """`more than a day`: one of that unit, in the unit of the column."""
    for start, end, match in book.reading.find(_A_UNIT):
        unit = unit_named(book.words[end - 1].stem)
        if unit is None or book.settled[end - 1]:
            continue
        said = match["op"]
        op = _OPS.get(said, "<" if said in _LESS else ">")
        number = float(match["n"]) if match["n"][0].isdigit() else 1.0
        fitting = [
            i for i in book.of_kind("where")
            if has_number(book.pieces[i], number, unit, percent=False) and directions(op, book.pieces[i].op)
        ]  # fmt: skip
        if fitting:
            book.bind(start, end, fitting)
        elif not match["n"][0].isdigit():
            book.mark_unbound("comparison", start, end, "no condition of the plan compares with that")


def _comparison(book: Ledger, said: Comparison) -> None:
    unit, after = _unit_after(book, said.numbers[-1].end)
    if unit is None and said.numbers[-1].currency:
        span = range(said.numbers[-1].start, said.numbers[-1].end)
        unit = next((u for at in span if (u := unit_named(book.words[at].stem)) is not None), None)
    percent = any(n.percent for n in said.numbers)
    holding = [
        i for i in book.of_kind("where")
        if all(has_number(book.pieces[i], n.value, unit, percent=percent) for n in said.numbers)
    ]  # fmt: skip
    if not holding and len(said.numbers) == 2:
        holding = _both_ends(book, said.numbers, unit, percent)
    fitting = [i for i in holding if _fits(book, book.pieces[i], said)]
    fitting = fitting or book.where(lambda p: _counts_rows(p, said))
    start, end = said.start, max(said.end, after if unit and unit.kind >= 0 else said.end)
    if unit is not None and fitting:
        end = max(end, after)
    if fitting:
        book.bind(start, end, fitting)
        return
    if holding and not said.plain:
        book.mark_unbound("comparison", start, end, "the plan compares the other way")
        return
    if not said.plain and _answers_yes_no(book, said):
        return
    _plain_number(book, said, start, end, unit)


def _fits(book: Ledger, piece: Piece, said: Comparison) -> bool:
    if piece.op in {"<", ">", "<=", ">="} and any(truth(c) is not None for c in piece.columns[:1]):
        return "having" in piece.does
    if said.plain and piece.op in _BEFORE_NAME.values():
        return _is_before_name(book, piece, said)
    if said.plain and not _is_said_of(book, piece, said):
        return False
    if said.plain:
        # `orders of 50`: an equality; without a comparing word no other operator is meant.
        return piece.op in {"=", "in", "contains", "!=", "not_in", "between"} or "rank" in piece.does
    return directions(said.op, piece.op, negative=piece.is_negated)


def _counts_rows(piece: Piece, said: Comparison) -> bool:
    """`more than 2 repairs`: at least 3 rows of another table."""
    if "exists" not in piece.does or said.plain or len(said.numbers) != 1:
        return False
    op, more = {">": (">=", 1), "<=": ("<", 1)}.get(said.op, (said.op, 0))
    same = same_number(said.numbers[0].value + more, piece.values[0])
    return same and directions(op, piece.op, negative=piece.is_negated)


def _is_before_name(book: Ledger, piece: Piece, said: Comparison) -> bool:
    """`above age 20`, `the top 3`: the comparing word stands before the name of the column, or says a place."""
    if book.lower(said.start - 1) == "top":
        return piece.op == "<=" and any(is_rank(c) for c in piece.columns)
    op = _BEFORE_NAME.get(book.lower(said.start - 2))
    if op != piece.op or book.naming(said.start - 1, piece) < 0.7:
        return False
    book.bind(said.start - 2, said.start, [book.pieces.index(piece)])
    return True


def _is_said_of(book: Ledger, piece: Piece, said: Comparison) -> bool:
    """A bare number is about a column that is named, that holds codes, or whose unit stands beside it."""
    if "rank" in piece.does or not piece.columns or not piece.columns[0].numeric:
        return True
    column = piece.columns[0]
    number = said.numbers[0].value
    if is_identifier(column) or abs(number) >= 1000 or not float(number).is_integer():
        return True
    unit = unit_named(book.words[said.end].stem) if said.end < len(book.words) else None
    if unit is not None and (own := unit_of(column)) is not None and own.kind == unit.kind:
        return True
    if book.stems & set(column.stems):
        return True
    return any(book.says(at) and names_column(w.stem, column) >= 0.7 for at, w in enumerate(book.words))


def _both_ends(book: Ledger, numbers: tuple[Number, ...], unit: Unit | None, percent: bool) -> list[int]:
    low = [
        i
        for i in book.of_kind("where")
        if has_number(book.pieces[i], numbers[0].value, unit, percent=percent)
    ]
    high = [
        i
        for i in book.of_kind("where")
        if has_number(book.pieces[i], numbers[1].value, unit, percent=percent)
    ]
    up = [i for i in low if book.pieces[i].op in {">", ">="}]
    down = [i for i in high if book.pieces[i].op in {"<", "<="}]
    return [*up, *down] if up and down else []


def _answers_yes_no(book: Ledger, said: Comparison) -> bool:
    """`are there more than 30 …?`: the number itself is the answer, and the words compare it."""
    measures = book.of_kind("measure")
    grouped = book.of_kind("by")
    if book.lower(0) in _YES_NO and len(measures) == 1 and not grouped:
        book.bind(said.start, said.end, measures)
        return True
    return False


def _plain_number(book: Ledger, said: Comparison, start: int, end: int, unit: Unit | None) -> None:
    number = said.numbers[0]
    value = number.value
    limits = [i for i in book.of_kind("limit") if book.pieces[i].number == value]
    if said.plain and limits and (unit is None or book.lower(start - 1) in _RANKED):
        book.bind(start, said.end, limits)
        return
    marked = [i for i, p in enumerate(book.pieces) if p.number is not None and p.kind != "limit" and
              value in {p.number, p.number * 100}]  # fmt: skip
    factors = [i for i, p in enumerate(book.pieces) if value in p.factors]
    text = book.reading.written(number.start, number.end)
    inside = book.where(
        lambda p: (
            any(isinstance(v, str) and text in v.split() for v in p.values)
            or any(text in c.words or stem(text) in c.stems for c in p.columns)
        )
    )
    chosen = marked or factors or inside
    if chosen:
        book.bind(start, said.end, chosen)
    elif number.spelled and value == 0 and said.plain:
        return  # `zero guests` is read with the negations.
    elif number.spelled and value <= 1 and said.plain and book.lower(start - 1) not in {"only", "just"}:
        book.put_aside(number.start, number.end)
    elif said.plain:
        book.mark_unbound("number", number.start, end, "no part of the plan has this number")
    else:
        book.mark_unbound("comparison", start, end, "no condition of the plan compares with that")


def _percentile(book: Ledger, at: int, value: int) -> None:
    """`the 90th percentile`; other ordinals are places, and read as such."""
    fitting = [i for i in book.doing("quantile") if book.pieces[i].number == value / 100]
    if fitting:
        book.bind(at, at + 1, fitting)


def _times(book: Ledger, at: int) -> None:
    value = _TIMES.get(book.lower(at), 1.0)
    if value == 1 and book.lower(at - 1) == "least" and book.lower(at - 2) == "at":
        # What is counted at all is there at least once.
        book.put_aside(at - 2, at + 1)
        return
    fitting = [i for i in book.of_kind("where") if has_number(book.pieces[i], value, None, percent=False)]
    before = {book.lower(at - 1), book.lower(at - 2)}
    if "than" in before:
        fitting = [i for i in fitting if book.pieces[i].op in {">", ">="}]
        fitting += [
            i
            for i in book.of_kind("where")
            if value + 1 in book.pieces[i].values and book.pieces[i].op == ">="
        ]
        at_start = at - 2 if book.lower(at - 2) in {"more", "less"} else at
    else:
        at_start = at
    if fitting:
        book.bind(at_start, at + 1, fitting)
    else:
        book.mark_unbound("comparison", at_start, at + 1, "no condition of the plan counts that often")


def bind_comparisons(book: Ledger) -> None:
    """Comparing words that no number follows: two columns, two groups, two periods, the average."""
    for at in range(len(book.words)):
        if not book.open(at):
            continue
        word = book.lower(at)
        called = [
            i for i, p in enumerate(book.pieces) if any(book.words[at].stem in c.stems for c in p.columns)
        ]
        if word in _OTHERS and (sides := two_sides(book)):
            book.bind(at, at + 1, sides)
            continue
        if called and word in _VERSUS | AGAINST:
            book.bind(at, at + 1, called, named=True)
        elif word in _VERSUS:
            _side_by_side(book, at)
        elif word in COMPARATIVES or word in AGAINST:
            _column_against(book, at)
        elif word == "between":
            fitting = book.where(
                lambda p: bool(p.does & {"difference", "correlation", "change", "or"}) or p.op == "between"
            )
            if not fitting and (book.stems & _SPLIT or _VERSUS & set(map(book.lower, range(at)))):
                fitting = book.of_kind("by") if book.of_kind("measure") else []
            if fitting:
                book.bind(at, at + 1, fitting)
            else:
                book.mark_unbound("comparison", at, at + 1, "the plan compares nothing of this kind")
        elif word in {">", "<", "=", "≥", "≤"}:
            book.mark_unbound("comparison", at, at + 1, "no condition of the plan compares so")


def _side_by_side(book: Ledger, at: int) -> None:
    following = book.next_said(at)
    opposed = (
        {i for i in book.bound[following] if book.pieces[i].kind == "where"}
        if following is not None
        else set[int]()
    )
    if book.lower(at) == "against" and opposed:
        book.bind(at, at + 1, opposed)
        return
    several = book.where(
        lambda p: "or" in p.does or p.compares_rows or bool(p.does & {"change", "ratio", "correlation"})
    )
    measures = [i for i in book.of_kind("measure") if not book.pieces[i].does & {"share"}]
    pairs = measures if len(measures) > 1 else []
    groups = book.of_kind("by") if not book.of_kind("where") else []
    shown = [i for i in book.of_kind("shape") if book.pieces[i].columns]
    chosen = several or pairs or groups or (shown if len(shown) > 1 else [])
    if chosen:
        book.bind(at, at + 1, chosen)
        if book.lower(at + 1) in {"to", "with"}:
            book.bind(at + 1, at + 2, chosen)
    else:
        book.mark_unbound("comparison", at, at + 1, "the plan sets nothing side by side")


def _column_against(book: Ledger, at: int) -> None:
    word = book.lower(at)
    if word in {"more", "less", "fewer", "than"} and _is_superlative_beside(book, at):
        return
    fitting = book.where(lambda p: p.compares_rows or bool(p.does & {"correlation", "change", "difference"}))
    if not fitting and book.lower(at - 1) in {"many", "much"}:
        # `how many more points did A get than B`: the difference is asked for.
        book.mark_unbound("comparison", at, at + 1, "the plan computes no difference")
        return
    if not fitting and book.of_kind("limit") and word not in AGAINST:
        # `which of the two has more`: the one that comes first.
        up = word not in {
            "less",
            "fewer",
            "lower",
            "smaller",
            "shorter",
            "younger",
            "cheaper",
            "worse",
            "earlier",
        }
        fitting = [i for i in book.of_kind("order") if ("desc" in book.pieces[i].does) == up] + book.of_kind(
            "limit"
        )
        fitting = fitting if len(fitting) > len(book.of_kind("limit")) else []
    if not fitting:
        fitting = book.where(lambda p: "or" in p.does and p.kind == "where")
    if not fitting and _asks_yes_or_no(book):
        # `is A higher than B`: both values are shown, each under its name.
        measures = book.of_kind("measure")
        fitting = measures if len(measures) > 1 else two_sides(book)
        if not fitting and measures and book.lower(at + 1) != "than" and word not in AGAINST:
            # `do we sell more on Mondays? by weekday`: the groups are read side by side.
            fitting = book.of_kind("by")
    if fitting:
        book.bind(at, at + 1, fitting)
        return
    if word in {"above", "below"} and any(book.bound[i] for i in (at + 1, at + 2) if i < len(book.words)):
        beside = [p for i in (at + 1, at + 2) if i < len(book.words) for p in book.bound[i]]
        if any(book.pieces[p].kind == "where" for p in beside):
            book.bind(at, at + 1, beside)
            return
    end = at + 2 if book.lower(at + 1) == "than" and book.open(at + 1) else at + 1
    book.mark_unbound("comparison", at, end, "the plan compares nothing of this kind")


def _asks_yes_or_no(book: Ledger) -> bool:
    """`is …`, `in 2025, did …`: the verb comes first, in the question or after a comma."""
    return any(
        book.lower(at) in _YES_NO and (at == 0 or book.lower(at - 1) in {",", ":", "so", "and"})
        for at in range(len(book.words))
    )


def two_sides(book: Ledger) -> list[int]:
    """`do members spend more than the others`: groups of yes and no, of two values, or of the years that are named."""
    if not book.of_kind("measure"):
        return []

    def has_two(piece: Piece) -> bool:
        if piece.kind != "by" or len(piece.columns) != 1:
            return False
        column = piece.columns[0]
        held = column.profile.distinct if column.profile is not None else None
        named = any("or" in p.does and set(p.columns) == {column} for p in book.pieces)
        return truth(column) is not None or column.boolean or held == 2 or named or "bucket" in piece.does

    found = book.where(has_two)
    return found if len(found) == 1 and _is_spoken_of(book, found[0]) else []


def _is_spoken_of(book: Ledger, number: int) -> bool:
    """Whether the question names the groups: their column, one of its values, or periods."""
    piece = book.pieces[number]
    if "bucket" in piece.does or book.places_of(number):
        return True
    held = piece.columns[0].profile.values if piece.columns[0].profile is not None else ()
    said = {stem(word) for each in held for word in split_name(str(each.value))}
    return bool(said & book.stems)


def _is_superlative_beside(book: Ledger, at: int) -> bool:
    """`more than once` was read as a number already."""
    return any(book.bound[i] for i in (at - 1, at + 1) if 0 <= i < len(book.words)) and book.settled[at]
