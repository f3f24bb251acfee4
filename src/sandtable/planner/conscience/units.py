"""Units of measure: which a word names, and which a column has."""

from __future__ import annotations

from dataclasses import dataclass

from sandtable.planner.language.words import stem
from sandtable.planner.schema.entries import ColumnEntry

_SECONDS = {
    "ms": 0.001, "millisecond": 0.001, "s": 1, "sec": 1, "second": 1, "min": 60, "minut": 60, "h": 3600, "hour": 3600,
    "day": 86400, "week": 604800, "month": 2629800, "quarter": 7889400, "year": 31557600,
}  # fmt: skip
_GRAMS = {
    "mg": 0.001,
    "g": 1,
    "gram": 1,
    "kg": 1000,
    "kilo": 1000,
    "kilogram": 1000,
    "t": 1e6,
    "ton": 1e6,
    "tonn": 1e6,
}
_METRES = {
    "mm": 0.001,
    "cm": 0.01,
    "m": 1,
    "metr": 1,
    "meter": 1,
    "km": 1000,
    "kilometr": 1000,
    "kilometer": 1000,
    "mil": 1609.344,
}
_LITRES = {"ml": 0.001, "cl": 0.01, "l": 1, "litr": 1, "liter": 1, "hl": 100, "m3": 1000, "cbm": 1000}
_WATTS = {"wh": 1, "kwh": 1000, "mwh": 1e6}
_AREAS = {"ha": 10_000, "hectar": 10_000, "sqm": 1, "m2": 1, "acre": 4046.856, "sqkm": 1e6, "km2": 1e6}
_DEGREES = {"c": 1.0, "°c": 1.0, "celsius": 1.0, "degre": 1.0, "fahrenheit": 1.8, "°f": 1.8}
_KINDS: tuple[dict[str, float], ...] = (_SECONDS, _GRAMS, _METRES, _LITRES, _WATTS, _DEGREES, _AREAS)
_CURRENCIES = {
    "eur": "eur", "euro": "eur", "€": "eur", "usd": "usd", "dollar": "usd", "$": "usd", "gbp": "gbp", "pound": "gbp",
    "£": "gbp", "chf": "chf", "franc": "chf", "yen": "jpy", "jpy": "jpy", "¥": "jpy",
}  # fmt: skip
UNIT_WORDS = (
    frozenset(u for kind in _KINDS for u in kind if len(u) > 1)
    | frozenset(_CURRENCIES)
    | {"thousand", "million"}
)
"""Stems that are units wherever they stand; single letters only behind a number."""


@dataclass(frozen=True, slots=True)
class Unit:
    kind: int
    """Which family: time, mass, length, volume, energy, temperature, area; -1 for money."""
    factor: float
    name: str = ""


def unit_named(word: str) -> Unit | None:
    """The unit that a stem names."""
    for kind, units in enumerate(_KINDS):
        if word in units:
            return Unit(kind, units[word], word)
    if word in _CURRENCIES:
        return Unit(-1, 1.0, _CURRENCIES[word])
    return None


_SQUARE = {"metr": "m2", "meter": "m2", "kilometr": "km2", "kilometer": "km2"}
_CUBIC = {"metr": "m3", "meter": "m3"}


def unit_of_two(first: str, second: str) -> Unit | None:
    """`square metres`, `cubic metres`: a word, and the stem of the next one."""
    named = _SQUARE if first in {"square", "sq"} else _CUBIC if first == "cubic" else {}
    return unit_named(named[second]) if second in named else None


def unit_of(column: ColumnEntry) -> Unit | None:
    """The unit of a column's numbers: declared, or a word of its name."""
    words = [stem(w) for w in column.unit.lower().replace("/", " ").split()]
    if not words and column.numeric:
        words = [s for s in reversed(column.stems) if len(s) > 1 or s == column.stems[-1]]
    return next((unit for word in words if (unit := unit_named(word)) is not None), None)
