"""The nearest valid name, for "did you mean".

Invariant: pure and deterministic; of equally near candidates the first one wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_LONGEST = 128
_FAR = 1.0
_LIMIT = 0.4
_WORD_MATCH = 0.3
"""What a name costs whose words are all among the candidate's: `discount` for `discount_rate`."""


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like `name`, or None when none is alike."""
    if not 0 < len(name) <= _LONGEST:
        return None
    best: str | None = None
    best_cost = _LIMIT
    for candidate in candidates:
        cost = _cost(name, candidate)
        if cost < best_cost or (cost == best_cost and best is None):
            best, best_cost = candidate, cost
    return best


def _cost(name: str, candidate: str) -> float:
    """0 for the same name, up to 1 for nothing in common."""
    if name == candidate:
        return -2.0
    if name.lower() == candidate.lower():
        return -1.0
    ours, theirs = _words(name), _words(candidate)
    if not ours or not theirs or len(candidate) > _LONGEST:
        return _FAR
    cost = _ratio("".join(ours), "".join(theirs))
    apart = max(min(_ratio(word, other) for other in theirs) for word in ours)
    if apart <= 0.25:
        # Fewer words left over is nearer: `discount` is `discount_rate` before `max_discount_rate`.
        cost = min(cost, _WORD_MATCH + apart * 0.2 + 0.01 * min(abs(len(theirs) - len(ours)), 5))
    if _abbreviates("".join(ours), "".join(theirs)):
        cost = min(cost, _LIMIT)
    return cost


def _words(name: str) -> list[str]:
    """`orderItems`, `order-items` and `Order Items` are all `order`, `item`."""
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return [_singular(word) for word in re.split(r"[\W_]+", split.lower()) if word]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _ratio(a: str, b: str) -> float:
    return _distance(a, b) / max(len(a), len(b))


def _distance(a: str, b: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours that turn one into the other."""
    before: list[int] = []
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            least = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                least = min(least, before[j - 2] + 1)
            row.append(least)
        before, previous = previous, row
    return previous[-1]


def _abbreviates(short: str, full: str) -> bool:
    """`qty` for `quantity`: same first letter, and the other letters follow in order."""
    if len(short) < 3 or len(short) >= len(full) or short[0] != full[0]:
        return False
    letters = iter(full)
    return all(letter in letters for letter in short)
