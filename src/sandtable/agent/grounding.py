"""Whether a sentence that a model wrote says only numbers that the run returned.

Invariant: strict. A number that is not a cell of the run (rounded as it is written) or in the plainly made
sentence makes the whole wording ungrounded, and so do number words, multiples, odd digits, links and markup.
A wording wrongly refused costs nothing: the plain sentence is said instead.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from sandtable.sandbox.job import ResultColumn

LONGEST = 1_500
LONGEST_QUOTED = 80
MOST_OFF = Decimal("0.05")
"""However few digits are written, they are not further from the cell than this share of it."""

_MARKUP = re.compile(r"https?:|www\.|://|\]\s*\(|\]\s*\[|!\[|<[a-z/!]|&#|javascript:|data:", re.IGNORECASE)
_NUMBER = re.compile(
    r"""(?P<sign>[-−–](?=[\d.]))?
        (?P<digits>\d{1,3}(?:(?:,\d{3})+|(?:[\u00a0\u202f\u2009\ ']\d{3})+)(?!\d)(?:\.\d+)?|\d+(?:[.,]\d+)?|\.\d+)
        (?P<power>[eE][+-]?\d+)?
        \s?(?P<scale>%|percent\b|per\ cent\b|k\b|m\b|mn\b|bn\b|b\b|thousand\b|million\b|billion\b|trillion\b)?""",
    re.VERBOSE | re.IGNORECASE,
)
_SCALES = {
    "k": 10**3, "thousand": 10**3, "m": 10**6, "mn": 10**6, "million": 10**6,
    "b": 10**9, "bn": 10**9, "billion": 10**9, "trillion": 10**12,
}  # fmt: skip
_PERCENT = frozenset({"%", "percent", "per cent"})
_WORDS = re.compile(
    r"""\b(?:zero|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty
        |sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?|billions?|trillions?|dozens?|half|halves|halved
        |halving|thirds?|quarters?\ of|fifths?|tenths?|twice|thrice|doubl\w+|tripl\w+|quadrupl\w+
        |\w+fold|none|nil)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_MONTHS = ("", "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")  # fmt: skip
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DATED = re.compile(rf"\b{_MONTH}[a-z]*\.? \d|\d (?:of )?{_MONTH}|\b(?:Q[1-4]|H[12]),? \d")
_DATE = re.compile(r"^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2}))?")


def grounded(text: str, plain: str, columns: Sequence[ResultColumn], rows: Sequence[Sequence[Any]]) -> bool:
    """Whether `text` may be said in place of `plain` about these rows."""
    if not text.strip() or len(text) > LONGEST or _MARKUP.search(text) or _odd(text, plain):
        return False
    quotable = _quotable(rows, columns)
    left = _struck(text, quotable)
    if any(not _in(word, plain) for word in _WORDS.findall(_NUMBER.sub(" ", left))):
        return False
    said = frozenset(_claims(plain))
    cells = [value for row in rows for cell in row if (value := _number(cell)) is not None]
    return all(_vouched(claim, said, cells) for claim in _claims(left))


@dataclass(frozen=True, slots=True)
class _Claim:
    value: Decimal
    unit: Decimal
    """What one step of the last digit written is worth."""
    percent: bool


def _claims(text: str) -> Iterable[_Claim]:
    for found in _NUMBER.finditer(text):
        digits = re.sub(r"[\u00a0\u202f\u2009 ']|,(?=\d{3}(?!\d))", "", found["digits"]).replace(",", ".")
        try:
            value = Decimal((("-" if found["sign"] else "") + digits) + (found["power"] or ""))
        except InvalidOperation:
            yield _Claim(Decimal("NaN"), Decimal(0), percent=False)
            continue
        exact = found["power"] or not value.is_finite()
        unit = Decimal(0) if exact else Decimal(1).scaleb(int(value.as_tuple().exponent))
        scale = (found["scale"] or "").lower()
        factor = _SCALES.get(scale, 1)
        yield _Claim(value * factor, unit * factor, percent=scale in _PERCENT)


def _vouched(claim: _Claim, said: frozenset[_Claim], cells: Iterable[Decimal]) -> bool:
    if not claim.value.is_finite():
        return False
    if any(claim.value == other.value and claim.percent == other.percent for other in said):
        return True
    return any(_rounds_to(cell * 100 if claim.percent else cell, claim) for cell in cells) or (
        claim.percent and any(_rounds_to(cell, claim) for cell in cells)
    )


def _rounds_to(exact: Decimal, claim: _Claim) -> bool:
    """Rounding is allowed to the digits that are written, never beyond a whole number's own."""
    if exact == claim.value:
        return True
    whole = exact == exact.to_integral_value()
    scaled = claim.unit > 1
    if whole and not scaled:
        return False
    off = abs(exact - claim.value)
    return off * 2 <= claim.unit and off <= abs(exact) * MOST_OFF


def _number(cell: Any) -> Decimal | None:
    if (
        isinstance(cell, bool)
        or cell is None
        or (isinstance(cell, str) and not re.fullmatch(r"[-+]?[\d.]+", cell))
    ):
        return None
    try:
        value = Decimal(str(cell))
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def _quotable(rows: Sequence[Sequence[Any]], columns: Sequence[ResultColumn]) -> list[str]:
    """Texts with digits or number words that may stand in the wording word for word: cells, names, dates."""
    texts: set[str] = {column.name for column in columns}
    for row in rows:
        for cell in row:
            if isinstance(cell, str) and 1 < len(cell) <= LONGEST_QUOTED:
                texts.update(
                    _dates(cell) if _DATE.match(cell) else [] if _number(cell) is not None else [cell]
                )
    lively = (t for t in texts if re.search(r"\d", t) or _WORDS.search(t))
    return sorted(lively, key=len, reverse=True)


def _dates(cell: str) -> list[str]:
    found = _DATE.match(cell)
    assert found is not None
    try:
        day = date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return [cell]
    forms: list[str] = []
    for month in (_MONTHS[day.month], _MONTHS[day.month][:3]):
        forms += [f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}", f"{month} {day.year}"]
        forms += [f"{day.day} {month}", f"{month} {day.day}"]
    forms += [day.isoformat(), day.isoformat()[:7], f"Q{(day.month + 2) // 3} {day.year}", str(day.year)]
    if found[4]:
        forms += [cell, f"{found[4]}:{found[5]}"]
    return forms


def _struck(text: str, quotable: Iterable[str]) -> str:
    """Without what is quoted. A month that is no cell's keeps its year, which then has nothing to stand on."""
    for quote in quotable:
        if quote.isdigit() and _DATED.search(text):
            continue
        text = re.sub(rf"(?<![\w.]){re.escape(quote)}(?![\w]|[.,]\d)", " ", text, flags=re.IGNORECASE)
    return text


def _odd(text: str, plain: str) -> bool:
    """Digits and numerals that are not plain ones: ½, ², ٣, Ⅳ, full-width figures, invisible characters."""
    return any(
        not char.isascii()
        and (unicodedata.numeric(char, None) is not None or unicodedata.category(char) in ("Cf", "Co", "Cn"))
        and char not in plain
        for char in unicodedata.normalize("NFC", text)
    )


def _in(word: str, plain: str) -> bool:
    return re.search(rf"\b{re.escape(word)}\b", plain, re.IGNORECASE) is not None
