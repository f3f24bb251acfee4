"""PostgreSQL's text of a value as the JSON value that DuckDB's runner gives for the same value.

Invariant: a value that the declared type cannot hold raises Misfit; none is rounded, cut or replaced. The texts are
those of a session with DateStyle ISO, IntervalStyle iso_8601, TimeZone UTC and extra_float_digits 1.
"""

from __future__ import annotations

import math
import re
import struct
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from sandtable_runner.encode import SAFE_DIGITS, encode

_LONGEST_INTEGER = 60
_INTEGER = re.compile(r"(-?[0-9]+)(?:\.0+)?")
_SMALL = re.compile(r"-?[0-9]{1,15}")
_FIXED = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?")
_FLOAT = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
_BOUNDLESS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_DAY = r"(?P<year>[0-9]{4,7})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
_CLOCK = r"(?P<clock>[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.(?P<fraction>[0-9]{1,6}))?"
_USUAL = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")
_DATE = re.compile(rf"{_DAY}(?P<bc> BC)?")
_MOMENT = re.compile(rf"{_DAY}(?: {_CLOCK})?(?P<zone>\+00)?(?P<bc> BC)?")
_TIME = re.compile(rf"{_CLOCK}(?P<zone>[-+][0-9]{{2}}(?::[0-9]{{2}}){{0,2}})?")
_INTERVAL = re.compile(
    r"P(?:(?P<years>-?\d+)Y)?(?:(?P<months>-?\d+)M)?(?:(?P<days>-?\d+)D)?"
    r"(?:T(?:(?P<hours>-?\d+)H)?(?:(?P<minutes>-?\d+)M)?"
    r"(?:(?P<sign>-?)(?P<seconds>\d+)(?:\.(?P<fraction>\d{1,6}))?S)?)?"
)
_LAST_MOMENT = (294247, 1, 10)
"""DuckDB's timestamps end on this day, PostgreSQL's some years later."""
_INFINITE = ("infinity", "-infinity")
_TRAILING = re.compile(r"(\.[0-9]*?)0+(?=$|\+)")


# The numbers of PostgreSQL's own types never change; a domain has that of the type below it.
_NUMBERS = frozenset({20, 21, 23, 26, 700, 701, 1700})
_TEXTS = frozenset({25, 705, 1043})
_NATIVE = {
    "BOOLEAN": frozenset({16}),
    "BLOB": frozenset({17}),
    "DATE": frozenset({1082}),
    "TIMESTAMP": frozenset({1082, 1114, 1184}),
    "TIMESTAMP WITH TIME ZONE": frozenset({1184}),
    "TIME": frozenset({1083}),
    "TIME WITH TIME ZONE": frozenset({1266}),
    "INTERVAL": frozenset({1186}),
}


class Misfit(Exception):
    """A value that the declared type cannot hold."""


class UnknownType(Exception):
    """A declared type that no value can be converted to."""


def _plain(cell: Any) -> Any:
    return cell


@dataclass(frozen=True, slots=True)
class Cells:
    """How the cells of one column are made."""

    read: Callable[[str], Any]
    """Raises Misfit."""
    edges: frozenset[str] = frozenset()
    """Python cannot tell these moments from infinite ones: where a column has one, DuckDB's runner shows all of its
    cells as the engine's text."""
    as_text: Callable[[Any], Any] = field(default=_plain)


def cells_from(sql_type: str, oid: int) -> Cells | None:
    """The cells of a column whose type in the database has this number; None where it is not one whose values are those
    of `sql_type`. A column of text holds none of another type, but may have no values at all. Raises UnknownType."""
    cells = cells_of(sql_type)
    native = _NATIVE.get(sql_type, _NUMBERS if _is_number(sql_type) else None)
    if native is None or oid in native:
        return cells
    return Cells(_nothing) if oid in _TEXTS else None


