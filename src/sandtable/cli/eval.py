"""`sandtable eval`: asks many questions with expected answers, and reports how many were right."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from sandtable.agent.endpoint import choose_endpoint
from sandtable.assemble import Parts
from sandtable.assemble.sizes import threads_of
from sandtable.capsule.keys import open_signing_key, public_pem
from sandtable.cli import failure, inputs
from sandtable.cli.evaluation.asking import ask_all
from sandtable.cli.evaluation.known import KnownFailures
from sandtable.cli.evaluation.outcome import Judged
from sandtable.cli.evaluation.page import Scored, Shown, page
from sandtable.cli.evaluation.report import Progress, show_comparison, show_line, show_score
from sandtable.cli.evaluation.score import Score, compared
from sandtable.cli.session import with_parts
from sandtable.cli.show import print_json
from sandtable.cli.turn import begin_loading
from sandtable.errors import InvalidInput
from sandtable.process import load_settings

_FILE = click.Path(path_type=Path, dir_okay=False)
PLANNER = "builtin"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The options: what is asked, what is shown, and where results are written."""

    sources: tuple[str, ...]
    jobs: int | None
    as_json: bool
    only_totals: bool
    known: Path | None
    update_known: bool
    summary: Path | None
    html: Path | None
    model: str | None
    """The chat model that is compared with the planner; None without --compare."""


@dataclass(slots=True)
class _Side:
    """One pass over the questions: its proposer and its results."""

    name: str
    score: Score = field(default_factory=Score)
    passed: dict[str, bool] = field(default_factory=dict)
    outcomes: dict[str, str] = field(default_factory=dict)
    shown: list[Shown] = field(default_factory=list)

    def take(self, one: Judged) -> None:
        self.score.count(one)
        self.outcomes[str(one.item.id)] = one.outcome or one.status
        if one.correct is not None:
            self.passed[str(one.item.id)] = one.correct


@click.command("eval")
@click.argument("sources", metavar="FILE|-...", nargs=-1, required=True)
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
@click.option(
    "--known",
    type=_FILE,
    metavar="FILE",
    help="Known failures, an outcome and an id per line: fail when others fail, and when one of them passes.",
)
@click.option("--update-known", is_flag=True, help="Write the failures of this run to the file of --known.")
@click.option("--only-totals", is_flag=True, help="Show totals and ids, no questions and no answers.")
@click.option("--summary", type=_FILE, metavar="FILE", help="Also write the totals to a file, in JSON.")
@click.option(
    "--html",
    type=_FILE,
    metavar="FILE",
    help="Also write a page with every answer and its capsule, in one file.",
)
@click.option(
    "--compare", is_flag=True, help="Ask the chat model and then the built-in planner, and compare them."
)
@inputs.json_option
def command(
    min_accuracy: float | None, min_precision: float | None, compare: bool, as_json: bool, **given: Any
) -> int:
    """Test questions against their expected answers.

    FILE has one JSON object per line: {"id", "question", "dataset" or "data": [files], "answer"}. Data files are
    looked for beside FILE. Says for each line whether it was answered and whether that was right, and sums it
    up; with --json one object per line, {"id", "status", "rows", "columns", "answer_text", "plan", "sql",
    "correct", "outcome", …}, in order and as soon as it is there, and {"summary": …} at the end.

    Exit code: 0 every line was processed, 1 less than --min-accuracy or --min-precision, or other failures than
    those of --known, 2 FILE cannot be used, 4 no sandbox.
    """
    wanted = _Wanted(as_json=as_json, model=_model() if compare else None, **given)
    _check(wanted)
    known = wanted.known
    failures = KnownFailures.read(known) if known and not wanted.update_known else KnownFailures({})
    sides = _evaluate(wanted, failures)
    totals = sides[0].score.totals
    if not totals.questions:
        raise InvalidInput(
            f"{' '.join(wanted.sources)} has no questions", suggestion="Write one JSON object per line."
        )
    _show_totals(sides, wanted)
    short = _falls_short("accuracy", totals.accuracy, min_accuracy, as_json)
    short |= _falls_short("precision", totals.precision, min_precision, as_json)
    short |= _differs(failures, wanted)
    return failure.FAILED if short else 0


def _model() -> str:
    endpoint = choose_endpoint(load_settings())
    if endpoint is None:
        raise InvalidInput(
            "there is no chat model to compare the planner with",
            suggestion="Name one with SANDTABLE_MODEL, such as ollama:qwen3; see docs/models.md.",
        )
    return endpoint.name


