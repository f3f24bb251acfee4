"""What may be done with the numbers of a column: add them, average them, or neither; and which end is bad.

A declared `measure` or `better` decides. Otherwise the type, the unit and the words of the name do.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Literal

from sandtable.catalog.model import Column, ColumnType, Metric
from sandtable.catalog.profile import ColumnProfile
from sandtable.catalog.units import unit_of_column

End = Literal["high", "low"]

NUMBER_TYPES = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT})


class MeasureKind(StrEnum):
    ADDITIVE = "additive"
    """Amounts and counts: usually summed."""
    AVERAGED = "averaged"
    """Rates, scores, durations, ages, unit prices: a sum has little or no meaning."""
    IDENTIFIER = "identifier"
    """Codes, serial numbers, years: neither a sum nor an average has a meaning."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WHOLE = _words("total sum count amount revenue sales volume quantity qty units subtotal turnover cumulative")
_IDENTIFIERS = _words(
    "id ids uuid guid key code codes zip zipcode postcode postal sku isbn issn ean upc gtin phone fax telephone mobile "
    "number no nr num year yr season month quarter week weekday day dow hour ssn iban bic serial ip mac latitude "
    "longitude lat lon lng index idx row pk fk barcode vin"
)
_AVERAGES = _words(
    "rate rates ratio pct percent percentage share fraction proportion probability score scores rating ratings stars "
    "csat nps gpa avg average mean median age ages temperature temp humidity pressure speed velocity price prices "
    "duration minutes mins hours hrs seconds secs ms milliseconds latency delay time days weeks months years density "
    "bmi voltage battery elevation altitude height rank position grade level margin efficiency utilization utilisation "
    "yield frequency satisfaction happiness ph"
)
_AVERAGE_UNITS = _words(
    "fraction % °c °f stars seconds minutes hours days weeks months years ms milliseconds mph km/h m/s mm/s bpm db hz "
    "mpg rpm v"
)
_OF_ONE = _words("price cost value fee")
BAD_HIGH = _words(
    "return returns returned refund refunds churn error errors failure failures failed defect defects complaint "
    "complaints cancellation cancellations cancelled canceled breach breaches breached delay delays late lateness "
    "latency wait waiting response resolution downtime cost costs expense expenses bounce reopen reopened reopens loss "
    "losses debt absence absences absenteeism risk incident incidents accident accidents mortality deaths "
    "unemployment crime anomaly anomalies outage outages backlog overdue scrap waste turnaround attrition vibration"
)
BAD_LOW = _words(
    "csat satisfaction nps rating ratings score scores revenue sales profit profits margin retention conversion uptime "
    "win wins growth renewal renewals attendance gpa happiness stars income productivity efficiency availability "
    "accuracy yield"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def measure_kind(measure: Column | Metric, profile: ColumnProfile | None = None) -> MeasureKind:
    """`profile` is that of the column, if known."""
    if isinstance(measure, Metric):
        return _kind_of_metric(measure)
    if measure.measure is not None:
        return MeasureKind(measure.measure)
    if measure.type is ColumnType.BOOLEAN:
        return MeasureKind.AVERAGED
    if measure.type not in NUMBER_TYPES:
        return MeasureKind.IDENTIFIER
    return _kind_of_numbers(measure, profile)


def _kind_of_metric(metric: Metric) -> MeasureKind:
    adds = metric.numerator.get("agg") in ("sum", "count") and metric.denominator is None
    return MeasureKind.ADDITIVE if adds else MeasureKind.AVERAGED


def _kind_of_numbers(column: Column, profile: ColumnProfile | None) -> MeasureKind:
    words = name_words(column.name)
    last = words[-1] if words else ""
    if last in _IDENTIFIERS and column.type is not ColumnType.FLOAT:
        return MeasureKind.IDENTIFIER
    if _WHOLE & set(words):
        return MeasureKind.ADDITIVE
    per_one = "per" in words or (words[:1] == ("unit",) and last in _OF_ONE)
    unit = unit_of_column(column).lower()
    if per_one or unit in _AVERAGE_UNITS or "/" in unit or {words[0] if words else "", last} & _AVERAGES:
        return MeasureKind.AVERAGED
    if last == "discount" and _within_one(profile):
        return MeasureKind.AVERAGED
    return MeasureKind.ADDITIVE


def _within_one(profile: ColumnProfile | None) -> bool:
    ends = (profile.minimum, profile.maximum) if profile else (None, None)
    return all(isinstance(end, int | float) and 0 <= end <= 1 for end in ends)


def bad_end(measure: Column | Metric) -> End | None:
    """Which end of the values is the worst: high for a return rate, low for a satisfaction score; None when unknown."""
    if measure.better is not None:
        return "low" if measure.better == "high" else "high"
    words = set(name_words(measure.name))
    if words & BAD_HIGH:
        return "high"
    return "low" if words & BAD_LOW else None


def name_words(name: str) -> tuple[str, ...]:
    """`SLA_breachRate` as sla, breach, rate."""
    return tuple(word for word in re.split(r"[\W_]+", _CAMEL.sub(" ", name).lower()) if word)
