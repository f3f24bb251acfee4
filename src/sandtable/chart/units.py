"""Units that a column's name ends in, such as `minutes` in `avg_wait_minutes`."""

from __future__ import annotations

_UNITS = {
    "seconds": "seconds", "secs": "seconds", "minutes": "minutes", "mins": "minutes", "hours": "hours", "hrs": "hours",
    "days": "days", "weeks": "weeks", "months": "months", "years": "years", "ms": "ms", "usd": "USD", "eur": "EUR",
    "gbp": "GBP", "chf": "CHF", "jpy": "JPY", "kg": "kg", "km": "km", "mb": "MB", "gb": "GB", "kb": "KB",
    "bytes": "bytes", "celsius": "°C", "fahrenheit": "°F", "kwh": "kWh", "mw": "MW", "mwh": "MWh",
    "percent": "%", "pct": "%", "c": "°C", "mm_s": "mm/s",
}  # fmt: skip


def split_unit(name: str) -> tuple[str, str]:
    """`avg_wait_minutes` to `avg_wait` and `minutes`. A name that would be nothing else keeps its unit."""
    parts = name.replace(" ", "_").split("_")
    for n in (2, 1):
        ending = "_".join(parts[-n:])
        if n < len(parts) and ending.lower() in _UNITS:
            return name[: -len(ending) - 1], _UNITS[ending.lower()]
    return name, ""