def _check(wanted: _Wanted) -> None:
    """Checks options before the questions are asked, which may take minutes."""
    if wanted.update_known and wanted.known is None:
        raise InvalidInput(
            "--update-known needs --known", suggestion="Name the file to write with --known FILE."
        )
    if wanted.model is not None and "-" in wanted.sources:
        raise InvalidInput("stdin cannot be read twice", suggestion="Give --compare a file.")
    for path in (wanted.known if wanted.update_known else None, wanted.summary, wanted.html):
        if path is not None and not os.access(path if path.exists() else path.parent, os.W_OK):
            raise InvalidInput(
                f"cannot write {path}", suggestion="Name a file in a folder that you may write to."
            )


def _evaluate(wanted: _Wanted, failures: KnownFailures) -> list[_Side]:
    """The requested pass, and with --compare a second one with the built-in planner."""
    loading = begin_loading()
    sides = [_Side(wanted.model or PLANNER)] + ([_Side(PLANNER)] if wanted.model else [])

    async def act(parts: Parts) -> None:
        converse = await asyncio.wrap_future(loading)
        await _ask(parts, converse, sides[0], wanted, failures)
        for side in sides[1:]:
            await _ask(parts, converse, side, wanted, None, planner_only=True)
        if wanted.html is not None:
            wanted.html.write_text(_page(parts, wanted.sources, sides), "utf-8")

    with_parts(act)
    return sides


async def _ask(
    parts: Parts,
    converse: Callable[..., Any],
    side: _Side,
    wanted: _Wanted,
    failures: KnownFailures | None,
    **options: bool,
) -> None:
    progress = Progress()
    async with converse(parts, **options) as analyst:
        asking = ask_all(parts, analyst, wanted.sources, wanted.jobs or threads_of(parts.settings))
        async with aclosing(asking) as judged:
            async for one in judged:
                side.take(one)
                if failures is not None and wanted.known is not None:
                    failures.take(one)
                if failures is not None and wanted.html is not None:
                    side.shown.append(Shown(one, await _capsule(parts, one)))
                _show(one, side, wanted, progress)


def _show(one: Judged, side: _Side, wanted: _Wanted, progress: Progress) -> None:
    if wanted.only_totals:
        progress.take()
    elif wanted.as_json:
        proposer = {"proposer": side.name} if wanted.model else {}
        print_json(one.as_json() | proposer, indent=None)
    else:
        show_line(one, side.name if wanted.model else "")


async def _capsule(parts: Parts, one: Judged) -> Mapping[str, Any] | None:
    return None if one.turn.run_id is None else await parts.runs.capsule(one.turn.run_id)


def _page(parts: Parts, sources: tuple[str, ...], sides: list[_Side]) -> str:
    key = open_signing_key(parts.settings.home, parts.settings.signing_key)
    title = f"Answers to {', '.join(Path(source).name for source in sources)}"
    public = public_pem(key.private.public_key()).decode("ascii")
    compared = [Scored(side.name, side.score, side.outcomes) for side in sides] if len(sides) > 1 else []
    return page(title, sides[0].score, sides[0].shown, public, compared)


def _show_totals(sides: list[_Side], wanted: _Wanted) -> None:
    made = sides[0].score.as_json()
    if wanted.model:
        by_side = {side.name: side.score.as_json() for side in sides}
        made |= {"compared": {"sides": by_side, "both": compared(sides[0].passed, sides[1].passed)}}
    if wanted.summary is not None:
        wanted.summary.write_text(json.dumps(made, indent=2, ensure_ascii=False) + "\n", "utf-8")
    if wanted.as_json:
        print_json({"summary": made}, indent=None)
        return
    show_score(sides[0].score, groups=wanted.only_totals)
    if wanted.model:
        scores = {side.name: side.score for side in sides}
        show_comparison(scores, compared(sides[0].passed, sides[1].passed))


def _differs(failures: KnownFailures, wanted: _Wanted) -> bool:
    """Whether the failures differ from the known ones."""
    if wanted.known is None:
        return False
    if wanted.update_known:
        failures.write(wanted.known)
        return False
    faults = list(failures.faults())
    for fault in faults:
        click.echo(fault, err=True)
    if faults:
        click.echo(f"{len(faults)} differ from {wanted.known}; --update-known writes it again", err=True)
    return bool(faults)


def _falls_short(what: str, reached: float | None, wanted: float | None, as_json: bool) -> bool:
    if wanted is None or (reached is not None and reached >= wanted):
        return False
    if not as_json:
        got = "nothing could be compared" if reached is None else f"it is {reached:.4f}"
        click.echo(f"the {what} should be at least {wanted:g}, but {got}", err=True)
    return True
