"""SplitMix64 and the few integer distributions the datasets need.

Invariant: every draw is integer arithmetic on 64 bits, so a seed gives one sequence everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Generic, TypeVar

_MASK = (1 << 64) - 1

T = TypeVar("T")


class Random:
    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def bits(self) -> int:
        """64 random bits."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """Uniform in 0 … n-1."""
        return (self.bits() * n) >> 64

    def between(self, low: int, high: int) -> int:
        """Uniform in low … high, both included."""
        return low + self.below(high - low + 1)

    def chance(self, per_10000: int) -> bool:
        return self.below(10_000) < per_10000

    def choice(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def skewed(self, n: int) -> int:
        """In 0 … n-1 with small numbers more likely: the first tenth gets a quarter of the draws."""
        b = self.bits()
        least = min(b & 0x1FFFFF, (b >> 21) & 0x1FFFFF, (b >> 42) & 0x1FFFFF)
        return (n * least) >> 21

    def noise(self, deviation: int) -> int:
        """Bell-shaped around 0: the sum of four uniform 16-bit numbers, scaled to `deviation`."""
        b = self.bits()
        total = (b & 0xFFFF) + ((b >> 16) & 0xFFFF) + ((b >> 32) & 0xFFFF) + (b >> 48)
        # 37837 is the standard deviation of that sum, 131070 its mean.
        return (total - 131_070) * deviation // 37_837

    def long_tail(self, scale: int) -> int:
        """Positive with a long right tail: median 0.86 × scale, one in twenty above 7 × scale."""
        u = self.below(10_000)
        return scale * u // (10_800 - u)

    def around(self, thousandths: int) -> int:
        """An integer near `thousandths / 1000`, some noise included, never negative."""
        spread = max(thousandths // 6, 300)
        value = max(thousandths + self.noise(spread), 0)
        return value // 1000 + (self.below(1000) < value % 1000)


class Weighted(Generic[T]):
    """Options with integer weights."""

    __slots__ = ("_edges", "_options", "_total")

    def __init__(self, pairs: Sequence[tuple[T, int]]) -> None:
        self._options = [option for option, _ in pairs]
        self._edges = list(accumulate(weight for _, weight in pairs))
        self._total = self._edges[-1]

    def draw(self, rng: Random) -> T:
        point = rng.below(self._total)
        for option, edge in zip(self._options, self._edges, strict=True):
            if point < edge:
                return option
        raise AssertionError("a point below the total lies below the last edge")
