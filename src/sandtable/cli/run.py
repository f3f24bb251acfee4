"""`sandtable run`: one run, or one per line, through the gate and the sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from sandtable.assemble import Parts
from sandtable.capsule.document import document
from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery, wrong_mode
from sandtable.catalog.model import Dataset
from sandtable.catalog.stored.store import DataStore
from sandtable.cli import failure, inputs
from sandtable.cli.artifacts import show_code_output
from sandtable.cli.config import raised
from sandtable.cli.jsonl import Answer, Line, answer_lines
from sandtable.cli.percentages import in_percent
from sandtable.cli.refusal import show_fix, show_refusal
from sandtable.cli.session import open_dataset, with_parts
from sandtable.cli.show import clean, on_terminal, print_json, print_rows
from sandtable.errors import ErrorCode, InvalidInput, Problem
from sandtable.process import load_settings
from sandtable.quoting import quote
from sandtable.runs.cache import HIDDEN
from sandtable.runs.described import described_run
from sandtable.runs.empty import explained, found_nothing
from sandtable.runs.export import MEDIA_TYPES, Format, export_run
from sandtable.runs.lookup import executing
from sandtable.runs.model import Run, RunRequest


@dataclass(frozen=True, slots=True)
class Ask:
    about: inputs.About
    question: str
    timeout: float | None
    max_rows: int | None
    dry_run: bool
    no_cache: bool
    no_check: bool = False
    output: Path | None = None

    def request(self, dataset_id: str, query: Query, question: str) -> RunRequest:
        match query:
            case CodeQuery() if self.dry_run:
                raise wrong_mode("dry_run", "Python")
            case CodeQuery():
                query = replace(query, check=not self.no_check)
            case PlanQuery() | SqlQuery():
                # SQL and plans are always judged, even if the check of code is switched off.
                query = replace(query, dry_run=self.dry_run)
        return RunRequest(
            dataset_id=dataset_id,
            query=query,
            question=question,
            max_rows=self.max_rows,
            timeout_ms=None if self.timeout is None else max(1, int(self.timeout * 1000)),
            cache=not self.no_cache,
        )


@click.command("run")
@inputs.dataset_options
@inputs.query_options
@click.option("--question", default="", metavar="TEXT", help="What was asked; kept in the capsule.")
@click.option("--timeout", type=inputs.Number(0.001, 3600), metavar="SECONDS", help="Wall-clock limit.")
@click.option("--max-rows", type=click.IntRange(1, 100_000), metavar="N", help="Most rows to return.")
@click.option("--dry-run", is_flag=True, help="Bind and explain, without running.")
@click.option("--no-cache", is_flag=True, help="Run it even if an identical run was answered before.")
@click.option(
    "--no-check",
    is_flag=True,
    help="Run Python without checking it first: the sandbox alone holds it. The capsule says so.",
)
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    help="Write the rows to this file, as its name ends: .csv, .json or .parquet.",
)
@inputs.json_option
def command(
    sql_text: str | None,
    plan_file: str | None,
    python_text: str | None,
    lines_file: str | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Run a plan, SQL or Python in the sandbox.

    Prints a table, and of Python all that it prints and shows; with --json the signed capsule, which
    `sandtable verify` takes, with a readable copy of its content under `capsule`. With --jsonl, one line per run:
    {"id", "status", "columns", "rows", "error", "exec_time_ms", …}. With --output the rows (of Python: of the
    last table) go to a file; CSV is safe to open in a spreadsheet, Parquet keeps the types of the columns.

    For a plan or SQL that finds nothing, a further run counts which of its conditions leaves no rows, and a value that
    is in no row is shown with queries that have the nearest values instead.

    Exit code: 0 succeeded, 1 failed, 2 the input cannot be used, 3 refused, 4 no sandbox; with --jsonl, 0
    when every line was answered.
    """
    ask = Ask(**options)
    inputs.require_dataset(ask.about)
    inputs.require_one(sql=sql_text, plan=plan_file, python=python_text, jsonl=lines_file)
    if python_text is not None and ask.dry_run:
        raise click.UsageError("--dry-run is for a plan or SQL; `sandtable check` tells about Python.")
    if ask.no_check and python_text is None and lines_file is None:
        raise click.UsageError("--no-check goes with --python: a plan and SQL are always checked.")
    if ask.output is not None and (lines_file is not None or ask.dry_run):
        raise click.UsageError("--output goes with one run, and not with --dry-run.")
    if ask.output is not None:
        format_of(ask.output)
    settings = raised(load_settings(), timeout_s=ask.timeout, max_rows=ask.max_rows)
    if lines_file is not None:
        return with_parts(lambda parts: _many(parts, ask, lines_file), settings)
    query = inputs.read_query(sql_text, plan_file, python_text)
    return with_parts(lambda parts: _one(parts, ask, query, as_json), settings)


async def _run(parts: Parts, ask: Ask, dataset_id: str, query: Query, question: str) -> Run:
    accepted = await parts.runs.submit(ask.request(dataset_id, query, question))
    try:
        return await parts.runs.wait(accepted.id)
    except asyncio.CancelledError:
        # After an interrupted command, no server should adopt its runs.
        await parts.runs.cancel(accepted.id)
        raise


async def _one(parts: Parts, ask: Ask, query: Query, as_json: bool) -> int:
    if isinstance(query, CodeQuery):
        parts.expect_code()
    dataset = await open_dataset(parts, ask.about)
    query = inputs.fitted(query, dataset, on_the_fly=bool(ask.about.data))
    run = await _run(parts, ask, dataset.id, query, ask.question)
    if ask.output is not None and run.status == "succeeded":
        await _write(parts, run, ask.output)
    if as_json:
        print_json(document(await parts.runs.capsule(run.id)))
    else:
        _show(run, dataset, rows=ask.output is None)
        if found_nothing(run, dataset):
            await _explain(parts, run, dataset)
    return exit_code(run)


