"""`sandtable eval`: many questions with their expected answers, and how many came out right."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from sandtable.assemble import Parts, threads_of
from sandtable.capsule.keys import open_signing_key, public_pem
from sandtable.cli import failure, inputs
from sandtable.cli.evaluation.asking import ask_all
from sandtable.cli.evaluation.known import KnownFailures
from sandtable.cli.evaluation.outcome import Judged
from sandtable.cli.evaluation.page import Shown, page
from sandtable.cli.evaluation.report import Progress, show_line, show_score
from sandtable.cli.evaluation.score import Score
from sandtable.cli.session import with_parts
from sandtable.cli.show import print_json
from sandtable.cli.turn import begin_loading
from sandtable.errors import InvalidInput

_FILE = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The options that say what is shown, and where results are written."""

    as_json: bool
    only_totals: bool
    known: Path | None
    update_known: bool
    summary: Path | None
    html: Path | None


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
@inputs.json_option
def command(
    sources: tuple[str, ...],
    jobs: int | None,
    min_accuracy: float | None,
    min_precision: float | None,
    known: Path | None,
    update_known: bool,
    only_totals: bool,
    summary: Path | None,
    html: Path | None,
    as_json: bool,
) -> int:
    """Test questions against their expected answers.

    FILE has one JSON object per line: {"id", "question", "dataset" or "data": [files], "answer"}. Data files are
    looked for beside FILE. Says for each line whether it was answered and whether that was right, and sums it
    up; with --json one object per line, {"id", "status", "rows", "columns", "answer_text", "plan", "sql",
    "correct", "outcome", …}, in order and as soon as it is there, and {"summary": …} at the end.

    Exit code: 0 every line was processed, 1 less than --min-accuracy or --min-precision, or other failures than
    those of --known, 2 FILE cannot be used, 4 no sandbox.
    """
    if update_known and known is None:
        raise InvalidInput(
            "--update-known needs --known", suggestion="Name the file to write with --known FILE."
        )
    for path in filter(None, (known if update_known else None, summary, html)):
        _check_writable(path)
    wanted = _Wanted(as_json, only_totals, known, update_known, summary, html)
    failures = KnownFailures.read(known) if known and not update_known else KnownFailures({})
    score = _evaluate(sources, jobs, wanted, failures)
    if not score.totals.questions:
        raise InvalidInput(
            f"{' '.join(sources)} has no questions", suggestion="Write one JSON object per line."
        )
    _show_totals(score, wanted)
    short = _falls_short("accuracy", score.totals.accuracy, min_accuracy, as_json)
    short |= _falls_short("precision", score.totals.precision, min_precision, as_json)
    short |= _differs(failures, wanted)
    return failure.FAILED if short else 0


def _check_writable(path: Path) -> None:
    """Before the questions are asked, which may take minutes."""
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InvalidInput(
            f"cannot write {path}", suggestion="Name a file in a folder that you may write to."
        )


def _evaluate(sources: tuple[str, ...], jobs: int | None, wanted: _Wanted, failures: KnownFailures) -> Score:
    loading = begin_loading()
    score, progress = Score(), Progress()

    def take(one: Judged) -> None:
        score.count(one)
        if wanted.known is not None:
            failures.take(one)
        if wanted.only_totals:
            progress.take()
        elif wanted.as_json:
            print_json(one.as_json(), indent=None)
        else:
            show_line(one)

    async def act(parts: Parts) -> None:
        shown: list[Shown] = []
        async with (await asyncio.wrap_future(loading))(parts) as analyst:
            asking = ask_all(parts, analyst, sources, jobs or threads_of(parts.settings))
            async with aclosing(asking) as judged:
                async for one in judged:
                    take(one)
                    if wanted.html is not None:
                        shown.append(Shown(one, await _capsule(parts, one)))
        if wanted.html is not None:
            wanted.html.write_text(_page(parts, sources, score, shown), "utf-8")

    with_parts(act)
    return score


async def _capsule(parts: Parts, one: Judged) -> Mapping[str, Any] | None:
    return None if one.turn.run_id is None else await parts.runs.capsule(one.turn.run_id)


def _page(parts: Parts, sources: tuple[str, ...], score: Score, shown: list[Shown]) -> str:
    key = open_signing_key(parts.settings.home, parts.settings.signing_key)
    title = f"Answers to {', '.join(Path(source).name for source in sources)}"
    return page(title, score, shown, public_pem(key.private.public_key()).decode("ascii"))


def _show_totals(score: Score, wanted: _Wanted) -> None:
    if wanted.summary is not None:
        wanted.summary.write_text(json.dumps(score.as_json(), indent=2, ensure_ascii=False) + "\n", "utf-8")
    if wanted.as_json:
        print_json({"summary": score.as_json()}, indent=None)
    else:
        show_score(score, groups=wanted.only_totals)


def _differs(failures: KnownFailures, wanted: _Wanted) -> bool:
    """Whether other questions failed than those that are known to."""
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
