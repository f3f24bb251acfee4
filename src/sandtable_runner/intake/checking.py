"""The checked expression of a column: its value where the cell fits, NULL where it is empty, else an error."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from sandtable_runner.engine import literal
from sandtable_runner.intake import dates, numbers, words
from sandtable_runner.intake.currencies import is_unit
from sandtable_runner.intake.reading import InSql, Reading

_MARK = "does not fit column "
"""In the engine's message, before the number of the column."""
_NUMBERS = ("integer", "decimal", "percent", "money")
_DATES = ("date", "timestamp", "time")


def in_sql(reading: Reading, cell: str) -> InSql:
    if reading.read_as in _NUMBERS:
        return numbers.in_sql(reading, cell)
    if reading.read_as in _DATES:
        return dates.in_sql(reading, cell)
    if reading.read_as == "boolean":
        return words.in_sql(reading, cell)
    return InSql("VARCHAR", (), "true", cell)


def is_detail(kind: str, detail: str) -> bool:
    """Whether an answer such as `date:%d/%m/%Y` has a meaning."""
    if not detail:
        return True
    if kind in _DATES:
        return dates.is_format(detail, kind)
    if kind in ("integer", "decimal", "percent"):
        return numbers.is_format(detail, money=False)
    return kind == "money" and is_unit(detail)


def is_usable(reading: Reading) -> bool:
    """Whether a reading from elsewhere can be used at all."""
    if reading.read_as == "money":
        return bool(reading.unit) and numbers.is_format(reading.format, money=True)
    return reading.read_as in ("text", "boolean") or is_detail(reading.read_as, reading.format)


def is_empty(cell: str, empty: tuple[str, ...] | list[str], *, text: bool = False) -> str:
    """Cells of text are compared as they are: blanks are a value there."""
    compared = cell if text else f"trim({cell}, {literal(numbers.BLANKS)})"
    return f"({cell} IS NULL OR {compared} IN ({words.listed(['', *empty])}))"


def fits(reading: Reading, cell: str) -> str:
    """A condition that is never NULL."""
    sql = in_sql(reading, cell)
    quick = "".join(f" WHEN {condition} THEN true" for condition, _ in sql.quick)
    return f"CASE{quick} WHEN {sql.fits} THEN true ELSE false END"


def value(reading: Reading, cell: str) -> str:
    """Of a cell that fits; NULL for most others."""
    sql = in_sql(reading, cell)
    quick = "".join(f" WHEN {condition} THEN {quick}" for condition, quick in sql.quick)
    return f"CASE{quick} WHEN {sql.fits} THEN {sql.value} END"


def checked(column: dict[str, Any], position: int, *, prove: bool) -> str:
    """The typed value of a cell of column `c<position>`.

    `prove`: the column was decided by a sample, so a text cell that could be an empty word is an error, too.
    """
    cell = f"c{position}"
    reading = Reading.of(column)
    misfit = "NULL" if column["misfits"] == "empty" else f"error({literal(_MARK + str(position))})"
    if reading.read_as == "text":
        return _checked_text(cell, tuple(column["empty"]), misfit if prove else "")
    sql = in_sql(reading, cell)
    empty = f" WHEN {is_empty(cell, tuple(column['empty']))} THEN NULL"
    quick = "".join(f" WHEN {condition} THEN {value}" for condition, value in sql.quick)
    first = quick + empty if _only_words(column["empty"]) else empty + quick
    return f"CASE{first} WHEN {sql.fits} THEN {sql.value} ELSE {misfit} END"


def _only_words(empty: Iterable[str]) -> bool:
    """A recipe may also say that a number such as 9999 is empty."""
    return set(empty) <= {"", *words.EMPTY}


def is_common(column: dict[str, Any], position: int) -> str:
    """Whether `common` gives the value of a cell: it has the most common form of the column's reading, or is empty."""
    cell = f"c{position}"
    if column["read_as"] == "text":
        if not column["empty"]:
            return "true"
        other = words.listed([*words.EMPTY_IN_TEXT, *filter(None, column["empty"])])
        return f"{cell} IS NULL OR {cell} NOT IN ({other})"
    if not _only_words(column["empty"]):
        return "false"
    quick = "".join(f" WHEN {condition} THEN true" for condition, _ in in_sql(Reading.of(column), cell).quick)
    return f"CASE{quick} WHEN {cell} IS NULL OR {cell} = '' THEN true ELSE false END"


def common(column: dict[str, Any], position: int) -> str:
    """The value of a cell in the most common form, unchecked."""
    cell = f"c{position}"
    if column["read_as"] == "text":
        return f"nullif({cell}, '')" if column["empty"] else cell
    quick = in_sql(Reading.of(column), cell).quick
    if len({value for _, value in quick}) == 1:
        return quick[0][1]
    return f"CASE{''.join(f' WHEN {condition} THEN {value}' for condition, value in quick)} END"


def _checked_text(cell: str, empty: tuple[str, ...], unproven: str) -> str:
    if not empty:
        return cell
    nothing = dict.fromkeys(["", *empty])
    other = [word for word in words.EMPTY_IN_TEXT if word not in nothing] if unproven else []
    # Comparisons one by one take a third of the time of a list.
    special = " OR ".join(f"{cell} = {literal(word)}" for word in (*nothing, *other))
    value = f"CASE WHEN {cell} IN ({words.listed(other)}) THEN {unproven} END" if other else "NULL"
    return f"CASE WHEN {special} THEN {value} ELSE {cell} END"


def failed_column(error: Exception) -> int | None:
    """The position of the column whose check failed; None for any other error."""
    found = re.search(f"{_MARK}([0-9]+)", str(error))
    return int(found[1]) if found else None