async def _explain(parts: Parts, run: Run, dataset: Dataset) -> None:
    """Why there is nothing, and plans or SQL with other values."""
    execute = executing(parts.runs, dataset.id, run.request.user)
    profile = await parts.datasets.profile(dataset)
    why = await explained(run, dataset, profile, execute, parts.check, parts.read_sql)
    if why.text:
        verified = f" · sandtable verify {why.run_ids[0]}" if why.run_ids else ""
        click.echo(f"{clean(why.text)}{verified}", err=True)
    for fix in why.fixes:
        show_fix(fix)


def format_of(file: Path) -> Format:
    kind = file.suffix.lower().removeprefix(".")
    if kind not in MEDIA_TYPES:
        raise click.UsageError(f"--output must end in .csv, .json or .parquet: {quote(file.name)} does not.")
    return kind


async def _write(parts: Parts, run: Run, file: Path) -> None:
    store = DataStore(parts.settings.home / "data")
    made = await export_run(run, format_of(file), parts.tiers.looks, store)
    try:
        await asyncio.to_thread(file.write_bytes, made.content)
    except OSError as error:
        raise InvalidInput(
            f"cannot write {file}: {error.strerror or error}", suggestion="Check the path."
        ) from error
    click.echo(f"wrote {run.row_count or 0:,} rows to {clean(str(file))}", err=True)


async def _many(parts: Parts, ask: Ask, source: str) -> int:
    dataset = await open_dataset(parts, ask.about)

    async def answer(line: Line) -> Answer:
        query = inputs.fitted(line.query, dataset, on_the_fly=bool(ask.about.data))
        run = await _run(parts, ask, dataset.id, query, line.question or ask.question)
        return _line_of(line.id, run)

    await answer_lines(source, answer, _refused_line, in_flight=parts.settings.concurrency * 2)
    return 0


def _line_of(line_id: Any, run: Run) -> Answer:
    printed: Answer = {}
    if isinstance(run.request.query, CodeQuery):
        shown = [artifact.model_dump(mode="json") for artifact in run.artifacts]
        printed = {"stdout": run.stdout, "stderr": run.stderr, "artifacts": shown, "warnings": run.warnings}
    return {
        "id": line_id,
        "status": run.status,
        "columns": [column.name for column in run.columns],
        "rows": run.rows or (),
        "error": run.error.model_dump(mode="json") if run.error else None,
        "exec_time_ms": None if run.exec_time_ms is None else round(run.exec_time_ms, 3),
        "run_id": run.id,
        "row_count": run.row_count,
        "truncated": run.truncated,
        "cached_from": run.cached_from,
        **printed,
    }


def _refused_line(line_id: Any, problem: Problem) -> Answer:
    return {
        "id": line_id,
        "status": "rejected" if problem.code == ErrorCode.VALIDATION_ERROR else "failed",
        "columns": [],
        "rows": [],
        "error": problem.model_dump(mode="json"),
        "exec_time_ms": None,
        "run_id": None,
    }


def exit_code(run: Run) -> int:
    if run.status == "succeeded":
        return 0
    if run.status == "rejected":
        return failure.REFUSED
    unavailable = run.error is not None and run.error.code == ErrorCode.SANDBOX_UNAVAILABLE
    return failure.NO_SANDBOX if unavailable else failure.FAILED


def _show(run: Run, dataset: Dataset, *, rows: bool = True) -> None:
    for warning in run.warnings:
        click.echo(f"note: {clean(warning)}", err=True)
    query = run.request.query
    if isinstance(query, CodeQuery):
        show_code_output(run, tables=rows)
    elif run.status == "succeeded":
        if not query.dry_run and rows:
            _show_rows(run, dataset)
        for text in run.output.values():
            click.echo(clean(str(text), newlines=True))
    if run.error is not None and run.status != "succeeded":
        text = query.code if isinstance(query, CodeQuery) else run.sql
        show_refusal(_named(run, run.error), text)
    click.echo(_summary(run), err=not on_terminal())


def _show_rows(run: Run, dataset: Dataset) -> None:
    rows: Sequence[Sequence[Any]] = run.rows or ()
    if on_terminal():
        columns = described_run(run, dataset)
        rows = [in_percent(row, columns) for row in rows]
    print_rows([(column.name, column.type) for column in run.columns], rows)


def _named(run: Run, error: Problem) -> Problem:
    """The message of an exception in the code, with its type: `'total'` alone says little."""
    kind = error.details.get("type")
    of_code = isinstance(run.request.query, CodeQuery)
    if run.status != "failed" or not of_code or not run.stderr or not kind:
        return error
    return error.model_copy(update={"message": f"{kind}: {error.message}"})


def _summary(run: Run) -> str:
    rows = run.row_count or 0
    parts = [f"{rows:,} row{'' if rows == 1 else 's'}" if run.status == "succeeded" else run.status]
    if run.request.mode == "dry_run" and run.status == "succeeded":
        parts = ["not run: it binds, and would go as shown"]
    if run.request.mode == "python" and not run.columns and run.status == "succeeded":
        parts = ["done"]
    if run.truncated:
        parts[0] += " (more were cut off)"
    if run.cached_from:
        named = "" if run.cached_from == HIDDEN else f" ({run.cached_from})"
        parts.append(f"from the cache{named}")
    elif run.exec_time_ms is not None:
        parts.append(f"{run.exec_time_ms:.1f} ms")
    return " · ".join([*parts, f"sandtable verify {run.id}"])
