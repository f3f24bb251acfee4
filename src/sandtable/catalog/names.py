"""The nearest valid name, for "did you mean".

Invariant: pure and deterministic; of equally near candidates the first one wins. The work for one name is bounded,
because a plan may hold many wrong names, and a table many columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_LONGEST = 128
_MOST_COMPARED = 100
_MOST_WORDS = 8
_NEAR_WORD = 0.25
_FAR = 1.0
_LIMIT = 0.4
_WORD_MATCH = 0.3
"""Cost of a name whose words are all among the candidate's: `discount` for `discount_rate`."""


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most similar to `name`, or None when none is similar."""
    if not 0 < len(name) <= _LONGEST:
        return None
    best: str | None = None
    best_cost = _LIMIT
    for candidate in _likeliest(name, list(candidates)):
        cost = _cost(name, candidate)
        if cost < best_cost or (cost == best_cost and best is None):
            best, best_cost = candidate, cost
    return best


def apart(name: str, candidate: str) -> float:
    """How unlike two names are: below 0 for the same one, 1 for nothing in common or for a name too long to compare."""
    return _cost(name, candidate) if 0 < len(name) <= _LONGEST else _FAR


def _likeliest(name: str, candidates: list[str]) -> list[str]:
    """Candidates that share most of the name's letters, in their order."""
    if len(candidates) <= _MOST_COMPARED:
        return candidates
    letters = set(name.lower())
    by_missing = sorted(candidates, key=lambda candidate: len(letters.difference(candidate.lower())))
    kept = set(by_missing[:_MOST_COMPARED])
    return [candidate for candidate in candidates if candidate in kept]


def _cost(name: str, candidate: str) -> float:
    """0 for the same name, up to 1 for nothing in common."""
    if name == candidate:
        return -2.0
    if name.lower() == candidate.lower():
        return -1.0
    ours, theirs = _words(name), _words(candidate)
    if not ours or not theirs or len(candidate) > _LONGEST:
        return _FAR
    cost = _ratio("".join(ours), "".join(theirs), _LIMIT)
    apart = _words_apart(ours, theirs)
    if apart <= _NEAR_WORD:
        # Fewer remaining words is nearer: `discount` is `discount_rate` before `max_discount_rate`.
        cost = min(cost, _WORD_MATCH + apart * 0.2 + 0.01 * min(abs(len(theirs) - len(ours)), 5))
    if _abbreviates("".join(ours), "".join(theirs)):
        cost = min(cost, _LIMIT)
    return cost


def _words_apart(ours: list[str], theirs: list[str]) -> float:
    """The largest distance of one of our words to its nearest word of theirs; exact only up to _NEAR_WORD."""
    apart = 0.0
    for word in (word for word in ours if word not in theirs):
        apart = max(apart, min(_ratio(word, other, _NEAR_WORD) for other in theirs))
        if apart > _NEAR_WORD:
            break
    return apart


def _words(name: str) -> list[str]:
    """`orderItems`, `order-items` and `Order Items` are all `order`, `item`."""
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    found = [singular(word) for word in re.split(r"[\W_]+", split.lower()) if word]
    return (
        [*found[: _MOST_WORDS - 1], "".join(found[_MOST_WORDS - 1 :])] if len(found) > _MOST_WORDS else found
    )


def singular(word: str) -> str:
    """Of an English word in lower case; a heuristic that is mostly right."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _ratio(a: str, b: str, limit: float) -> float:
    """Errors per letter; _FAR at once where the lengths alone exceed `limit`."""
    longest = max(len(a), len(b))
    return _FAR if abs(len(a) - len(b)) > limit * longest else _distance(a, b) / longest


def _distance(a: str, b: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours that turn one into the other.

    Bit-parallel (Hyyrö, 2003): bit i of a vector is about the first i + 1 letters of `a`, so that a letter of `b` costs
    a few integer operations instead of one for each letter of `a`.
    """
    if not a:
        return len(b)
    places: dict[str, int] = {}
    for place, letter in enumerate(a):
        places[letter] = places.get(letter, 0) | 1 << place
    every, last = (1 << len(a)) - 1, 1 << (len(a) - 1)
    # Where a column of the table increases or decreases downwards, and where a diagonal step is free.
    grows, falls, free = every, 0, 0
    distance, before = len(a), 0
    for letter in b:
        here = places.get(letter, 0)
        swapped = ((~free & here) << 1) & before
        free = ((((here & grows) + grows) ^ grows) | here | falls | swapped) & every
        rightward_grows = falls | (~(free | grows) & every)
        rightward_falls = free & grows
        distance += bool(rightward_grows & last) - bool(rightward_falls & last)
        rightward_grows = (rightward_grows << 1 | 1) & every
        rightward_falls = rightward_falls << 1 & every
        grows = rightward_falls | (~(free | rightward_grows) & every)
        falls = rightward_grows & free
        before = here
    return distance


def _abbreviates(short: str, full: str) -> bool:
    """`qty` for `quantity`: same first letter, and the other letters follow in order."""
    if len(short) < 3 or len(short) >= len(full) or short[0] != full[0]:
        return False
    letters = iter(full)
    return all(letter in letters for letter in short)
