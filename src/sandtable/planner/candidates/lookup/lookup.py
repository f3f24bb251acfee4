"""The best lookup for a question over one table, with the probability that it is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sandtable.planner.candidates.lookup.confidence import confidence_features, unexplained
from sandtable.planner.candidates.lookup.features import Condition
from sandtable.planner.candidates.lookup.guesses import Guess, Scorer, make_guesses
from sandtable.planner.candidates.lookup.reading import Reading, read_question
from sandtable.planner.candidates.lookup.weights import load_weights
from sandtable.planner.schema.index import SchemaIndex

_LEAVES_OUT = frozenset("not never without except excluding besides neither nor don't didn't isn't".split())
_DOUBT = 0.3
_INCLUSIVE = {">": ">=", "<": "<="}


@dataclass(frozen=True, slots=True)
class Lookup:
    plan: dict[str, Any]
    """A QueryPlan in JSON form: one column or aggregate of one table, and conditions that all hold."""
    probability: float
    """That the plan is what was asked, from 0 to 1."""


def best_lookup(question: str, index: SchemaIndex, table: str) -> Lookup | None:
    """None when there is no such table or the text is no question of reasonable length."""
    reading = read_question(question, index, table)
    if reading is None:
        return None
    model = load_weights()
    guess, score = ranked_guesses(reading, model.scorer)[0]
    return Lookup(lookup_plan(guess, index.dataset.id), min(model.probability(score), _ceiling(guess)))


def _ceiling(guess: Guess) -> float:
    """A lookup cannot exclude anything: a guess that ignores such a word is no answer."""
    words = guess.context.reading.words
    return _DOUBT if any(words[at].lower in _LEAVES_OUT for at in unexplained(guess)) else 1.0


def ranked_guesses(reading: Reading, scorer: Scorer) -> list[tuple[Guess, float]]:
    """The guesses with how well each stands as a whole, best first; never empty."""
    guesses = make_guesses(reading, scorer)
    rated = [(guess, scorer.score(confidence_features(guess, other))) for guess, other in rivals(guesses)]
    return sorted(rated, key=lambda pair: -pair[1])


def rivals(guesses: list[Guess]) -> list[tuple[Guess, float]]:
    """Each guess with the total of the likeliest other one."""
    if len(guesses) == 1:
        return [(guesses[0], -10.0)]
    return [(guess, guesses[0 if at else 1].total) for at, guess in enumerate(guesses)]


def lookup_plan(guess: Guess, dataset_id: str) -> dict[str, Any]:
    view = guess.context.reading.view
    column = view.columns[guess.column].entry.name
    if guess.aggregate is None:
        item: dict[str, Any] = {"column": column}
    elif guess.aggregate == "count":
        item = {"agg": "count"}
    else:
        item = {"agg": guess.aggregate, "column": column}
    return {
        "dataset_id": dataset_id,
        "table": view.entry.name,
        "select": [item],
        "filters": [_filter(condition, guess) for condition in guess.conditions],
    }


def _filter(condition: Condition, guess: Guess) -> dict[str, Any]:
    span, option = condition
    inclusive = span.inclusive and option.op == span.cue
    op = _INCLUSIVE[option.op] if inclusive else option.op
    column = guess.context.reading.view.columns[option.column].entry.name
    return {"column": column, "op": op, "value": option.value}