def _is_number(sql_type: str) -> bool:
    return (
        sql_type.removeprefix("U") in _SIZES
        or sql_type in ("DOUBLE", "FLOAT")
        or sql_type.startswith("DECIMAL(")
    )


def cells_of(sql_type: str) -> Cells:
    """`sql_type`: of DuckDB. Raises UnknownType."""
    if found := _DECIMAL.fullmatch(sql_type):
        return Cells(_decimal(int(found[1]), int(found[2])))
    if sql_type.startswith("ENUM("):
        return _TYPES["VARCHAR"]
    if sql_type not in _TYPES:
        raise UnknownType(sql_type)
    return _TYPES[sql_type]


def _boolean(text: str) -> bool:
    if text not in ("t", "f"):
        raise Misfit
    return text == "t"


def _integer(lowest: int, highest: int) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        if _SMALL.fullmatch(text) and lowest <= (small := int(text)) <= highest:
            return small
        found = _INTEGER.fullmatch(text) if len(text) <= _LONGEST_INTEGER else None
        if found is None or not lowest <= (value := int(found[1])) <= highest:
            raise Misfit
        return encode(value)

    return read


def _decimal(precision: int, scale: int) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        found = _FIXED.fullmatch(text)
        if found is None:
            raise Misfit
        whole, part = found[2].lstrip("0"), (found[3] or "").rstrip("0")
        if len(part) > scale or len(whole) > precision - scale:
            raise Misfit
        if len(whole) + scale <= SAFE_DIGITS:
            return float(text) if part else int(found[1] + found[2])
        sign = found[1] if whole or part else ""
        return encode(Decimal(f"{sign}{whole or 0}.{part.ljust(scale, '0')}"))

    return read


def _double(text: str) -> Any:
    if text in _BOUNDLESS:
        return encode(_BOUNDLESS[text])
    if not _FLOAT.fullmatch(text):
        raise Misfit
    value = float(text)
    if math.isinf(value) or (value == 0 and not _is_zero(text)):
        raise Misfit
    return encode(value)


def _is_zero(text: str) -> bool:
    return not any(digit in "123456789" for digit in re.split("[eE]", text)[0])


def _float(text: str) -> Any:
    """The double that has the value of the nearest number of single precision."""
    if text in _BOUNDLESS:
        return encode(_BOUNDLESS[text])
    if not _FLOAT.fullmatch(text):
        raise Misfit
    try:
        (value,) = struct.unpack("f", struct.pack("f", float(text)))
    except OverflowError:
        raise Misfit from None
    if math.isinf(value) or (value == 0 and not _is_zero(text)):
        raise Misfit
    return encode(value)


def _blob(text: str) -> Any:
    if not text.startswith("\\x"):
        raise Misfit
    try:
        return encode(bytes.fromhex(text[2:]))
    except ValueError:
        raise Misfit from None


