"""Numbers for reading: thousands separators, percent, currency, units.

Invariant: what is shown is the number itself, rounded; nothing is computed but the factor 100 of a percentage.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from math import isfinite

from sandtable.plan.units import FRACTION, PERCENT

_SYMBOLS = {
    "EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "CNY": "CN¥", "INR": "₹", "KRW": "₩", "BRL": "R$",
}  # fmt: skip
_SYMBOLS_BACK = {symbol: symbol for symbol in ("€", "$", "£", "¥", "₹", "₩")}
_CODES = frozenset("CHF SEK NOK DKK PLN CZK HUF AUD CAD NZD MXN SGD HKD ZAR".split())
_ABBREVIATED = {
    "min": "minutes",
    "mins": "minutes",
    "sec": "seconds",
    "secs": "seconds",
    "hrs": "hours",
    "hr": "hours",
}
_ONE = {
    "minutes": "minute", "seconds": "second", "hours": "hour", "days": "day", "weeks": "week", "months": "month",
    "years": "year", "units": "unit", "lines": "line", "stars": "star", "points": "point",
}  # fmt: skip
_SILENT = frozenset({"score", "count", "number", "ratio", "index", "scale"})
CODE_WORDS = frozenset("id year zip zipcode postcode postal code sku phone ean isbn serial".split())
"""Endings of columns whose numbers serve as names: shown without separators."""
LONGEST_DIGITS = 40
# Wide enough for every float, so that rounding never fails.
_EXACT = Context(prec=700, rounding=ROUND_HALF_EVEN)


def number_of(cell: object) -> Decimal | None:
    """A cell as a number: decimals and long integers arrive as text."""
    if isinstance(cell, bool) or cell is None:
        return None
    if isinstance(cell, int):
        return Decimal(cell)
    if isinstance(cell, float):
        # What is beyond 15 digits is noise of the binary form: 0.27999999999999997 is 0.28.
        usual = 1e-300 < abs(cell) < 1e15
        return Decimal(f"{cell:.15g}" if usual else repr(cell)) if isfinite(cell) else None
    if isinstance(cell, Decimal):
        return cell if cell.is_finite() else None
    if not isinstance(cell, str) or not cell or len(cell) > LONGEST_DIGITS or not cell.isascii():
        return None
    try:
        made = Decimal(cell)
    except InvalidOperation:
        return None
    return made if made.is_finite() and "_" not in cell and cell == cell.strip() else None


def is_currency(unit: str) -> bool:
    return unit.upper() in _SYMBOLS or unit.upper() in _CODES or unit in _SYMBOLS_BACK


def shown(value: Decimal, unit: str = "") -> str:
    """The number with its unit: 14.2 %, €84.12, 53 minutes, 1,234."""
    if unit == FRACTION:
        return f"{_grouped(_percent(value.scaleb(2, context=_EXACT)))} %"
    if is_currency(unit):
        return _money(value, unit)
    figure = _grouped(_rounded(value))
    if unit == PERCENT:
        return f"{figure} %"
    return f"{figure} {_unit_words(unit, figure)}".rstrip()


def bare(value: Decimal) -> str:
    """Digits only, for identifiers and years."""
    return format(
        value.quantize(Decimal(1), context=_EXACT) if value == value.to_integral_value() else value, "f"
    )


def _unit_words(unit: str, figure: str) -> str:
    full = _ABBREVIATED.get(unit.lower(), unit)
    if full.lower() in _SILENT:
        return ""
    return _ONE.get(full, full) if figure in ("1", "-1", "−1") else full


def _money(value: Decimal, unit: str) -> str:
    symbol = _SYMBOLS.get(unit.upper()) or _SYMBOLS_BACK.get(unit)
    cents = Decimal(1) if abs(value) >= 10_000 or value == value.to_integral_value() else Decimal("0.01")
    if value and abs(value) < Decimal("0.01"):
        amount = _grouped(_significant(abs(value), 2))
    else:
        amount = f"{abs(value).quantize(cents, context=_EXACT):,f}"
    sign = "−" if value < 0 and amount.strip("0.,") else ""
    return f"{sign}{symbol}{amount}" if symbol else f"{sign}{amount} {unit.upper()}"


def _percent(value: Decimal) -> Decimal:
    if value and abs(value) < 1:
        return _significant(value, 2)
    return _at_most(value, 1)


def _rounded(value: Decimal) -> Decimal:
    size = abs(value)
    if value == value.to_integral_value():
        return value.to_integral_value()
    if size < 1:
        return _significant(value, 3)
    return _at_most(value, 0 if size >= 10_000 else 1 if size >= 100 else 2)


def _at_most(value: Decimal, places: int) -> Decimal:
    """Rounded to so many decimals; a value with fewer of its own keeps those, so that 3.80 is not 3.8 exactly."""
    short = value.normalize(_EXACT)
    exponent = short.as_tuple().exponent
    if isinstance(exponent, int) and exponent >= -places:
        return short
    return value.quantize(Decimal(1).scaleb(-places), context=_EXACT)


def _significant(value: Decimal, digits: int) -> Decimal:
    return _at_most(value, digits - 1 - value.adjusted())


def _grouped(value: Decimal) -> str:
    far = abs(value) >= Decimal("1e18") or abs(value) < Decimal("1e-6")
    text = f"{value:.3g}" if far else f"{value:,f}"
    return "0" if not value else text.replace("-", "−", 1) if value < 0 else text
