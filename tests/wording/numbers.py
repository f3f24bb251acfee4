"""The numbers in a text, for comparison with those of a result."""

from __future__ import annotations

import re
from decimal import Decimal

_NUMBER = re.compile(r"[−-]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)


def numbers_in(text: str) -> tuple[Decimal, ...]:
    """Every run of digits as a number, as it is written: 1,234.5 is one, 14.2 % is 14.2, Q4 is 4.

    A hyphen before a digit is a sign only where no letter or digit stands before it.
    """
    found: list[Decimal] = []
    for match in _NUMBER.finditer(text):
        digits = match.group().replace(",", "").replace("−", "-")
        before = text[match.start() - 1] if match.start() else " "
        joined = digits.startswith("-") and (before.isalnum() or before in "-–_")
        found.append(Decimal(digits.removeprefix("-") if joined else digits))
    return tuple(found)
