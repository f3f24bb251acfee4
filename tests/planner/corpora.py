"""Reading the corpora, and judging an outcome against reference SQL."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sandtable.planner.outcome import EarlierTurn, Outcome, Understood
from sandtable.planner.planner import plan_question
from tests.planner.ground import World, same_answer

_CORPUS = Path(__file__).parent / "corpus"


def read_corpus(name: str) -> list[dict[str, Any]]:
    lines = (_CORPUS / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


@dataclass(frozen=True)
class Miss:
    question: str
    outcome: Literal["abstained", "wrong"]
    why: str

    def __str__(self) -> str:
        return f"{self.question}\n    {self.why}"


def ask(world: World, case: dict[str, Any]) -> Outcome:
    before = None
    if "before" in case:
        first = plan_question(case["before"], world.index)
        assert isinstance(first, Understood), (case["before"], first)
        before = EarlierTurn(case["before"], first.plan)
    return plan_question(case["question"], world.index, before)


def judge(world: World, case: dict[str, Any]) -> Miss | None:
    """None when the answer is the reference's. `any`: one of its rows suffices, as with equal firsts."""
    question = f"{case['before']} → {case['question']}" if "before" in case else case["question"]
    outcome = ask(world, case)
    if not isinstance(outcome, Understood):
        return Miss(question, "abstained", f"abstained: {outcome.reason}")
    got, wanted = world.run_plan(outcome.plan), world.run_sql(case["sql"])
    if case.get("any"):
        right = bool(got) and {(row[0],) for row in got} <= set(wanted)
    else:
        right = same_answer(got, wanted, ordered=case.get("ordered", False))
    return (
        None
        if right
        else Miss(question, "wrong", f"{json.dumps(outcome.plan)}\n    got {got[:3]}, wanted {wanted[:3]}")
    )


def unexpected(corpus: str, misses: list[Miss]) -> str:
    """What differs from `known_failures.jsonl`: failures that it does not list as they are, and lines that pass."""
    listed = {
        each["question"]: each["outcome"]
        for each in read_corpus("known_failures")
        if each["corpus"] == corpus
    }
    new = [f"fails: {miss}" for miss in misses if listed.get(miss.question) != miss.outcome]
    failing = {miss.question for miss in misses}
    passing = [
        f"passes, so take it out of the list: {question}" for question in listed if question not in failing
    ]
    return "\n".join([*new, *passing])
