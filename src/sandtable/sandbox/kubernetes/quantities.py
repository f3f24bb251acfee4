"""Amounts as Kubernetes writes them: `100m`, `1.5`, `256Mi`, `2G`."""

from __future__ import annotations

import re

_QUANTITY = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>m|[KMGTPE]i|[kMGTPE])?")
_SCALE = {"": 1.0, "m": 1e-3, "k": 1e3, "Ki": 2.0**10}
for _power, _letter in enumerate("MGTPE", start=2):
    _SCALE |= {_letter: 1e3**_power, f"{_letter}i": 2.0 ** (10 * _power)}


def amount(text: object) -> float | None:
    """None for what this does not understand: the cluster itself will judge it."""
    found = _QUANTITY.fullmatch(str(text))
    return float(found["number"]) * _SCALE[found["unit"] or ""] if found else None


def at_most(wanted: object, limit: object) -> object:
    """`wanted`, or `limit` where it is less."""
    this, that = amount(wanted), amount(limit)
    return limit if this is not None and that is not None and this > that else wanted
