"""Values of a column that are near a text which is none of them: `München` for `Munchen`.

Invariant: pure and deterministic; the work for one text is bounded.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from sandtable.catalog.names import apart
from sandtable.catalog.profile import ColumnProfile

MOST_NEAR = 5
_MOST_COMPARED = 400
_FARTHEST = 0.4
"""Errors per letter, as in `names.nearest`."""


def held(column: ColumnProfile | None, text: str) -> bool | None:
    """Whether a cell of the column is this text; None when the profile cannot tell."""
    if column is None:
        return None
    if any(counted.value == text for counted in column.values):
        return True
    return False if column.complete else None


def folded(text: str) -> str:
    """Without case, accents, and runs of spaces: what two spellings of one value have in common."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join(plain.casefold().split())


def texts_of(column: ColumnProfile) -> list[str]:
    """The texts among the values that the profile lists, most frequent first."""
    return [counted.value for counted in column.values if isinstance(counted.value, str)]


def near_values(text: str, values: Iterable[str]) -> tuple[str, ...]:
    """The few values that are most like the text, the nearest first; of equally near ones the first."""
    wanted = folded(text)
    spelled = {value: folded(value) for value in values if value.strip() and value != text}
    costs = [
        (_cost(wanted, spelled[value]), place, value)
        for place, value in enumerate(_likeliest(wanted, spelled))
    ]
    return tuple(value for cost, _, value in sorted(costs) if cost <= _FARTHEST)[:MOST_NEAR]


def _likeliest(wanted: str, spelled: dict[str, str]) -> list[str]:
    """Values with about the same letters, in their order."""
    if len(spelled) <= _MOST_COMPARED:
        return list(spelled)
    letters = set(wanted)
    by_difference = sorted(spelled, key=lambda value: len(letters.symmetric_difference(spelled[value])))
    kept = set(by_difference[:_MOST_COMPARED])
    return [value for value in spelled if value in kept]


def _cost(wanted: str, value: str) -> float:
    """Either may have further words: `Acme` is near `Acme Corporation`, and `north region` near `North`."""
    return min(apart(wanted, value), apart(value, wanted) + 0.05)
