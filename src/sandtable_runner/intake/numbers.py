"""Numbers as text: group and decimal marks, signs in every style, percent and money.

A format is the group mark and the decimal mark (`,.` is 1,234.50), the decimal mark alone where there are no groups
(`,` is 1234,50), or empty (1234.50). Of money, the number of digits after the mark follows: `,.2`.
"""

from __future__ import annotations

import re
from functools import cache

from sandtable_runner.engine import literal
from sandtable_runner.intake.currencies import tokens_of
from sandtable_runner.intake.reading import InSql, Reading

SPACES = " \u00a0\u202f\u2009"
_APOSTROPHES = "'\u2019"
_MARKS = {" ": SPACES, "'": _APOSTROPHES}
"""What is written for a group mark of a format."""
INTEGER_MARKS = ("", ",.", ".,", " ,", "'.")
DECIMAL_MARKS = ("", ",", ",.", ".,", " ,", " .", "'.", "',")
BLANKS = " \t\u00a0\u202f"
"""Taken off both ends of a cell, except in text."""
_MINUS = "-\u2212"
MOST_DIGITS = 18
_EXACT_DIGITS = 15
"""Every number with so many digits is the nearest one to exactly one DOUBLE."""
MOST_SCALE = 6
STORED = "stored"
"""The format of whole numbers that the file has as such: also those with 19 digits."""
_PLAIN_DECIMAL = "-?(?:0|[1-9][0-9]*)(?:[.][0-9]+)?"
_SMALLEST = 1e-300
"""Nearer to zero a DOUBLE has fewer digits."""


def marks_of(reading: Reading) -> tuple[str, str]:
    """The group mark and the decimal mark."""
    marks = reading.format.rstrip("0123456789")
    return ("", marks or ".") if len(marks) < 2 else (marks[0], marks[1])


def scale_of(reading: Reading) -> int:
    """Digits after the mark, of money."""
    digits = reading.format[len(reading.format.rstrip("0123456789")) :]
    return int(digits) if digits else 2


def is_format(text: str, *, money: bool) -> bool:
    marks = text.rstrip("0123456789") if money else text
    digits = text[len(marks) :]
    if text == STORED:
        return not money
    return marks in DECIMAL_MARKS and (not digits or (len(digits) == 1 and int(digits) <= MOST_SCALE))


@cache
def pattern(reading: Reading) -> str:
    """A regular expression of RE2 and of Python for the number without percent sign or currency."""
    group, decimal = marks_of(reading)
    mark = re.escape(decimal)
    whole = f"[1-9][0-9]{{0,{MOST_DIGITS - 1}}}|0"
    if group:
        written = _MARKS.get(group, group)
        whole += f"|[1-9][0-9]{{0,2}}(?:[{written}][0-9]{{3}})+"
        if group == ",":
            whole += "|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"
    if reading.read_as == "integer":
        core = f"(?:{whole})"
    elif reading.read_as == "money":
        scale = scale_of(reading)
        core = f"(?:(?:{whole})(?:{mark}[0-9]{{1,{scale}}})?)" if scale else f"(?:{whole})"
    else:
        loose = "*" if not group and decimal == "." else "+"
        exponent = "" if group else "(?:[eE][-+]?[0-9]{1,3})?"
        core = f"(?:(?:(?:{whole})(?:{mark}[0-9]{loose})?|{mark}[0-9]+){exponent})"
    return f"(?:[-+\u2212]? ?{core}|{core} ?[-\u2212]|\\( ?{core} ?\\))"


@cache
def token_pattern(reading: Reading) -> str:
    """The percent sign or the currency, with blanks on either side."""
    tokens = ["%"] if reading.read_as == "percent" else tokens_of(reading.unit)
    return f"[{SPACES}]?(?:{'|'.join(re.escape(token) for token in tokens)})[{SPACES}]?"


def bare(reading: Reading, cell: str) -> str | None:
    """The cell without its percent sign or currency; None where it has none at either end."""
    if reading.read_as in ("integer", "decimal"):
        return cell
    token = token_pattern(reading)
    if re.search(edge_pattern(token), cell) is None:
        return None
    return re.sub(token, "", cell, count=1).strip(SPACES)


def edge_pattern(token: str) -> str:
    return f"^[-+\u2212( ]*{token}|{token}[-\u2212) ]*$"


