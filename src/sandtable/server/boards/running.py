"""A kept question run again, with or without filters: a run like any other."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Request

from sandtable.assemble import Parts
from sandtable.boards.filtering import NotApplied
from sandtable.boards.model import Condition, KeptQuestion
from sandtable.capsule.query import query_of
from sandtable.runs.model import LONGEST_QUESTION, Run, RunRequest
from sandtable.server import logs
from sandtable.server.boards.results import narrowed
from sandtable.server.shutdown import Shutdown


async def run_again(
    request: Request,
    question: KeptQuestion,
    filters: Sequence[Condition],
    *,
    cache: bool,
    wait_s: float,
) -> tuple[Run, tuple[NotApplied, ...]]:
    """Raises NotFound where the principal may not ask about the dataset."""
    parts: Parts = request.app.state.parts
    logs.bind(dataset_id=question.dataset_id)
    dataset = await parts.datasets.ready(question.dataset_id)
    fields, left = await asyncio.to_thread(narrowed, question, filters, dataset)
    applied = [each for each in filters if not any(each.column == one.column for one in left)]
    asked = RunRequest(
        dataset_id=question.dataset_id,
        query=query_of(**_given(fields), what="a kept question"),
        question=_question(question.question, applied),
        cache=cache,
        chart=True,
    )
    run = await parts.runs.submit(asked)
    logs.bind(run_id=run.id)
    shutdown: Shutdown = request.app.state.shutdown
    run = await shutdown.or_begun(parts.runs.wait(run.id, wait_s)) or await parts.runs.get(run.id)
    return run, left


def _given(fields: Mapping[str, object]) -> dict[str, Any]:
    return dict(fields)


def _question(text: str, applied: Sequence[Condition]) -> str:
    """The question as the capsule has it, which names the filters that are in the plan."""
    if not text or not applied:
        return text
    said = ", ".join(f"{each.column} {each.op} {_value(each)}".rstrip() for each in applied)
    return f"{text} (filtered by {said})"[:LONGEST_QUESTION]


def _value(condition: Condition) -> str:
    value = condition.value
    if value is None:
        return ""
    return (
        " to ".join(map(str, value))
        if condition.op == "between" and isinstance(value, tuple)
        else (", ".join(map(str, value)) if isinstance(value, tuple) else str(value))
    )
