"""Dates, timestamps and times as text. A format is one of `strptime`; empty is ISO. Months may be in seven languages.

A format with `%S` also takes a fraction of a second, a format with `%z` a `Z`. Years have four digits, or two: then 69
to 99 are 1969 to 1999, and 00 to 68 are 2000 to 2068.
"""

from __future__ import annotations

import re
from functools import cache

from sandtable_runner.engine import literal
from sandtable_runner.intake import months
from sandtable_runner.intake.numbers import BLANKS
from sandtable_runner.intake.reading import InSql, Reading

ISO_OFFSET = "%Y-%m-%dT%H:%M:%S%z"
"""Timestamps in ISO form with an offset: seconds and fractions may be missing, `T` may be a blank."""
UNIX = {"unix-seconds": 1_000_000, "unix-milliseconds": 1_000, "unix-microseconds": 1}
"""Formats of moments that are counted from 1970 on, with the microseconds of their unit."""
YEARS_1_TO_9999 = (-62_135_596_800_000_000, 253_402_300_799_999_999)
"""In microseconds."""
_FRACTION = "(?:[.][0-9]{1,6}0*)?"
_OFFSET = "(?:Z|[-+][0-9]{2}(?::?[0-9]{2})?)"
_DIRECTIVES = {
    "%d": "(?:0?[1-9]|[12][0-9]|3[01])",
    "%m": "(?:0?[1-9]|1[0-2])",
    "%Y": "[0-9]{4}",
    "%y": "[0-9]{2}",
    "%b": months.SHORT,
    "%B": months.LONG,
    "%H": "(?:[01]?[0-9]|2[0-3])",
    "%I": "(?:0?[1-9]|1[0-2])",
    "%M": "[0-5][0-9]",
    "%S": f"[0-5][0-9]{_FRACTION}",
    "%p": "(?i:am|pm)",
    "%z": _OFFSET,
}
_ISO_DATE = f"[0-9]{{4}}-{_DIRECTIVES['%m']}-{_DIRECTIVES['%d']}"
_ISO_TIME = f"{_DIRECTIVES['%H']}:[0-5][0-9](?::[0-5][0-9]{_FRACTION})?"
_ISO = {
    "date": _ISO_DATE,
    "timestamp": f"{_ISO_DATE}[T ]{_ISO_TIME}",
    "time": _ISO_TIME,
}
DATES = (
    "",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d.%m.%Y",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d/%m/%y",
    "%m/%d/%y",
    "%y/%m/%d",
    "%d-%m-%y",
    "%m-%d-%y",
    "%y-%m-%d",
    "%d.%m.%y",
    *(
        form
        for month in ("%b", "%B")
        for form in (
            f"%d {month} %Y",
            f"%d-{month}-%Y",
            f"%d/{month}/%Y",
            f"%d. {month} %Y",
            f"{month} %d, %Y",
            f"{month} %d %Y",
            f"%Y-{month}-%d",
            f"%d {month} %y",
            f"%d-{month}-%y",
            f"%d de {month} de %Y",
            f"%d de {month} %Y",
        )
    ),
)
COMPACT = "%Y%m%d"
_CLOCK = re.compile(
    r"(?P<date>.+?)(?P<gap>T|, | )(?P<time>[0-9]{1,2}:[0-9]{2}(?P<seconds>:[0-9]{2}(?:[.][0-9]+)?)?)"
    r"(?:(?P<pause> ?)(?P<half>[AaPp][Mm]))?(?:(?P<space> ?)(?P<offset>Z|[-+][0-9]{2}(?::?[0-9]{2})?))?"
)
_TIME = re.compile(
    r"[0-9]{1,2}:[0-9]{2}(?P<seconds>:[0-9]{2}(?:[.][0-9]+)?)?(?P<pause> ?)(?P<half>[AaPp][Mm])"
)


def is_format(text: str, read_as: str) -> bool:
    """Whether a format can be used: known directives, and all that a date or a time needs."""
    if text in UNIX:
        return read_as == "timestamp"
    found = set(re.findall("%.?", text))
    if not found <= _DIRECTIVES.keys():
        return not text
    has_date = bool(found & {"%d"} and found & {"%m", "%b", "%B"} and found & {"%Y", "%y"})
    has_time = ("%H" in found) != ("%I" in found and "%p" in found) and "%M" in found
    clock = found & {"%H", "%I", "%M", "%S", "%p", "%z"}
    if read_as == "date":
        return has_date and not clock
    return has_time and (has_date if read_as == "timestamp" else found == clock and "%z" not in found)


@cache
def pattern(reading: Reading) -> str:
    if not reading.format:
        return _ISO[reading.read_as]
    if reading.format in UNIX:
        return "-?[0-9]{1,18}"
    if reading.format == ISO_OFFSET:
        return f"{_ISO['timestamp']} ?{_OFFSET}"
    parts = re.split("(%.)", reading.format)
    return "".join(_DIRECTIVES.get(part) or re.escape(part) for part in parts)


def readings_of(cell: str, *, compact: bool) -> list[Reading]:
    """Every reading as a date, timestamp or time that this cell has. `compact`: also without separators."""
    marks = _first_two(cell)
    if not marks and not compact:
        return []
    if time := _TIME.fullmatch(cell):
        found = [Reading("time", _half_day(time))]
    elif re.fullmatch(_ISO_TIME, cell):
        found = [Reading("time")]
    elif clock := _CLOCK.fullmatch(cell):
        found = [Reading("timestamp", form) for form in _with_time(clock)]
    else:
        forms = (*DATES, COMPACT) if compact else DATES
        found = [Reading("date", form) for form in forms]
    return [
        reading
        for reading in found
        # Most formats are ruled out without compiling a pattern.
        if (not reading.format or reading.format == ISO_OFFSET or _first_marks(reading.format) == marks)
        and re.fullmatch(pattern(reading), cell)
    ]


