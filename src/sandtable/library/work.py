"""The library's functions as coroutines on the library's loop. See `bridge` for how they are called."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sandtable.agent.events import Error, Event
from sandtable.agent.folding import FoldedAnswer, fold
from sandtable.capsule.document import document
from sandtable.capsule.query import CodeQuery
from sandtable.catalog.reading.file_tables import Decided
from sandtable.errors import InvalidInput
from sandtable.library.bridge import wait_for
from sandtable.library.open_parts import MOST_MEMORY_MB, MOST_ROWS, MOST_SECONDS, OPEN_PARTS, OpenParts
from sandtable.library.result import Answer, RunResult, failure, result_of, table_of
from sandtable.quoting import quote
from sandtable.runs.empty import explained
from sandtable.runs.explanation import Explanation
from sandtable.runs.lookup import executing
from sandtable.runs.model import LONGEST_QUESTION, Run, RunRequest, normal_plan

Data = Any
"""None, the id of a dataset, a path, a list of paths, a DataFrame, or a dict of names and paths or DataFrames."""


async def run(
    code: str,
    data: Data = None,
    timeout: float = 30.0,  # noqa: ASYNC109 - a limit that the sandbox keeps, not the caller's patience
    *,
    names: Mapping[str, str] | None = None,
    check: bool = True,
    max_rows: int | None = None,
    memory_mb: int | None = None,
    cache: bool = True,
    answers: Mapping[str, str] | None = None,
    repairs: Sequence[str] = (),
) -> RunResult:
    """Run Python code on tables, in a sealed sandbox without network, files or other processes.

    The code's output is `result.stdout`; the value of its last line is shown too, as in a notebook.
    It never raises for what the code does: check `result.success` and `result.error_message`.

    Available to the code without an import (importing them is allowed as well):
    - the tables of `data` by name, as pandas DataFrames; `df` when there is one; `tables[name]` for any of them;
    - pd, np, pl (Polars), px and go (Plotly), alt (Altair), scipy, math, statistics, random, re, json, datetime,
      collections, itertools, functools, operator, decimal, fractions, string, textwrap;
    - sql("SELECT …") on the same tables with DuckDB, as a DataFrame;
    - show(value, title) for DataFrames, figures and text; show_table, show_plot, show_html, show_mermaid,
      show_markdown. What was shown is in `result.artifacts`, the last table also in `result.table`.
    No other import, no open(), no eval() or exec(), no names that begin and end with two underscores.

    Args:
        code: Python source.
        data: the path of a data file (CSV, JSON, Parquet, Excel, ...), or a list of them (named as the file); a pandas
            or Polars DataFrame (the table `df`); a dict such as {"orders": orders_frame, "items": "items.csv"}; the
            id of a built-in or an added dataset, such as "ecommerce"; or None.
        timeout: seconds after which the code is stopped, at most 3600.
        names: further names for tables, such as {"award_data": "awards"}.
        check: False skips the check of the code before it runs, and relies on the sandbox alone.
        max_rows: rows of a shown table that are kept; 200 by default.
        memory_mb: memory that the code may use at least, in MiB; 1024 by default. A table takes a few times the
            size of its file when all its columns are used.
        cache: whether the result of an identical earlier run on the same data may be returned.
        answers: how columns of the files are read where the files do not say, such as {"ordered": "day-first"}. What
            is open is in `error.details["questions"]` of the InvalidInput, each with its choices.
        repairs: what is done with files that are refused as they are; `error.details["repairs"]` offers them.

    Raises:
        InvalidInput, NotFound: `data` or another argument cannot be used.
        SandboxUnavailable: this machine cannot isolate code, or Python is not installed for it.
        QueueFull: as many runs are waiting as SANDTABLE_QUEUE_LIMIT allows.
    """
    require_text(code, "code")
    timeout_ms = timeout_of(timeout)
    opened = await OPEN_PARTS.get(
        timeout_s=timeout, max_rows=_number(max_rows, "max_rows", MOST_ROWS), memory_mb=memory_of(memory_mb)
    )
    dataset = await opened.handover.dataset(data, opened.parts.datasets, decided_of(answers, repairs))
    try:
        request = RunRequest(
            dataset_id=dataset.id,
            query=CodeQuery(code, dict(names or {}), check),
            max_rows=max_rows,
            timeout_ms=timeout_ms,
            cache=cache,
        )
    except InvalidInput as error:
        if error.details.get("field") != "python":
            raise
        return failure(error.problem)
    return recorded(await finished(opened, request), opened)


async def ask(
    question: str,
    data: Data,
    *,
    thread: str | None = None,
    plan: Mapping[str, Any] | None = None,
    answers: Mapping[str, str] | None = None,
    repairs: Sequence[str] = (),
) -> Answer:
    """Ask a question about tables in plain language: "What was revenue by month in 2024?".

    A planner, or the chat model that SANDTABLE_MODEL names, turns it into a query; the query is checked and run in
    the sandbox, and its rows are put into words. Numbers in the text come from `answer.table` alone.

    Args:
        question: in English.
        data: as in `run`.
        thread: `answer.thread` of an earlier answer, to follow it up.
        plan: a plan to run as the answer, such as that of one of `answer.choices`, or of a choice in `answer.read_as`;
            nothing is proposed then.
        answers, repairs: about the files of `data`, as in `run`.

    Returns an Answer; a question that was not understood has the status "asked", `answer.choices` are readings of it
    that can be taken, and `answer.suggestions` says what could be asked instead. A message with several questions gets
    an answer for each: the first one is returned, the rest are its `others`.

    Raises:
        InvalidInput, NotFound: the question or `data` cannot be used.
        SandboxUnavailable: this machine cannot isolate.
    """
    require_text(question, "question")
    if not question.strip() or len(question) > LONGEST_QUESTION:
        raise InvalidInput(
            "the question is empty" if not question.strip() else "the question is too long",
            suggestion=f"Ask in a sentence or two, with at most {LONGEST_QUESTION:,} characters.",
        )
    opened = await OPEN_PARTS.get()
    dataset = await opened.handover.dataset(data, opened.parts.datasets, decided_of(answers, repairs))
    analyst = await opened.analyst()
    chosen = normal_plan(dict(plan)) if plan is not None else None
    talk = thread or analyst.new_thread()
    asking = analyst.ask(question.strip(), dataset_id=dataset.id, thread_id=talk, plan=chosen)
    return await _answer(opened, asking, talk)


async def _answer(opened: OpenParts, events: AsyncGenerator[Event, None], thread: str) -> Answer:
    answers = [await _answered(opened, answer, thread) for answer in await fold(events)]
    if not answers:
        return Answer("the conversation ended without an answer", "failed", thread=thread)
    return replace(answers[0], others=tuple(answers[1:]))


async def _answered(opened: OpenParts, answer: FoldedAnswer, thread: str) -> Answer:
    end = answer.end
    if isinstance(end, Error):
        return Answer(end.problem.in_words, "failed", code=end.problem.code.value, thread=thread)
    ran = await opened.parts.runs.get(answer.run_id) if answer.run_id else None
    return Answer(
        text=end.text,
        status=end.ending,
        table=table_of(ran) if ran else None,
        chart=ran.chart if ran else None,
        run_id=answer.run_id,
        reading=answer.run.reading,
        read_as=answer.run.read_as,
        sql=ran.sql if ran else None,
        suggestions=end.suggestions,
        choices=end.choices,
        code=end.problem.code.value if end.problem else None,
        thread=thread,
        _explain=(lambda: wait_for(_explained(opened, ran))) if ran else None,
    )


async def _explained(opened: OpenParts, run: Run) -> Explanation:
    parts = opened.parts
    dataset = await parts.datasets.ready(run.request.dataset_id)
    execute = executing(parts.runs, dataset.id, run.request.user)
    profile = await parts.datasets.profile(dataset)
    return await explained(run, dataset, profile, execute, parts.check, parts.read_sql)


async def finished(opened: OpenParts, request: RunRequest) -> Run:
    accepted = await opened.parts.runs.submit(request)
    try:
        return await opened.parts.runs.wait(accepted.id)
    except asyncio.CancelledError:
        # After a cancelled call, no server should adopt its run.
        await opened.parts.runs.cancel(accepted.id)
        raise


def recorded(run: Run, opened: OpenParts) -> RunResult:
    async def capsule() -> dict[str, Any]:
        return document(await opened.parts.runs.capsule(run.id))

    return result_of(run, lambda: wait_for(capsule()))


def timeout_of(seconds: Any) -> int:
    """In milliseconds. Raises InvalidInput."""
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not number or not math.isfinite(seconds) or not 0 < seconds <= MOST_SECONDS:
        raise InvalidInput(
            f"`timeout` is {quote(str(seconds))}",
            suggestion=f"Give seconds, more than 0 and at most {MOST_SECONDS:g}.",
        )
    return max(1, int(seconds * 1000))


def decided_of(answers: Any, repairs: Any) -> Decided:
    """Raises InvalidInput."""
    given = {} if answers is None else answers
    if not isinstance(given, Mapping) or not all(isinstance(t, str) for pair in given.items() for t in pair):
        raise InvalidInput(
            "`answers` is not a dict of texts", suggestion='Write {"column": "answer"}, as the error says.'
        )
    if isinstance(repairs, str) or not all(isinstance(each, str) for each in repairs):
        raise InvalidInput(
            "`repairs` is not a list of texts", suggestion="Give the ids that the error offers."
        )
    return Decided(dict(given), tuple(repairs))


def memory_of(mib: Any) -> int | None:
    """Raises InvalidInput."""
    return _number(mib, "memory_mb", MOST_MEMORY_MB)


def _number(given: Any, name: str, most: int) -> int | None:
    whole = isinstance(given, int) and not isinstance(given, bool)
    if given is not None and (not whole or not 1 <= given <= most):
        raise InvalidInput(
            f"{quote(name)} is {quote(str(given))}", suggestion=f"Give a whole number from 1 to {most:,}."
        )
    return given


def require_text(value: Any, name: str) -> None:
    if not isinstance(value, str):
        hint = " Read the file first." if isinstance(value, os.PathLike) else ""
        raise InvalidInput(f"{quote(name)} is of type {type(value).__name__}", suggestion=f"Give text.{hint}")
