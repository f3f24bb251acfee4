"""Column names and labels in plain words, safe to hand to Plotly.

Plotly reads a little HTML in titles, tick labels, legends and hover labels. What comes from data or
from names passes through `escape` on its way there.
"""

from __future__ import annotations

import re

from sandtable.catalog.units import split_unit
from sandtable.chart.shape import COUNTS, Field, Reading
from sandtable.plan.units import FRACTION

LONGEST_TICK = 24
LONGEST_TITLE = 120
LONGEST_SERIES = 48
LONGEST_WITH_SCOPE = 180

_PREFIXES = (
    (r"count_distinct_(?=.)", "number of distinct "),
    (r"(?:count|num|n)_(?:of_)?(?=.)", "number of "),
    (r"(?:avg|mean)_(?=.)", "average "),
    (r"(?:sum|total)_(?=.)", "total "),
    (r"min_(?=.)", "lowest "),
    (r"max_(?=.)", "highest "),
    (r"stddev_(?=.)", "standard deviation of "),
)
_QUANTILE = re.compile(r"p([0-9]{1,2})_(?=.)")
_ACRONYMS = frozenset("id sla vat usd eur gbp api url sku kpi csat nps ip cpu gpu us uk eu".split())
_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*")


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def shortened(text: str, longest: int = LONGEST_TICK) -> str:
    """On one line, truncated with an ellipsis when too long."""
    line = " ".join(text.split()) or text
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def words(name: str) -> str:
    """`avg_unit_price` as `average unit price`; a name that a person wrote stays as it is."""
    if not _IDENTIFIER.fullmatch(name):
        return name
    quantile = _QUANTILE.match(name)
    if quantile:
        return f"{_ordinal(int(quantile[1]))} percentile of {words(name[quantile.end() :])}"
    for prefix, spelled in _PREFIXES:
        found = re.match(prefix, name)
        if found:
            return spelled + words(name[found.end() :])
    parts = [part.upper() if part in _ACRONYMS else part for part in name.split("_") if part]
    return " ".join(parts) or name


def _ordinal(n: int) -> str:
    ending = "th" if 10 <= n % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def measure_words(field: Field, table: str) -> str:
    """What is measured, without its unit."""
    if field.name.lower() in COUNTS:
        return f"number of {words(table)}" if table else "count"
    return words(split_unit(field.name)[0] if field.unit else field.name)


def key_words(field: Field) -> str:
    grain = field.grain if not field.meaning.named else None
    return grain.replace("_", " ") if grain else words(field.name)


def axis_title(field: Field, reading: Reading | None = None) -> str:
    if field.role != "measure":
        return _title(key_words(field))
    said = series_words(field, reading) if reading is not None else measure_words(field, "")
    unit = unit_word(field)
    repeated = unit.lower() in said.lower().split(" ") and (field.current or bool(field.given_unit))
    return _title(said + (f" ({unit})" if unit and not repeated else ""))


def unit_word(field: Field) -> str:
    """Empty for a fraction, which is shown as per cent."""
    if not field.current:
        return field.unit
    return "" if field.shown_unit == FRACTION else shortened(field.shown_unit)


def series_words(field: Field, reading: Reading) -> str:
    """What is measured, in the words of the plan where they are short, else by the name of the column."""
    said = _said(field, reading) if field.current else ""
    return said if said and len(said) <= LONGEST_SERIES else measure_words(field, reading.table)


def title(measures: list[Field], keys: list[Field], reading: Reading) -> str:
    """`Revenue by month and region, 2025, where channel is Online`."""
    what = _listed([computed(field, reading) for field in measures])
    by = [_said(key, reading) or key_words(key) for key in keys]
    return titled(f"{what} by {_listed(by)}" if keys else what, reading)


def titled(text: str, reading: Reading) -> str:
    """What is shown, with its time and conditions."""
    head, scope = shortened(reading.words.head or text, LONGEST_TITLE), reading.words.scope
    return escape(capital(shortened(f"{head}, {scope}", LONGEST_WITH_SCOPE) if scope else head))


def computed(field: Field, reading: Reading) -> str:
    """What a measure is: by the plan, else by its column's name."""
    return _said(field, reading) or measure_words(field, reading.table)


def _said(field: Field, reading: Reading) -> str:
    said = reading.words.columns
    return said[field.column.index] if field.column.index < len(said) else ""


def _title(text: str) -> str:
    return escape(capital(shortened(text, LONGEST_TITLE)))


def _listed(parts: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
