"""How amounts are written: with the sign of their unit, and with as many decimals as their size deserves.

Invariant: a unit is text of the catalog, so it is escaped, and it cannot become a part of a Plotly template.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sandtable.chart.shape import Field
from sandtable.chart.words import escape, shortened
from sandtable.plan.units import FRACTION

_BEFORE = {"EUR": "€", "€": "€", "USD": "$", "$": "$", "GBP": "£", "£": "£", "JPY": "¥"}
_AFTER = {
    "%": "%", "hours": " h", "minutes": " min", "seconds": " s", "CHF": " CHF", "EUR cents": " ct", "US cents": " ¢",
    "pence": " p", "l": " l", "bytes": " B",
}  # fmt: skip
_SIGNS = frozenset(
    "ms kg g mg t lb oz m mm cm km mi ft in m/s mm/s km/h mph KB MB GB TB Wh kWh MWh GWh W kW MW ml m³ °C °F".split()
)
_LONGEST = 24
_TINY = 1e-4
_PLAIN = ",.6~f"


@dataclass(frozen=True, slots=True)
class Sign:
    """What stands before and after the amounts of an axis; nothing for a unit that is a word, which the title has."""

    before: str = ""
    after: str = ""


def sign_of(field: Field) -> Sign:
    """Of ticks. Before a negative amount a currency would stand on the wrong side of the minus."""
    unit = field.shown_unit
    if not field.current:
        return Sign()
    before = _BEFORE.get(unit, "")
    if before and all(value >= 0 for value in field.column.numbers):
        return Sign(before=before)
    if before:
        return Sign(after=f" {before}")
    return Sign(after=_AFTER.get(unit, f" {unit}" if unit in _SIGNS else ""))


def amount(field: Field, letter: str) -> str:
    """One amount in a hover text, in Plotly's notation; `letter` is the part of the trace that has it."""
    sign = sign_of(field)
    placed = f"{sign.before}%{{{letter}:{number_format(field)}}}{sign.after}"
    word = _safe(field.shown_unit) if field.current and sign == Sign() and not _in_percent(field) else ""
    return f"{placed} {word}" if word else placed


def number_format(field: Field) -> str:
    """In d3's notation."""
    if _in_percent(field):
        return ".1%"
    if field.column.whole:
        return ",d"
    if not field.current:
        return _PLAIN if field.largest >= _TINY else ".4~g"
    if field.shown_unit in _BEFORE:
        return ",.2f"
    return ",.2~f" if field.largest >= 1 else ",.4~f" if field.largest >= 0.01 else ".4~g"


def written(field: Field, value: float) -> str:
    """One amount as text, without its sign."""
    if _in_percent(field):
        return f"{value:.1%}"
    if value.is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 1 else f"{value:.4g}"


def tick_format(field: Field) -> str:
    """Empty where Plotly's own is right."""
    if not _in_percent(field):
        return ""
    if field.current and field.largest < 0.01:
        return ".2%"
    return ".0%" if field.largest >= 0.1 else ".1%"


TICKS = ("tickformat", "tickprefix", "ticksuffix")


def ticks(field: Field, beside: Sequence[Field] = ()) -> dict[str, str]:
    """The format of an axis, or of the scale of a map; none where measures `beside` it are written in another way."""
    if any(sign_of(other) != sign_of(field) or _differently(field, other) for other in beside):
        return {}
    # The largest one decides how far apart the ticks are.
    sign, given = sign_of(field), tick_format(max((field, *beside), key=lambda each: each.largest))
    parts = zip(TICKS, (given, sign.before, sign.after), strict=True)
    return {name: part for name, part in parts if part}


def _differently(field: Field, other: Field) -> bool:
    """Whether one axis cannot write both amounts. Before the third rules, percents of other sizes were."""
    if field.current:
        return _in_percent(other) != _in_percent(field)
    return tick_format(other) != tick_format(field)


def _in_percent(field: Field) -> bool:
    return field.shown_unit == FRACTION if field.current else field.fraction


def _safe(unit: str) -> str:
    return escape(shortened(unit, _LONGEST)).replace("%{", "% {")
