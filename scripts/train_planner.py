"""Train the lookup scorer: `python scripts/train_planner.py DATA_FOLDER` (standard library only, 2 to 3 CPU-minutes).

Reads the split `train` of the questions in DATA_FOLDER (see `evals/README.md`), adds questions made from
templates, and writes `weights.bin` and `weights.json` into `src/sandtable/planner/candidates/lookup/`. The same
data gives the same bytes.

Steps: weights for conditions, column and aggregate; guesses for each half of the tables by weights from the
other half; from those, weights that tell right guesses from wrong ones, and the curve from their score to a
probability, again each half by the other.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evals.wikisql_data import (
    TABLE,
    Question,
    Sheet,
    catalog_of,
    read_questions,
    read_sheets,
    run_plan,
    squeezed,
)
from sandtable.planner.candidates.lookup import features as f
from sandtable.planner.candidates.lookup.confidence import CUES, confidence_features
from sandtable.planner.candidates.lookup.guesses import AGGREGATES, ON_ANY, Scorer, crossed, make_guesses
from sandtable.planner.candidates.lookup.lookup import lookup_plan, rivals
from sandtable.planner.candidates.lookup.reading import Reading, read_question
from sandtable.planner.candidates.lookup.weights import FOLDER, HEADER, WEIGHTS
from sandtable.planner.schema.index import SchemaIndex
from scripts.planner_learning import Learner, rising_curve
from scripts.planner_questions import lookups, misfits

SEED = 20
UNIT = 40
RATE, EPOCHS = 0.1, 4
SURE_RATE, SURE_EPOCHS = 0.05, 3
MADE_LOOKUPS, MADE_MISFITS = 4_000, 5_000
POOL = 150

Choice = tuple[list["array[int]"], frozenset[int]]
"""The features of each possibility, and which of them are right."""
Rated = list[tuple["array[int]", bool]]
"""The guesses for one question: features, and whether its answer is right."""


@dataclass(frozen=True, slots=True)
class Example:
    question: Question | None
    """None for a misfit: every guess is wrong."""
    sheet: Sheet
    reading: Reading
    half: int


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the lookup scorer.")
    parser.add_argument("data", type=Path, help="folder with questions.jsonl.gz and tables.jsonl.gz")
    parser.add_argument("--out", type=Path, default=FOLDER, help="where weights.bin and weights.json go")
    parser.add_argument(
        "--held-out", action="store_true", help="leave a tenth of the pages out, to tune on it"
    )
    arguments = parser.parse_args()
    sheets = read_sheets(arguments.data)
    examples = read_examples(arguments.data, sheets, held_out=arguments.held_out)
    report("read", len(examples))
    choices = [choices_of(e) if e.question else [] for e in examples]
    report("choices", sum(map(len, choices)))
    halves = [
        train_choices([c for e, c in zip(examples, choices, strict=True) if e.half != half])
        for half in (0, 1)
    ]
    rated = [rate_guesses(e, Scorer(halves[e.half])) for e in examples]
    report("guesses", sum(map(len, rated)))
    steps = train_choices(choices)
    knots = calibrate(examples, rated)
    sure = train_judgement(rated)
    write(arguments.out, [a + b for a, b in zip(steps, sure, strict=True)], knots, len(examples))


def report(what: str, count: int) -> None:
    print(f"{time.process_time():6.0f} s  {what}: {count}", flush=True)


def page(table: str) -> int:
    """Tables of one page are alike: they stay on one side of every split."""
    return crc32(table.split("-")[1].encode())


def is_held_out(table: str) -> bool:
    return page(table) % 10 == 0


def read_examples(folder: Path, sheets: dict[str, Sheet], *, held_out: bool) -> list[Example]:
    asked: list[tuple[str, str, Question | None]] = [
        (q.table, q.text, q) for q in read_questions(folder, "train", sheets)
    ]
    if held_out:
        asked = [one for one in asked if not is_held_out(one[0])]
    own = [sheets[table] for table in dict.fromkeys(table for table, _, _ in asked)]
    asked += [(q.table, q.text, q) for q in lookups(own, MADE_LOOKUPS, SEED)]
    asked += [(table, text, None) for table, text in misfits(own, MADE_MISFITS, SEED)]
    indexes: dict[str, SchemaIndex] = {}
    examples: list[Example] = []
    for table, text, question in asked:
        if table not in indexes:
            indexes[table] = SchemaIndex.build(*catalog_of(sheets[table]))
        reading = read_question(text, indexes[table], TABLE)
        if reading is not None:
            examples.append(Example(question, sheets[table], reading, page(table) // 10 % 2))
    return examples


def choices_of(example: Example) -> list[Choice]:
    """What is to be chosen for a question, step by step, each step after right ones."""
    question, reading, sheet = example.question, example.reading, example.sheet
    assert question is not None
    wanted = {(c["column"], c["op"], squeezed(c["value"])) for c in question.plan["filters"]}
    made: list[Choice] = []
    conditions: list[f.Condition] = []
    for span in reading.spans:
        around = f.SpanContext(reading, span)
        possible = [_packed(f.option_features(around, option)) for option in span.options]
        keys = [(sheet.header[o.column], o.op, squeezed(o.value)) for o in span.options]
        right = next((at for at, key in enumerate(keys) if key in wanted), len(keys))
        made.append(([*possible, _packed(f.nothing_features(around))], frozenset({right})))
        if right < len(keys):
            conditions.append((span, span.options[right]))
    context = f.AskContext(reading, conditions)
    column = sheet.header.index(question.plan["select"][0]["column"])
    columns = [_packed(f.column_features(context, place)) for place in range(len(sheet.header))]
    made.append((columns, frozenset({column})))
    about = f.aggregate_features(context, column)
    number = sheet.numeric[column]
    possible = [_packed(crossed(about, at)) for at in range(len(AGGREGATES if number else ON_ANY))]
    made.append((possible, _right_aggregates(example, column)))
    return made


def _packed(features: f.Features) -> array[int]:
    return array("I", features)


def _right_aggregates(example: Example, column: int) -> frozenset[int]:
    """Those that give the gold answer; none at all where nothing in the question asks for one.

    Writers of questions often put an aggregate over a single value: it changes nothing and is not asked for.
    """
    question, sheet = example.question, example.sheet
    assert question is not None
    answer = run_plan(question.plan, sheet)
    name = question.plan["select"][0]["column"]
    same = [
        at
        for at, agg in enumerate(AGGREGATES if sheet.numeric[column] else ON_ANY)
        if run_plan({**question.plan, "select": [{"column": name} | ({"agg": agg} if agg else {})]}, sheet)
        == answer
    ]
    gold = question.plan["select"][0].get("agg")
    cued = gold is not None and gold != "count" and bool(CUES[gold] & set(example.reading.tokens))
    if cued and AGGREGATES.index(gold) in same:
        return frozenset({AGGREGATES.index(gold)})
    return frozenset({0}) if 0 in same and gold != "count" else frozenset(same or [0])


def train_choices(choices: Sequence[list[Choice]]) -> list[float]:
    learner = Learner(f.BUCKETS)
    order = [at for at, made in enumerate(choices) if made]
    chance = random.Random(SEED)
    for epoch in range(EPOCHS):
        chance.shuffle(order)
        learner.rate = RATE * (1 - 0.6 * epoch / (EPOCHS - 1))
        for at in order:
            for possible, right in choices[at]:
                learner.choose(possible, right)
        if epoch:
            learner.remember()
    report("trained", len(order))
    return learner.average()


def rate_guesses(example: Example, scorer: Scorer) -> Rated:
    question = example.question
    answer = run_plan(question.plan, example.sheet) if question else None
    return [
        (
            _packed(confidence_features(guess, other)),
            question is not None and run_plan(lookup_plan(guess, "wikisql"), example.sheet) == answer,
        )
        for guess, other in rivals(make_guesses(example.reading, scorer))
    ]


def train_judgement(rated: Sequence[Rated]) -> list[float]:
    learner = Learner(f.BUCKETS)
    order = list(range(len(rated)))
    chance = random.Random(SEED)
    for epoch in range(SURE_EPOCHS):
        chance.shuffle(order)
        learner.rate = SURE_RATE * (1 - 0.6 * epoch / (SURE_EPOCHS - 1))
        for at in order:
            for features, right in rated[at]:
                learner.judge(features, right)
        if epoch:
            learner.remember()
    return learner.average()


def calibrate(examples: Sequence[Example], rated: Sequence[Rated]) -> list[tuple[float, float]]:
    """The curve for the guess that wins, each half of the pages judged by weights from the other."""
    scored: list[tuple[float, bool]] = []
    for half in (0, 1):
        apart = [e.half == half for e in examples]
        scorer = Scorer(train_judgement([r for r, held in zip(rated, apart, strict=True) if not held]))
        for guesses, held in zip(rated, apart, strict=True):
            if held and guesses:
                scored.append(max((scorer.score(list(features)), right) for features, right in guesses))
    report("calibrated on", len(scored))
    return rising_curve(scored, POOL)


def write(folder: Path, weights: list[float], knots: list[tuple[float, float]], examples: int) -> None:
    content = array("b", [max(-127, min(127, round(weight * UNIT))) for weight in weights]).tobytes()
    digest = hashlib.sha256(content).hexdigest()
    header = {
        "format": 1,
        "unit": UNIT,
        "sha256": digest,
        "examples": examples,
        "nonzero": len(content) - content.count(0),
        "knots": knots,
    }
    (folder / WEIGHTS).write_bytes(content)
    (folder / HEADER).write_text(json.dumps(header, indent=1) + "\n", encoding="utf-8")
    clipped = sum(abs(weight) * UNIT > 127 for weight in weights)
    report(f"weights (clipped {clipped}), sha256 {digest}", header["nonzero"])


if __name__ == "__main__":
    main()
