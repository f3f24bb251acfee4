"""Which readings explain the cells of a sample. Proposals only: the rows themselves prove or refute them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from sandtable_runner.intake import dates, numbers, words
from sandtable_runner.intake.currencies import WITHOUT_CENTS, unit_of
from sandtable_runner.intake.reading import Reading

_LONGEST = 48
_ENOUGH_UNREAD = 40
_LIKELY = 0.9
"""A reading of fewer cells of the sample is not looked at."""
_DATE_NAMES = re.compile(
    r"(?i)(?:^|[^a-z])(?:date|day|dt|datum|tag|fecha|data|jour|dia|giorno|ymd|yyyymmdd)(?:$|[^a-z])|date|datum|fecha"
)
_PHONE_NAMES = re.compile(
    r"(?i)(?:^|[^a-z])(?:tele?phone|phone|tel|telefon|telefono|teléfono|fax|mobile|mobil|cell)(?:$|[^a-z])"
)
_NUMERALS = tuple(
    [Reading("integer"), Reading("decimal")]
    + [Reading("integer", marks) for marks in numbers.INTEGER_MARKS[1:]]
    + [Reading("decimal", marks) for marks in numbers.DECIMAL_MARKS[1:]]
)
# The most common cells need no other pattern.
_PLAIN_INTEGER = re.compile("[1-9][0-9]{0,14}|0")
_PLAIN_DECIMAL = re.compile("-?(?:0|[1-9][0-9]{0,14})[.](?:[0-9]{1,2}|[0-9]{4,})")
_WITH_POINT = [
    reading for reading in _NUMERALS if reading.read_as == "decimal" and numbers.marks_of(reading)[1] == "."
]
_PERCENTS = tuple(Reading("percent", marks, "%") for marks in numbers.DECIMAL_MARKS)
_ORDER = {reading: rank for rank, reading in enumerate((*words.BOOLEANS, *_NUMERALS, *_PERCENTS))}
PHONE_DIGITS = 9
"""A whole number with a plus sign and at least so many digits is a telephone number."""


def names_a_date(name: str) -> bool:
    return _DATE_NAMES.search(_words_apart(name)) is not None


def _words_apart(name: str) -> str:
    """`orderDate` as `order Date`, for patterns that look for whole words."""
    return re.sub("([a-z])([A-Z])", r"\1 \2", name)


def propose(cells: Mapping[str, int], name: str) -> dict[Reading, int]:
    """Readings of most cells, with the number of rows that each explains; simpler ones first. Empty where the column
    is text."""
    if _PHONE_NAMES.search(_words_apart(name)):
        return {}
    compact = names_a_date(name)
    counts: Counter[Reading] = Counter()
    total = unread = looked_at = 0
    for cell, rows in cells.items():
        if cell in words.EMPTY:
            continue
        found = readings_of(cell, compact=compact)
        total += rows
        looked_at += 1
        unread += not found
        if unread >= _ENOUGH_UNREAD and unread > looked_at // 2:
            return {}
        for reading in found:
            counts[reading] += rows
    lowered = {cell.lower() for cell in cells}
    likely = [
        reading
        for reading, rows in counts.items()
        if rows >= _LIKELY * total and (reading.read_as != "boolean" or words.holds(reading, lowered))
    ]
    return {reading: counts[reading] for reading in sorted(likely, key=lambda found: rank(found))}


def rank(reading: Reading) -> tuple[int, ...]:
    """Dates before numbers: only a column whose name says so has dates that are also numbers."""
    if reading.read_as in ("date", "timestamp", "time"):
        return (0, dates.DATES.index(reading.format) if reading.format in dates.DATES else len(dates.DATES))
    if reading.read_as == "money":
        return (1, numbers.DECIMAL_MARKS.index(reading.format.rstrip("0123456789")))
    return (1, _ORDER[reading])


@lru_cache(maxsize=8192)
def readings_of(cell: str, *, compact: bool = False) -> tuple[Reading, ...]:
    """Every reading of a cell, which is neither empty nor surrounded by blanks."""
    if len(cell) > _LONGEST:
        return ()
    if not any("0" <= mark <= "9" for mark in cell):
        return tuple(words.readings_of(cell))
    return (*dates.readings_of(cell, compact=compact), *_numerals_of(cell))


def _numerals_of(cell: str) -> list[Reading]:
    if cell.startswith("+") and sum(map(str.isdigit, cell)) >= PHONE_DIGITS and "." not in cell:
        return []
    if "%" in cell:
        candidates = _PERCENTS
    elif unit := currency_in(cell):
        candidates = tuple(
            Reading("money", f"{marks}{numbers.MOST_SCALE}", unit) for marks in numbers.DECIMAL_MARKS
        )
    elif _PLAIN_INTEGER.fullmatch(cell):
        return list(_NUMERALS)
    elif _PLAIN_DECIMAL.fullmatch(cell):
        return _WITH_POINT
    else:
        candidates = _NUMERALS
    found = [reading for reading in candidates if _matches(reading, cell)]
    if found and found[0].unit in WITHOUT_CENTS:
        whole = [reading for reading in found if numbers.marks_of(reading)[1] not in cell]
        return whole or found
    return found


def _matches(reading: Reading, cell: str) -> bool:
    number = numbers.bare(reading, cell)
    # Most formats are ruled out without compiling a pattern.
    if number is None or {mark for mark in number if mark in ".,"} - set(numbers.marks_of(reading)):
        return False
    if re.fullmatch(numbers.pattern(reading), number) is None:
        return False
    return reading.read_as != "integer" or sum(map(str.isdigit, number)) <= numbers.MOST_DIGITS


def currency_in(cell: str) -> str:
    """The unit of the sign or code in a cell; empty where there is none."""
    letters = re.sub(r"[0-9.,'\u2019()+\-\u2212\s]", "", cell)
    return unit_of(letters) or (unit_of(f"{letters}.") if letters else "")


def scale_of(cells: Mapping[str, int], reading: Reading) -> int:
    """The most digits behind the decimal mark, of the cells of a sample."""
    _, decimal = numbers.marks_of(reading)
    after = re.compile(re.escape(decimal) + "([0-9]+)[^0-9]*$")
    return max((len(found[1]) for cell in cells if (found := after.search(cell))), default=0)


def mixture(cells: Mapping[str, int]) -> str:
    """What keeps a column of numbers from being one, in words; empty where it is something else."""
    units: set[str] = set()
    unread = 0
    for cell in cells:
        if cell in words.EMPTY:
            continue
        found = [
            reading for reading in readings_of(cell) if reading.read_as not in ("date", "timestamp", "time")
        ]
        units |= {reading.unit for reading in found[:1]}
        unread += not found
    if len(units) < 2 or unread > len(cells) // 10:
        return ""
    named = sorted({"": "numbers without a unit", "%": "percent"}.get(unit, unit) for unit in units)
    return f"{', '.join(named[:-1])} and {named[-1]}"
