"""`sandtable eval`: many questions with their expected answers, and how many came out right."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any

import click

from sandtable.assemble import Parts, threads_of
from sandtable.cli import failure, inputs
from sandtable.cli.eval_lines import BadCase, Case, Shelf, read_case
from sandtable.cli.eval_score import Score
from sandtable.cli.expected import is_right
from sandtable.cli.jsonl import Answer, in_order
from sandtable.cli.session import with_parts
from sandtable.cli.show import clean, print_json
from sandtable.cli.turn import Analyst, Turn, begin_loading, gather
from sandtable.errors import InvalidInput, Problem, SandtableError

_STATUS = {"answered": "answered", "failed": "failed"}
"""All other ends are abstentions: no answer was given, and the reason was said."""
_MARKS = {True: "✓", False: "✗", None: "–"}
_LONGEST = 100


@click.command("eval")
@click.argument("source", metavar="FILE|-")
@click.option(
    "--jobs", type=click.IntRange(1, 64), metavar="N", help="Questions at the same time; else one per core."
)
@click.option(
    "--min-accuracy",
    type=inputs.Number(0, 1),
    metavar="SHARE",
    help="Fail when fewer of the lines with an answer come out right, such as 0.9.",
)
@click.option(
    "--min-precision",
    type=inputs.Number(0, 1),
    metavar="SHARE",
    help="Fail when fewer of the answered ones are right.",
)
@inputs.json_option
def command(
    source: str, jobs: int | None, min_accuracy: float | None, min_precision: float | None, as_json: bool
) -> int:
    """Test questions against their expected answers.

    FILE has one JSON object per line: {"id", "question", "dataset" or "data": [files], "answer"}. Data files are
    looked for beside FILE. Says for each line whether it was answered and whether that was right, and sums it
    up; with --json one object per line, {"id", "status", "rows", "columns", "answer_text", "plan", "sql",
    "correct", …}, in order and as soon as it is there, and {"summary": …} at the end.

    Exit code: 0 every line was processed, 1 less than --min-accuracy or --min-precision, 2 FILE cannot be used,
    4 no sandbox.
    """
    loading = begin_loading()

    async def act(parts: Parts) -> Score:
        async with (await asyncio.wrap_future(loading))(parts) as analyst:
            return await _evaluate(parts, analyst, source, jobs or threads_of(parts.settings), as_json)

    score = with_parts(act)
    if not score.questions:
        raise InvalidInput(f"{source} has no questions", suggestion="Write one JSON object per line.")
    if as_json:
        print_json({"summary": score.as_json()}, indent=None)
    else:
        _show_score(score)
    short = _falls_short("accuracy", score.accuracy, min_accuracy, as_json)
    short |= _falls_short("precision", score.precision, min_precision, as_json)
    return failure.FAILED if short else 0


async def _evaluate(parts: Parts, analyst: Analyst, source: str, jobs: int, as_json: bool) -> Score:
    folder = Path() if source == "-" else Path(source).parent
    shelf, score, gate = Shelf(parts), Score(), asyncio.Semaphore(jobs)

    async def one(raw: bytes, number: int) -> Answer:
        case = read_case(raw, number, folder)
        if isinstance(case, BadCase):
            return _failed(case.id, case.problem)
        async with gate:
            try:
                return await _judged(analyst, shelf, case)
            except SandtableError as error:
                return _failed(case.id, error.problem, question=case.question, graded=case.graded)

    async with aclosing(in_order(source, one, jobs + 2)) as answers:
        async for line in answers:
            score.count(line)
            if as_json:
                print_json(line, indent=None)
            else:
                _show_line(line)
    return score


async def _judged(analyst: Analyst, shelf: Shelf, case: Case) -> Answer:
    dataset = await shelf.get(case.dataset, case.data)
    started = time.perf_counter()
    turn = await gather(analyst.ask(case.question, dataset_id=dataset.id))
    took = (time.perf_counter() - started) * 1e3
    status = _STATUS.get(turn.status, "abstained")
    return {
        "id": case.id,
        "status": status,
        "rows": turn.rows or (),
        "columns": [name for name, _ in turn.columns],
        "answer_text": turn.answer_text,
        "plan": turn.plan,
        "sql": turn.sql,
        "correct": _correct(case, turn, status) if case.graded else None,
        "question": case.question,
        "expected": case.answer,
        "reading": turn.reading,
        "truncated": turn.truncated,
        "run_id": turn.run_id,
        "ms": round(took, 1),
        "error": turn.error.model_dump(mode="json") if turn.error else None,
    }


def _correct(case: Case, turn: Turn, status: str) -> bool:
    if status == "abstained":
        return case.answer is None
    return status == "answered" and not turn.truncated and is_right(case.answer, turn.rows, turn.answer_text)


def _failed(line_id: Any, problem: Problem, *, question: str = "", graded: bool = True) -> Answer:
    return {
        "id": line_id,
        "status": "failed",
        "rows": (),
        "columns": [],
        "answer_text": "",
        "plan": None,
        "sql": None,
        "correct": False if graded else None,
        "question": question,
        "expected": None,
        "reading": "",
        "truncated": False,
        "run_id": None,
        "ms": None,
        "error": problem.model_dump(mode="json"),
    }


def _show_line(line: Answer) -> None:
    mark = _MARKS[line["correct"]]
    head = f"{mark} {clean(str(line['id']))}  {line['status']}"
    if line["error"] is not None and not line["answer_text"]:
        click.echo(f"{head}  {clean(line['error']['message'])[:_LONGEST]}")
        return
    click.echo(f"{head}  {_short(line['question'])}")
    if line["correct"] is False:
        said = line["answer_text"].strip().split("\n")[0]
        click.echo(f"    expected {_short(str(line['expected']))}; it said: {_short(said)}")


def _short(text: str) -> str:
    shown = clean(" ".join(text.split()))
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"


def _show_score(score: Score) -> None:
    made = score.as_json()
    rates = [
        f"{name} {made[name] * 100:.1f} %"
        for name in ("accuracy", "coverage", "precision")
        if made[name] is not None
    ]
    if made["p50_ms"] is not None:
        rates.append(f"p50 {made['p50_ms']:,.0f} ms, p95 {made['p95_ms']:,.0f} ms")
    click.echo(
        f"{score.questions:,} question{'s' * (score.questions != 1)}: {score.answered:,} answered, "
        f"{score.abstained:,} abstained, {score.failed:,} failed · " + " · ".join(rates)
    )


def _falls_short(what: str, reached: float | None, wanted: float | None, as_json: bool) -> bool:
    if wanted is None or (reached is not None and reached >= wanted):
        return False
    if not as_json:
        got = "nothing could be compared" if reached is None else f"it is {reached:.4f}"
        click.echo(f"the {what} should be at least {wanted:g}, but {got}", err=True)
    return True
