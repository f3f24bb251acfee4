"""How often a question over a table nobody trained on is answered right: `python evals/wikisql.py DATA_FOLDER`.

Prints, for the split `tune`, the share of questions whose answer equals the gold plan's (execution accuracy), and
the same among the surest 50, 60, 70 and 80 %. Of `best_lookup` alone; with `--planner` of `plan_question`, whose
guess counts when it is unsure. `--engine N` checks the small executor here against the compiler and DuckDB.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evals.engine import Engine
from evals.wikisql_data import TABLE, Question, Sheet, catalog_of, read_questions, read_sheets, run_plan
from sandtable.planner.candidates.lookup.lookup import best_lookup
from sandtable.planner.outcome import Understood
from sandtable.planner.planner import plan_question
from sandtable.planner.schema.index import SchemaIndex

COVERAGES = (0.5, 0.6, 0.7, 0.8)
Answered = tuple[dict[str, Any], float] | None
"""A plan and how sure it is."""
Answerer = Callable[[str, SchemaIndex], Answered]


@dataclass(frozen=True, slots=True)
class Outcome:
    question: Question
    plan: dict[str, Any] | None
    probability: float
    right: bool


def by_lookup(question: str, index: SchemaIndex) -> Answered:
    found = best_lookup(question, index, TABLE)
    return (found.plan, found.probability) if found else None


def by_planner(question: str, index: SchemaIndex) -> Answered:
    outcome = plan_question(question, index, threshold=0.0)
    guess = outcome if isinstance(outcome, Understood) else outcome.guess
    return (guess.plan, guess.confidence if guess is outcome else 0.5 * guess.confidence) if guess else None


def measure(questions: Iterable[Question], sheets: dict[str, Sheet], answerer: Answerer) -> list[Outcome]:
    engine = Engine()
    indexes: dict[str, SchemaIndex] = {}
    outcomes: list[Outcome] = []
    for question in questions:
        sheet = sheets[question.table]
        if question.table not in indexes:
            indexes[question.table] = SchemaIndex.build(*catalog_of(sheet))
        answered = answerer(question.text, indexes[question.table])
        if answered is None:
            outcomes.append(Outcome(question, None, 0.0, False))
            continue
        plan, probability = answered
        answer = run_plan(plan, sheet) if is_lookup(plan) else engine.run(plan, sheet)
        outcomes.append(Outcome(question, plan, probability, answer == run_plan(question.plan, sheet)))
    return outcomes


def is_lookup(plan: dict[str, Any]) -> bool:
    """Whether the small executor knows the plan's shape."""
    (item, *more) = plan["select"]
    return (
        set(plan) <= {"dataset_id", "table", "select", "filters", "notes"}
        and not more
        and set(item) <= {"agg", "column"}
        and item.get("column") != "*"
        and item.get("agg") in (None, "count", "min", "max", "sum", "avg")
        and all(set(f) == {"column", "op", "value"} for f in plan.get("filters", ()))
        and all(f["op"] in ("=", ">", "<", ">=", "<=") for f in plan.get("filters", ()))
    )


def figures(outcomes: list[Outcome]) -> dict[str, float]:
    surest = sorted(outcomes, key=lambda one: -one.probability)
    found = {"questions": float(len(outcomes)), "accuracy": _share(surest)}
    for coverage in COVERAGES:
        found[f"precision at {coverage:.0%}"] = _share(surest[: round(coverage * len(surest))])
    return found


def _share(outcomes: list[Outcome]) -> float:
    return round(sum(one.right for one in outcomes) / max(1, len(outcomes)), 4)


def disagreements(outcomes: list[Outcome], sheets: dict[str, Sheet]) -> list[Outcome]:
    """Plans whose answer here is not the engine's."""
    engine = Engine()
    return [
        one
        for one in outcomes
        if one.plan
        and is_lookup(one.plan)
        and engine.run(one.plan, sheets[one.question.table]) != run_plan(one.plan, sheets[one.question.table])
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Execution accuracy of the built-in planner on lookup questions."
    )
    parser.add_argument("data", type=Path, help="folder with questions.jsonl.gz and tables.jsonl.gz")
    parser.add_argument("--limit", type=int, help="only the first N questions")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--planner", action="store_true", help="measure plan_question, not best_lookup alone")
    parser.add_argument(
        "--engine", type=int, default=0, metavar="N", help="run the first N plans in DuckDB too"
    )
    arguments = parser.parse_args()
    sheets = read_sheets(arguments.data)
    questions = read_questions(arguments.data, "tune", sheets)[: arguments.limit]
    began = time.process_time()
    outcomes = measure(questions, sheets, by_planner if arguments.planner else by_lookup)
    spent = time.process_time() - began
    found: dict[str, float] = figures(outcomes) | {"ms per question": round(1000 * spent / len(outcomes), 2)}
    if arguments.engine:
        found["engine disagrees"] = len(disagreements(outcomes[: arguments.engine], sheets))
    if arguments.json:
        sys.stdout.write(json.dumps(found) + "\n")
    else:
        sys.stdout.write("".join(f"{name:>20}  {value:g}\n" for name, value in found.items()))


if __name__ == "__main__":
    main()