_SHOWN = {"%b": "a", "%B": "a", "%p": "a", "%z": "a"}


@cache
def _first_marks(form: str) -> str:
    """The first two characters of a format that are no digits: letters as `a`."""
    return _first_two(
        "".join(_SHOWN.get(part, "0") if part[:1] == "%" else part for part in re.split("(%.)", form))
    )


def _first_two(text: str) -> str:
    marks = [
        ("a" if mark.isalpha() else mark) for mark in re.sub(r"[^\W\d_]+", "a", text) if not mark.isdigit()
    ]
    return "".join(marks[:2])


def _half_day(found: re.Match[str]) -> str:
    return f"%I:%M{':%S' if found['seconds'] else ''}{found['pause']}%p"


def _with_time(found: re.Match[str]) -> list[str]:
    iso = not found["half"] and found["gap"] != ", "
    time = _half_day(found) if found["half"] else f"%H:%M{':%S' if found['seconds'] else ''}"
    offset = f"{found['space']}%z" if found["offset"] else ""
    forms = [f"{form or '%Y-%m-%d'}{found['gap']}{time}{offset}" for form in DATES]
    if iso:
        forms[0] = ISO_OFFSET if offset else ""
    return forms


def order_of(reading: Reading) -> str:
    """`day`, `month` or `year`: which comes first, where all three are numbers; else empty."""
    first = re.findall("%.", reading.format)[:3]
    if sorted(first) not in (["%Y", "%d", "%m"], ["%d", "%m", "%y"]):
        return ""
    return {"%d": "day", "%m": "month"}.get(first[0], "year")


def in_sql(reading: Reading, cell: str) -> InSql:
    if reading.format in UNIX:
        return _counted(reading, cell)
    sql_type = {"date": "DATE", "timestamp": "TIMESTAMP", "time": "TIME"}[reading.read_as]
    if "%z" in reading.format:
        sql_type = "TIMESTAMP WITH TIME ZONE"
    trimmed = f"trim({cell}, {literal(BLANKS)})"
    if reading.format in ("", ISO_OFFSET):
        written = _with_plain_offset(trimmed) if reading.format else trimmed
        value = f"TRY_CAST({written} AS {sql_type})"
    else:
        value = f"CAST({_parsed(reading.format, trimmed)} AS {sql_type})"
    conditions = [f"regexp_full_match({trimmed}, {literal(pattern(reading))})", f"{value} IS NOT NULL"]
    if reading.read_as != "time":
        conditions.append(f"{value} >= '0001-01-01'::{sql_type}")
    return InSql(sql_type, _quick(reading, cell, sql_type), " AND ".join(conditions), value)


def _counted(reading: Reading, cell: str) -> InSql:
    trimmed = f"trim({cell}, {literal(BLANKS)})"
    microseconds = f"TRY_CAST({trimmed} AS BIGINT)::HUGEINT * {UNIX[reading.format]}"
    low, high = YEARS_1_TO_9999
    fits = f"regexp_full_match({trimmed}, {literal(pattern(reading))}) AND {microseconds} BETWEEN {low} AND {high}"
    return InSql("TIMESTAMP", (), fits, f"make_timestamp(TRY_CAST({microseconds} AS BIGINT))")


def _with_plain_offset(cell: str) -> str:
    """` +0100` as `+01:00`: the engine's cast knows no other form."""
    colon = f"regexp_replace({cell}, ' ?([-+][0-9]{{2}}):?([0-9]{{2}})$', '\\1:\\2')"
    return f"regexp_replace({colon}, ' (Z|[-+][0-9]{{2}})$', '\\1')"


def _parsed(form: str, cell: str) -> str:
    if "%b" in form.lower():
        # The engine knows English names only.
        cell = months.as_number(cell)
        form = re.sub("%[bB]", "%m", form)
    forms = [form]
    if "%S" in form:
        # The engine takes six digits at most: those behind them are zeros.
        cell = f"regexp_replace({cell}, '([.][0-9]{{6}})0+', '\\1')"
        forms.append(form.replace("%S", "%S.%f"))
    if "%z" in form:
        cell = f"regexp_replace({cell}, 'Z$', '+00')"
    return f"try_strptime({cell}, [{', '.join(map(literal, forms))}])"


def _quick(reading: Reading, cell: str, sql_type: str) -> tuple[tuple[str, str], ...]:
    """A value that is written as the cell has it: dates and timestamps in full ISO form, padded dates."""
    if reading.format:
        if reading.read_as != "date" or "%b" in reading.format.lower():
            return ()
        parsed = f"try_strptime({cell}, {literal(reading.format)})"
        return ((f"strftime({parsed}, {literal(reading.format)}) = {cell}", f"CAST({parsed} AS DATE)"),)
    value = f"TRY_CAST({cell} AS {sql_type})"
    written = f"CAST({value} AS VARCHAR)"
    if reading.read_as == "timestamp":
        return ((f"{written} = {cell} AND strlen({cell}) > 10", value),)
    if reading.read_as == "time":
        return ((f"{written} = {cell} AND {cell} < '24'", value),)
    return ((f"{written} = {cell} AND {cell} < ':' AND strlen({cell}) = 10", value),)
