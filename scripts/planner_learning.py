"""Learning in plain Python: weights for choices, weights for judgements, and a curve from score to probability.

Invariant: the same steps in the same order give the same bits on every machine and Python version. Hence the own
exponential, and loops or `fsum` where the rounding of `sum` depends on the Python version.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

IGNORED = 0.02
"""A gradient smaller than this changes nothing: most choices are clear after one pass."""


def steady_exp(x: float) -> float:
    """The exponential from additions, products and quotients alone."""
    if x < -40.0:
        return 0.0
    y = x / 256.0
    result = 1.0 + y * (1.0 + y / 2.0 * (1.0 + y / 3.0 * (1.0 + y / 4.0 * (1.0 + y / 5.0 * (1.0 + y / 6.0)))))
    for _ in range(8):
        result *= result
    return result


class Learner:
    """Weights that follow the gradient, each at a pace that slows down with use; the result is an average."""

    def __init__(self, buckets: int) -> None:
        self.rate = 0.0
        self.weights = [0.0] * buckets
        self.squares = [1.0] * buckets
        self.sum = [0.0] * buckets
        self.sums = 0

    def choose(self, possible: Sequence[Sequence[int]], right: frozenset[int]) -> None:
        """One step towards giving the right possibilities all of the probability."""
        scores = [self.score(buckets) for buckets in possible]
        most = max(scores)
        parts = [steady_exp(score - most) for score in scores]
        total = math.fsum(parts)
        good = math.fsum(parts[at] for at in right)
        for at, buckets in enumerate(possible):
            wanted = parts[at] / good if good and at in right else 0.0
            self._move(buckets, parts[at] / total - wanted)

    def judge(self, buckets: Sequence[int], right: bool) -> None:
        """One step towards the score's sign telling right from wrong."""
        self._move(buckets, 1.0 / (1.0 + steady_exp(min(-self.score(buckets), 40.0))) - right)

    def score(self, buckets: Sequence[int]) -> float:
        weights = self.weights
        score = 0.0
        for bucket in buckets:
            score += weights[bucket]
        return score

    def _move(self, buckets: Sequence[int], slope: float) -> None:
        if -IGNORED < slope < IGNORED:
            return
        weights, squares, root = self.weights, self.squares, math.sqrt
        square, step = slope * slope, self.rate * slope
        for bucket in buckets:
            squares[bucket] += square
            weights[bucket] -= step / root(squares[bucket])

    def remember(self) -> None:
        """The weights as they are now become part of the average."""
        self.sums += 1
        for bucket, weight in enumerate(self.weights):
            if weight:
                self.sum[bucket] += weight

    def average(self) -> list[float]:
        return [total / self.sums for total in self.sum]


def rising_curve(scored: Sequence[tuple[float, bool]], least: int) -> list[tuple[float, float]]:
    """Score → share that was right, never falling (pool adjacent violators), as knots for straight lines.

    A knot stands for at least `least` cases, and counts half a case of either kind beside its own, so that no
    probability is 0 or 1.
    """
    ordered = sorted(scored)
    pools: list[list[float]] = []
    for start in range(0, len(ordered), least):
        part = ordered[start : start + least]
        right = float(sum(good for _, good in part))
        pools.append([right, float(len(part)), math.fsum(score for score, _ in part)])
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] >= pools[-1][0] * pools[-2][1]:
            last = pools.pop()
            pools[-1] = [one + other for one, other in zip(pools[-1], last, strict=True)]
    knots: list[tuple[float, float]] = []
    for right, count, total in pools:
        chance = round((right + 0.5) / (count + 1.0), 4)
        knots.append((round(total / count, 3), max(chance, knots[-1][1] if knots else 0.0)))
    return knots