def in_sql(reading: Reading, cell: str) -> InSql:
    if reading.format == STORED:
        value = f"TRY_CAST({cell} AS BIGINT)"
        fits = f"CAST({value} AS VARCHAR) = {cell}"
        return InSql("BIGINT", ((fits, value),), fits, value)
    trimmed = f"trim({cell}, {literal(BLANKS)})"
    conditions: list[str] = []
    number = trimmed
    if reading.read_as in ("percent", "money"):
        token = token_pattern(reading)
        conditions.append(f"regexp_matches({trimmed}, {literal(edge_pattern(token))})")
        number = f"trim(regexp_replace({trimmed}, {literal(token)}, ''), {literal(SPACES)})"
    conditions.append(f"regexp_full_match({number}, {literal(pattern(reading))})")
    digits = _digits(reading, number)
    sql_type = _sql_type(reading)
    minus = f"left({number}, 1) IN ('-', '\u2212', '(') OR right({number}, 1) IN ('-', '\u2212')"
    value = f"TRY_CAST(CASE WHEN {minus} THEN '-' ELSE '' END || {digits} AS {sql_type})"
    conditions.append(f"{value} IS NOT NULL")
    if sql_type == "BIGINT":
        conditions.append(f"strlen({digits}) <= {MOST_DIGITS}")
    if sql_type == "DOUBLE":
        conditions.append(_is_exact(digits))
    return InSql(sql_type, _quick(reading, cell), " AND ".join(conditions), value)


def scale_in_sql(reading: Reading, cell: str) -> str:
    """How many digits follow the decimal mark."""
    _, decimal = marks_of(reading)
    return f"strlen(regexp_extract({cell}, {literal(re.escape(decimal) + '([0-9]+)[^0-9]*$')}, 1))"


def _sql_type(reading: Reading) -> str:
    if reading.read_as == "money":
        return f"DECIMAL(18,{scale_of(reading)})"
    return "BIGINT" if reading.read_as == "integer" else "DOUBLE"


def _digits(reading: Reading, number: str) -> str:
    """Digits with a decimal point, without signs and groups. Minus signs of an exponent stand inside and stay."""
    group, decimal = marks_of(reading)
    digits = f"trim({number}, {literal('+() ' + _MINUS)})"
    for mark in _MARKS.get(group, group):
        digits = f"replace({digits}, {literal(mark)}, '')"
    return digits if decimal == "." else f"replace({digits}, {literal(decimal)}, '.')"


def _is_exact(digits: str) -> str:
    """Whether a DOUBLE keeps every digit: there are few, or the DOUBLE is written with the same ones."""
    mine = _significant(digits)
    written = _significant(f"CAST(TRY_CAST({digits} AS DOUBLE) AS VARCHAR)")
    value = f"TRY_CAST({digits} AS DOUBLE)"
    in_range = f"isfinite({value}) AND ({value} >= {_SMALLEST} OR {mine} = '')"
    return f"(strlen({mine}) <= {_EXACT_DIGITS} OR {mine} = {written}) AND {in_range}"


def _significant(digits: str) -> str:
    mantissa = f"regexp_extract({digits}, '^[0-9.]+')"
    return f"trim(replace({mantissa}, '.', ''), '0')"


def _quick(reading: Reading, cell: str) -> tuple[tuple[str, str], ...]:
    if reading.format or reading.read_as not in ("integer", "decimal"):
        return ()
    if reading.read_as == "integer":
        value = f"TRY_CAST({cell} AS BIGINT)"
        return ((f"CAST({value} AS VARCHAR) = {cell} AND strlen({cell}) <= {MOST_DIGITS}", value),)
    value = f"TRY_CAST({cell} AS DOUBLE)"
    short = f"strlen({cell}) <= {_EXACT_DIGITS} AND regexp_full_match({cell}, {literal(_PLAIN_DECIMAL)})"
    # As JSON a DOUBLE is written three times as fast as by a cast, and with the same digits. Infinity is no number, and
    # below 1e-300 digits are lost.
    written = f"CAST(to_json({value}) AS VARCHAR) = {cell} AND {cell} < ':'"
    usual = f"NOT contains({cell}, 'I') AND NOT contains({cell}, 'e-3')"
    return ((short, value), (f"{written} AND {usual}", value))
