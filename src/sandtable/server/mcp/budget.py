"""How much one call may give a model: rows, bytes and tokens.

Invariant: what `fitted` returns is within the budget, and says how many rows there are besides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sandtable.settings import Settings

CHARS_PER_TOKEN = 3
"""A low estimate: figures and JSON take more tokens than prose of the same length."""
_PART = 8
"""A text, such as the sentence or the SQL, takes at most this part of a budget."""


@dataclass(frozen=True, slots=True)
class Budget:
    rows: int
    bytes: int
    tokens: int

    @classmethod
    def of(cls, settings: Settings) -> Budget:
        return cls(settings.mcp_rows, settings.mcp_bytes, settings.mcp_tokens)

    def shared(self, parts: int) -> Budget:
        """For one of several answers in a call."""
        return Budget(self.rows, self.bytes // parts, self.tokens // parts)

    @property
    def chars(self) -> int:
        return min(self.bytes, self.tokens * CHARS_PER_TOKEN)

    @property
    def text(self) -> int:
        """Characters of one text."""
        return self.chars // _PART

    def holds(self, *texts: str) -> bool:
        size = sum(len(text.encode("utf-8", "replace")) for text in texts)
        return size <= self.bytes and sum(map(len, texts)) <= self.tokens * CHARS_PER_TOKEN


def most(count: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to `count` for which `holds`, which is monotone; -1 if it does not hold for 0."""
    low, high = -1, count
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def shortened(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[: max(chars - 1, 0)] + "…"
