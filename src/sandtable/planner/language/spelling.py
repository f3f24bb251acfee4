"""How far two spellings are apart."""

from __future__ import annotations


def within(a: str, b: str, most: int) -> int | None:
    """Insertions, deletions, substitutions and swaps of neighbours between two words; None above `most`."""
    if abs(len(a) - len(b)) > most:
        return None
    before_last: list[int] = []
    last = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        row = [i]
        for j, y in enumerate(b, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before_last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return None
        before_last, last = last, row
    return last[-1] if last[-1] <= most else None


def tolerated(length: int) -> int:
    """How many typos a word of this length may have and still be recognised."""
    return 0 if length < 4 else 1 if length < 8 else 2
