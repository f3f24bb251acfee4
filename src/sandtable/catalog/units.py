"""Units: the unit of a column's values, and how a value is converted to another.

`fraction` is a share (0.25 is 25 %), `%` a number already in percent, and no unit is an empty text.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sandtable.catalog.model import Column

_UNITS = {
    "seconds": "seconds", "secs": "seconds", "minutes": "minutes", "mins": "minutes", "hours": "hours", "hrs": "hours",
    "days": "days", "weeks": "weeks", "months": "months", "years": "years", "ms": "ms", "usd": "USD", "eur": "EUR",
    "gbp": "GBP", "chf": "CHF", "jpy": "JPY", "kg": "kg", "km": "km", "mb": "MB", "gb": "GB", "kb": "KB",
    "bytes": "bytes", "celsius": "°C", "fahrenheit": "°F", "kwh": "kWh", "mw": "MW", "mwh": "MWh",
    "percent": "%", "pct": "%", "c": "°C", "mm_s": "mm/s",
}  # fmt: skip


def split_unit(name: str) -> tuple[str, str]:
    """`avg_wait_minutes` to `avg_wait` and `minutes`. A name that consists of a unit only keeps it."""
    parts = name.replace(" ", "_").split("_")
    for n in (2, 1):
        ending = "_".join(parts[-n:])
        if n < len(parts) and ending.lower() in _UNITS:
            return name[: -len(ending) - 1], _UNITS[ending.lower()]
    return name, ""


def unit_of_column(column: Column) -> str:
    """The declared unit, else the unit at the end of the name."""
    return column.unit or split_unit(column.name)[1]


@dataclass(frozen=True, slots=True)
class Conversion:
    """target = value * factor + offset"""

    unit: str
    """The target, as it is written after a number."""
    factor: Fraction
    offset: Fraction


# For each kind of quantity: a unit, its size in the first unit of the kind, and its other spellings.
_KINDS: tuple[tuple[tuple[str, str, str], ...], ...] = (
    (
        ("seconds", "1", "s sec secs second"), ("ms", "1/1000", "millisecond milliseconds msec"),
        ("minutes", "60", "min mins minute"), ("hours", "3600", "h hr hrs hour"), ("days", "86400", "d day"),
        ("weeks", "604800", "week wk wks"),
    ),
    (("months", "1", "month"), ("quarters", "3", "quarter"), ("years", "12", "year yr yrs")),
    (("fraction", "1", "share ratio"), ("%", "1/100", "percent pct percentage")),
    (
        ("g", "1", "gram grams"), ("mg", "1/1000", "milligram milligrams"),
        ("kg", "1000", "kilo kilos kilogram kilograms"),
        ("t", "1000000", "tonne tonnes ton tons"), ("lb", "45359237/100000", "lbs pound pounds"),
        ("oz", "45359237/1600000", "ounce ounces"),
    ),
    (
        ("m", "1", "meter meters metre metres"), ("mm", "1/1000", "millimeters millimetres"),
        ("cm", "1/100", "centimeters centimetres"), ("km", "1000", "kilometers kilometres kilometer kilometre"),
        ("mi", "1609344/1000", "mile miles"), ("ft", "3048/10000", "foot feet"), ("in", "254/10000", "inch inches"),
    ),
    (("m/s", "1", "mps"), ("mm/s", "1/1000", ""), ("km/h", "10/36", "kmh kph"), ("mph", "44704/100000", "")),
    (
        ("bytes", "1", "b byte"), ("KB", "1000", "kilobytes"), ("MB", "1000000", "megabytes"),
        ("GB", "1000000000", "gigabytes"), ("TB", "1000000000000", "terabytes"),
    ),
    (("Wh", "1", ""), ("kWh", "1000", ""), ("MWh", "1000000", ""), ("GWh", "1000000000", "")),
    (("W", "1", "watt watts"), ("kW", "1000", "kilowatts"), ("MW", "1000000", "megawatts")),
    (("l", "1", "liter liters litre litres"), ("ml", "1/1000", "milliliters millilitres"), ("m³", "1000", "m3")),
    (("EUR", "1", "euro euros €"), ("EUR cents", "1/100", "eurocents")),
    (("USD", "1", "dollar dollars $"), ("US cents", "1/100", "cents cent")),
    (("GBP", "1", "£"), ("pence", "1/100", "penny")),
)  # fmt: skip
_CELSIUS, _FAHRENHEIT = "°C", "°F"
_DEGREES = {
    "°c": _CELSIUS, "celsius": _CELSIUS, "c": _CELSIUS, "°f": _FAHRENHEIT, "fahrenheit": _FAHRENHEIT, "f": _FAHRENHEIT,
}  # fmt: skip


def _spellings() -> dict[str, tuple[int, str, Fraction]]:
    found: dict[str, tuple[int, str, Fraction]] = {}
    for kind, units in enumerate(_KINDS):
        for unit, size, others in units:
            for spelling in (unit, *others.split()):
                found.setdefault(spelling.lower(), (kind, unit, Fraction(size)))
    return found


_SPELLINGS = _spellings()


def conversion(unit: str, wanted: str) -> Conversion | None:
    """How a value in `unit` becomes one in `wanted`; None when it cannot."""
    degrees = _DEGREES.get(unit.lower()), _DEGREES.get(wanted.lower())
    if None not in degrees:
        return _between_degrees(degrees[0] == _CELSIUS, degrees[1] == _CELSIUS)
    here, there = _SPELLINGS.get(unit.lower()), _SPELLINGS.get(wanted.lower())
    if here is None or there is None or here[0] != there[0]:
        return None
    return Conversion(there[1], here[2] / there[2], Fraction(0))


def canonical(unit: str) -> str:
    """The unit as it is written after a number: `hour` is hours; unchanged when it is not known."""
    known = _SPELLINGS.get(unit.lower())
    return known[1] if known else _DEGREES.get(unit.lower(), unit)


def _between_degrees(from_celsius: bool, to_celsius: bool) -> Conversion:
    unit = _CELSIUS if to_celsius else _FAHRENHEIT
    if from_celsius == to_celsius:
        return Conversion(unit, Fraction(1), Fraction(0))
    if to_celsius:
        return Conversion(unit, Fraction(5, 9), Fraction(-160, 9))
    return Conversion(unit, Fraction(9, 5), Fraction(32))


def units_like(unit: str) -> tuple[str, ...]:
    """The units that a value in `unit` can be converted to."""
    if unit.lower() in _DEGREES:
        return _CELSIUS, _FAHRENHEIT
    known = _SPELLINGS.get(unit.lower())
    return tuple(name for name, _, _ in _KINDS[known[0]]) if known else ()