def _uuid(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise Misfit from None


def _nothing(_: str) -> None:
    raise Misfit


def _day(found: Mapping[str, str | None]) -> str:
    return f"{found['year']}-{found['month']}-{found['day']}" + (" (BC)" if found["bc"] else "")


def _date(text: str) -> str:
    if text in _INFINITE:
        return text
    if not (found := _DATE.fullmatch(text)):
        raise Misfit
    return _day(found.groupdict())


def _moment(text: str, *, zoned: bool) -> str:
    """`2020-01-02T03:04:05.500000`; before the year 1 and after 9999 as DuckDB writes it."""
    if text in _INFINITE:
        return text
    if _USUAL.fullmatch(text) and not zoned:
        return f"{text[:10]}T{text[11:]}"
    parts = _MOMENT.fullmatch(text)
    if parts is None or (zoned and not parts["zone"]):
        raise Misfit
    found = parts.groupdict()
    year = int(parts["year"])
    if not found["bc"] and (year, int(parts["month"]), int(parts["day"])) >= _LAST_MOMENT:
        raise Misfit
    clock, fraction = found["clock"] or "00:00:00", (found["fraction"] or "").rstrip("0")
    if found["bc"] or year > 9999:
        return f"{_day(found)} {clock}" + (f".{fraction}" if fraction else "") + ("+00" if zoned else "")
    shown = f"{_day(found)}T{clock}" + (f".{fraction.ljust(6, '0')}" if fraction else "")
    return shown + ("+00:00" if zoned else "")


def _timestamp(text: str) -> str:
    return _moment(text, zoned=False)


def _timestamptz(text: str) -> str:
    return _moment(text, zoned=True)


def _moment_as_text(cell: Any) -> Any:
    """`2020-01-02T03:04:05.5`, and `+00` for the zone."""
    return (
        _TRAILING.sub(r"\1", cell.removesuffix(":00") if cell.endswith("+00:00") else cell) if cell else cell
    )


def _time(text: str, *, zoned: bool) -> str:
    found = _TIME.fullmatch(text)
    if found is None or (found["zone"] is not None) != zoned:
        raise Misfit
    zone, fraction = found["zone"] or "", (found["fraction"] or "").rstrip("0")
    if zone and len(zone) == 3 and found["clock"] != "24:00:00":
        zone += ":00"
    return found["clock"] + (f".{fraction.ljust(6, '0')}" if fraction else "") + zone


def _interval(text: str) -> str:
    """`1 year 2 months 3 days 04:05:06.5`."""
    found = _INTERVAL.fullmatch(text)
    if found is None:
        raise Misfit
    parts = {name: int(found[name] or 0) for name in ("years", "months", "days", "hours", "minutes")}
    seconds = int(found["seconds"] or 0) * 1_000_000 + int((found["fraction"] or "").ljust(6, "0"))
    micros = (parts["hours"] * 3600 + parts["minutes"] * 60) * 1_000_000
    micros += -seconds if found["sign"] else seconds
    months = parts["years"] * 12 + parts["months"]
    sign = -1 if months < 0 else 1
    shown = [
        f"{count} {unit}" + ("" if abs(count) == 1 else "s")
        for count, unit in (
            (sign * (abs(months) // 12), "year"), (sign * (abs(months) % 12), "month"), (parts["days"], "day"),
        )
        if count
    ]  # fmt: skip
    if micros or not shown:
        whole, rest = divmod(abs(micros), 1_000_000)
        clock = f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
        shown.append(("-" if micros < 0 else "") + clock + (f".{rest:06d}".rstrip("0") if rest else ""))
    return " ".join(shown)


def _sized(bits: int, *, signed: bool) -> Cells:
    top = 1 << (bits - 1 if signed else bits)
    return Cells(_integer(-top if signed else 0, top - 1))


_SIZES = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_TYPES: dict[str, Cells] = {
    **{name: _sized(bits, signed=True) for name, bits in _SIZES.items()},
    **{f"U{name}": _sized(bits, signed=False) for name, bits in _SIZES.items()},
    "BOOLEAN": Cells(_boolean),
    "DOUBLE": Cells(_double),
    "FLOAT": Cells(_float),
    "VARCHAR": Cells(str),
    "JSON": Cells(str),
    "UUID": Cells(_uuid),
    "BLOB": Cells(_blob),
    "DATE": Cells(_date),
    "TIMESTAMP": Cells(
        _timestamp,
        frozenset({*_INFINITE, "0001-01-01T00:00:00", "9999-12-31T23:59:59.999999"}),
        _moment_as_text,
    ),
    "TIMESTAMP WITH TIME ZONE": Cells(_timestamptz, frozenset(_INFINITE), _moment_as_text),
    "TIME": Cells(lambda text: _time(text, zoned=False)),
    "TIME WITH TIME ZONE": Cells(lambda text: _time(text, zoned=True)),
    "INTERVAL": Cells(_interval),
    '"NULL"': Cells(_nothing),
}
