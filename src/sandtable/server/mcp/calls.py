"""What each tool does. Nothing here knows the SDK: `protocol` writes what is given in the form of the protocol.

Invariant: a call that a model can correct gives an error with a code and a suggestion, and never raises for it. A call
that is cancelled cancels its run.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from sandtable.agent.privacy import shown_as_of
from sandtable.agent.prompting.schema import described_dataset
from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery, fitted_plan
from sandtable.catalog.model import Dataset
from sandtable.errors import ErrorCode, NotFound, Problem, SandtableError
from sandtable.plan.reading import bounded
from sandtable.quoting import quote
from sandtable.runs.fixes import fixes_for
from sandtable.runs.model import Run, RunRequest
from sandtable.server.mcp.budget import Budget, most, shortened
from sandtable.server.mcp.place import Caller
from sandtable.server.mcp.shown import (
    DatasetList,
    DescribedDataset,
    ListedDataset,
    Shown,
    ShownError,
    ShownRun,
    VerifiedLink,
    VerifyResult,
    shown_run,
    table_text,
    with_rows,
)
from sandtable.server.mcp.tools import (
    MOST_WAIT_S,
    DescribeArguments,
    GetRunArguments,
    ListArguments,
    PlanArguments,
    PythonArguments,
    SqlArguments,
    VerifyArguments,
)

Progress = Callable[[str], Awaitable[None]]
"""Tells the client what is being done."""

MOST_DATASETS = 200
LARGEST_FIGURE = 256 << 10
"""Bytes of a figure that goes to the answer card. Models do not get it."""
_POLL_S = 1.0
_ABOUT = 200


@dataclass(frozen=True, slots=True)
class AskBack:
    """A person's choice, or decision, without which there is no answer."""

    thread_id: str
    message: str
    choices: tuple[str, ...]
    decides: bool = False
    """Whether a person approves or rejects what is to run."""


@dataclass(frozen=True, slots=True)
class Given:
    text: str
    """For a model, and for hosts that show text only."""
    structured: Shown | None = None
    is_error: bool = False
    figure: dict[str, Any] | None = None
    """For the answer card only."""
    asks: AskBack | None = None


def failed(problem: Problem, chars: int) -> Given:
    return Given(ShownError.of(problem, chars).text, is_error=True)


def read_arguments(kind: type[BaseModel], given: dict[str, Any] | None) -> BaseModel | Problem:
    try:
        return kind.model_validate(given or {})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        known = ", ".join(kind.model_fields) or "none"
        return Problem(
            code=ErrorCode.VALIDATION_ERROR,
            message=f"the argument {quote(field)} cannot be used: {first['msg']}",
            suggestion=f"Correct it; the arguments are: {known}.",
        )


async def list_datasets(caller: Caller, given: ListArguments, progress: Progress) -> Given:
    every, budget = caller.datasets(), Budget.of(caller.place.settings)
    listed = tuple(map(_listed, every[:MOST_DATASETS]))

    def taking(count: int) -> DatasetList:
        return DatasetList(datasets=listed[:count], not_shown=len(every) - count)

    def text(of: DatasetList) -> str:
        lines = [f"- {each.id}: {each.title}. {each.about}" for each in of.datasets]
        more = [f"({of.not_shown} more are not shown)"] if of.not_shown else []
        return "\n".join([*lines, *more]) or "There is no dataset."

    def holds(count: int) -> bool:
        return budget.holds(text(taking(count)), taking(count).model_dump_json())

    shown = taking(max(most(len(listed), holds), 0))
    return Given(text(shown), shown)


def _listed(dataset: Dataset) -> ListedDataset:
    about = " ".join(dataset.description.split())
    return ListedDataset(
        id=dataset.id, title=dataset.title, about=shortened(about, _ABOUT), tables=len(dataset.tables)
    )


