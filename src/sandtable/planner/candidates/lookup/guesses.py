"""The likeliest lookups for a question: conditions first, then the column asked for, then the aggregate.

Each step is a softmax over hashed features; the best few of each step are carried on to the next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sandtable.planner.candidates.lookup.features import (
    BUCKETS,
    AskContext,
    Condition,
    Features,
    SpanContext,
    aggregate_features,
    column_features,
    nothing_features,
    option_features,
)
from sandtable.planner.candidates.lookup.reading import Reading

AGGREGATES = (None, "count", "min", "max", "sum", "avg")
ON_ANY = AGGREGATES[:2]
"""Aggregates of a column that holds no numbers."""
_STEP = 0x9E3779B1
_SETS, _COLUMNS, _AGGREGATES, _GUESSES = 3, 3, 2, 6
_BEAM = 6
_WIDE_OPTIONS, _WIDE_COLUMNS = 12, 20
"""Of a wide table only the columns nearest to the question are scored, so it costs little more than a narrow one."""
_FAR_BEHIND = 3.0
"""How much less likely, as a logarithm, a set of conditions may be than the best one."""


@dataclass(frozen=True, slots=True)
class Scorer:
    """The weights by bucket; what they add up to is divided by `unit`."""

    weights: Sequence[float]
    unit: float = 1.0

    def score(self, features: Features) -> float:
        weights = self.weights
        total = 0.0
        for bucket in features:
            total += weights[bucket]
        return total / self.unit


@dataclass(frozen=True, slots=True)
class Guess:
    context: AskContext
    column: int
    aggregate: str | None
    by_conditions: float
    by_column: float
    by_aggregate: float
    """Logarithms of the three steps' probabilities."""

    @property
    def conditions(self) -> Sequence[Condition]:
        return self.context.conditions

    @property
    def total(self) -> float:
        return self.by_conditions + self.by_column + self.by_aggregate


def crossed(features: Features, aggregate: int) -> Features:
    """The features of an aggregate: those of its context, in separate buckets."""
    shift = aggregate * _STEP
    return [(bucket + shift) & (BUCKETS - 1) for bucket in features]


def logs(scores: list[float]) -> list[float]:
    """Logarithms of the softmax."""
    most = max(scores)
    total = math.log(math.fsum(math.exp(score - most) for score in scores)) + most
    return [score - total for score in scores]


def make_guesses(reading: Reading, scorer: Scorer) -> list[Guess]:
    """Best first; never empty."""
    sets = _condition_sets(reading, scorer)
    guesses: list[Guess] = []
    for by_conditions, conditions in sets[:_SETS]:
        if by_conditions < sets[0][0] - _FAR_BEHIND:
            break
        context = AskContext(reading, conditions)
        for by_column, place in _columns(context, scorer):
            if by_column < -_FAR_BEHIND and guesses:
                break
            for by_aggregate, aggregate in _aggregates(context, place, scorer):
                guesses.append(Guess(context, place, aggregate, by_conditions, by_column, by_aggregate))
    guesses.sort(key=lambda guess: -guess.total)
    return guesses[:_GUESSES]


def _condition_sets(reading: Reading, scorer: Scorer) -> list[tuple[float, tuple[Condition, ...]]]:
    beam: list[tuple[float, tuple[Condition, ...]]] = [(0.0, ())]
    for span in reading.spans:
        around = SpanContext(reading, span)
        options = span.options
        if len(options) > _WIDE_OPTIONS:
            options = sorted(options, key=lambda o: -around.near[o.column].score)[:_WIDE_OPTIONS]
        scores = [scorer.score(option_features(around, option)) for option in options]
        chances = logs([*scores, scorer.score(nothing_features(around))])
        longer = [(so_far + chances[-1], taken) for so_far, taken in beam]
        for option, chance in zip(options, chances, strict=False):
            if chance < -5.0:
                continue
            for so_far, taken in beam:
                # One column cannot equal two values at once, nor need two bounds of one kind.
                if all((o.column, o.op) != (option.column, option.op) for _, o in taken):
                    longer.append((so_far + chance, (*taken, (span, option))))
        longer.sort(key=lambda one: -one[0])
        beam = longer[:_BEAM]
    return beam


def _columns(context: AskContext, scorer: Scorer) -> list[tuple[float, int]]:
    shares = context.shares
    places = sorted(range(len(shares)), key=lambda place: -shares[place])[:_WIDE_COLUMNS]
    places.sort()
    chances = logs([scorer.score(column_features(context, place)) for place in places])
    return sorted(zip(chances, places, strict=True), key=lambda pair: -pair[0])[:_COLUMNS]


def _aggregates(context: AskContext, place: int, scorer: Scorer) -> list[tuple[float, str | None]]:
    features = aggregate_features(context, place)
    possible = AGGREGATES if context.reading.view.columns[place].numeric else ON_ANY
    chances = logs([scorer.score(crossed(features, at)) for at in range(len(possible))])
    ranked = sorted(zip(chances, possible, strict=True), key=lambda pair: -pair[0])
    return [pair for pair in ranked[:_AGGREGATES] if pair[0] > -_FAR_BEHIND]