async def describe_dataset(caller: Caller, given: DescribeArguments, progress: Progress) -> Given:
    caller.dataset(given.dataset_id)
    dataset = await caller.parts.datasets.ready(given.dataset_id)
    if given.table is not None and dataset.table(given.table) is None:
        names = ", ".join(table.name for table in dataset.tables)
        raise NotFound(
            f"{dataset.id} has no table {quote(given.table)}", suggestion=f"The tables are: {names}."
        )
    budget = Budget.of(caller.place.settings)
    full = await _described(caller, dataset, given)
    # Text and structure say the same twice: a client gives its model one of them.
    count = most(len(full.tables), lambda n: budget.holds(_cut(full, n).model_dump_json() * 2))
    if count < 1 and given.detail != "tables":
        fewer = await _described(caller, dataset, given.model_copy(update={"detail": "tables"}))
        full = fewer.model_copy(update={"cut": "Too large at once: name one `table`, with less detail."})
        count = most(len(full.tables), lambda n: budget.holds(_cut(full, n).model_dump_json() * 2))
    shown = _cut(full, max(count, 0))
    return Given(json.dumps(shown.model_dump(mode="json"), ensure_ascii=False), shown)


def _cut(full: DescribedDataset, tables: int) -> DescribedDataset:
    if tables == len(full.tables):
        return full
    names = ", ".join(each["name"] for each in full.tables[tables:][:20])
    return full.model_copy(
        update={
            "tables": full.tables[:tables],
            "cut": f"{full.cut} Left out for their length, to be asked for by `table`: {names}.".strip(),
        }
    )


async def _described(caller: Caller, dataset: Dataset, given: DescribeArguments) -> DescribedDataset:
    profile = await caller.parts.datasets.profile(dataset)
    samples = given.detail == "values" and caller.place.settings.privacy != "schema"
    found = described_dataset(dataset, profile, samples=samples, words=True)
    tables = [each for each in found["tables"] if given.table in (None, each["name"])]
    if given.detail == "tables":
        tables = [{**each, "columns": len(each["columns"])} for each in tables]
    has_columns = given.detail != "tables"
    return DescribedDataset(
        dataset_id=dataset.id,
        version=dataset.version,
        detail=given.detail,
        title=dataset.title,
        description=dataset.description,
        as_of=shown_as_of(dataset.as_of, "off" if caller.may_show(dataset.id, None) else "schema"),
        tables=tuple(tables),
        relationships=tuple(found["relationships"]) if has_columns else (),
        metrics=tuple(found["metrics"]) if has_columns else (),
        example_questions=caller.examples(dataset),
    )


async def run_plan(caller: Caller, given: PlanArguments, progress: Progress) -> Given:
    problem = bounded(given.plan)
    if problem is not None:
        return failed(
            Problem(code=ErrorCode.VALIDATION_ERROR, message=problem.message, suggestion=problem.suggestion),
            Budget.of(caller.place.settings).text,
        )
    query = PlanQuery(fitted_plan(given.plan, given.dataset_id))
    return await _run(caller, given.dataset_id, query, given.question, progress)


async def run_sql(caller: Caller, given: SqlArguments, progress: Progress) -> Given:
    return await _run(caller, given.dataset_id, SqlQuery(given.sql), given.question, progress)


async def run_python(caller: Caller, given: PythonArguments, progress: Progress) -> Given:
    return await _run(caller, given.dataset_id, CodeQuery(given.code), given.question, progress)


async def _run(caller: Caller, dataset_id: str, query: Query, question: str, progress: Progress) -> Given:
    caller.dataset(dataset_id)
    request = RunRequest(
        dataset_id=dataset_id,
        query=query,
        question=question,
        user=caller.user,
        chart=not isinstance(query, CodeQuery),
    )
    run = await caller.submit(request)
    return await given_run(caller, await _ended(caller, run, progress))


async def _ended(caller: Caller, run: Run, progress: Progress) -> Run:
    """The run when it has ended, or as it is after MOST_WAIT_S or when the server stops."""
    give_up = asyncio.get_running_loop().time() + MOST_WAIT_S
    try:
        status = ""
        while not run.ended and asyncio.get_running_loop().time() < give_up and not caller.place.stops:
            if run.status != status:
                status = run.status
                await progress(f"The run is {status}.")
            run = await caller.run(run.id, _POLL_S)
    except asyncio.CancelledError:
        caller.cancel(run.id)
        raise
    return run


async def get_run(caller: Caller, given: GetRunArguments, progress: Progress) -> Given:
    run = await caller.run(given.run_id, given.wait_s)
    return await given_run(caller, run, offset=given.offset, is_asked_for=True)


async def given_run(caller: Caller, run: Run, *, offset: int = 0, is_asked_for: bool = False) -> Given:
    """A run that failed is an error of the tool that ran it, and not of one that looks at it."""
    budget, privacy = Budget.of(caller.place.settings), caller.privacy_of(run)
    fixes = await _fixes(caller, run) if privacy == "off" else ()
    made = _without_folders(caller, shown_run(run, privacy, budget, offset=offset, fixes=fixes))
    text = run_text(made)
    made = with_rows(made, run, budget, text)
    is_error = run.status in ("rejected", "failed", "cancelled") and not is_asked_for
    return Given(
        join(run_text(made), table_text(made, run)), made, is_error, figure_of(run.chart, made.withheld)
    )


def _without_folders(caller: Caller, made: ShownRun) -> ShownRun:
    if made.error is None:
        return made
    problem = caller.presentable(Problem(**made.error.model_dump()))
    return made.model_copy(update={"error": ShownError(**problem.model_dump(exclude={"details"}))})


async def _fixes(caller: Caller, run: Run) -> tuple[str, ...]:
    """Corrections that the gate approves; none where that cannot be found out now."""
    if run.status not in ("rejected", "failed"):
        return ()
    parts = caller.parts
    try:
        dataset = await parts.datasets.ready(run.request.dataset_id)
        async with caller.place.checks.place(caller.user):
            found = await fixes_for(parts.check, dataset, run, parts.rules_of(dataset))
    except SandtableError:
        return ()
    return tuple(
        each.text if each.text is not None else json.dumps(each.plan, ensure_ascii=False) for each in found
    )


def figure_of(chart: dict[str, Any] | None, withheld: str) -> dict[str, Any] | None:
    if chart is None or withheld or len(json.dumps(chart)) > LARGEST_FIGURE:
        return None
    return chart


def run_text(made: ShownRun) -> str:
    """What is said of a run beside its rows."""
    counted = (
        ""
        if made.row_count is None
        else f", {_rows(made.row_count)}{' (and more)' if made.truncated else ''}"
    )
    lines = [f"Run {made.run_id}: {made.status}{counted}."]
    if made.status in ("pending", "running"):
        lines.append(f"It has not ended: call get_run with run_id {made.run_id} and wait_s.")
    if made.error is not None:
        lines.append(made.error.text)
    lines += [f"The gate would approve: {fix}" for fix in made.fixes]
    if made.withheld:
        lines.append(made.withheld)
    if made.stdout:
        lines.append(f"It printed:\n{made.stdout}")
    lines += [f"It showed {each}." for each in made.artifacts]
    if made.rows_uri is not None and made.rows:
        last = made.offset + len(made.rows)
        lines.append(f"Rows {made.offset + 1} to {last} are here; all are at {made.rows_uri}.")
    return "\n".join(lines)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def join(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)


async def verify_run(caller: Caller, given: VerifyArguments, progress: Progress) -> Given:
    await progress("Deriving the run again.")
    report = await caller.verify(given.run_id)
    budget = Budget.of(caller.place.settings)
    run = await caller.run(given.run_id)
    # A detail may quote what differs.
    shows = caller.privacy_of(run) == "off"
    links = tuple(
        VerifiedLink(
            name=link.name,
            status=link.status,
            detail=shortened(link.detail, budget.text // 4) if shows or link.status != "broken" else "",
        )
        for link in report.links
    )
    made = VerifyResult(
        run_id=report.run_id or given.run_id,
        ok=report.ok,
        complete=report.complete,
        links=links,
        keyid=report.keyid,
    )
    word = "Nothing is broken" if report.ok else "Something is broken"
    lines = [f"{word} in the capsule of run {made.run_id}."]
    lines += [f"- {link.name}: {link.status}{f' ({link.detail})' if link.detail else ''}" for link in links]
    return Given("\n".join(lines), made)
