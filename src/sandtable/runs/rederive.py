"""Derives a capsule again with the components that execute runs."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from sandtable.capsule.keys import TrustedKeys
from sandtable.capsule.model import AnyCapsule, CodeCapsule, query_in
from sandtable.capsule.query import CodeQuery, PlanQuery
from sandtable.capsule.verify import Rederive
from sandtable.catalog.model import Dataset
from sandtable.catalog.stored.integrity import damaged
from sandtable.errors import InvalidInput
from sandtable.policy.verdict import Approved, Verdict
from sandtable.runs.code import options_of
from sandtable.runs.draw import draw
from sandtable.runs.parts import Route, RunParts
from sandtable.runs.pipeline import threads_for
from sandtable.runs.watch import run_watched, wait_ready
from sandtable.sandbox.job import Job, JobResult, Limits, refs_of

MOST_S = 600.0
"""Limit of one verification, which may run several cells of a session again."""


_MOST_SHAPE = {"rows": 100_000, "cell_bytes": 64 << 20, "result_bytes": 64 << 20, "log_bytes": 16 << 20}
"""A capsule's limits may exceed this installation's up to these: the result is read into this process."""


def rederive_with(
    parts: RunParts, keys: TrustedKeys, rehash: Callable[[Dataset], Awaitable[str]] | None
) -> Rederive:
    def _route(dataset: Dataset) -> Route:
        return parts.route(dataset.id, dataset.version)

    def compile_again(plan: dict[str, Any], dataset: Dataset, rows: int) -> str:
        return _route(dataset).compile(plan, dataset, rows).sql

    async def judge_again(text: str, dataset: Dataset) -> Verdict:
        return await _route(dataset).judge(text, dataset)

    async def judge_plan(plan: dict[str, Any], dataset: Dataset, rows: int) -> Verdict:
        judge = _route(dataset).judge_plan
        if judge is None:
            raise InvalidInput("the dataset of this name does not stay in a database any more")
        return await judge(plan, dataset, rows)

    async def run_again(capsule: AnyCapsule, approved: Approved, dataset: Dataset) -> JobResult:
        data = await parts.datasets.open(dataset.id, dataset.version)
        refs = refs_of(data)
        # Limits that shape the result come from the capsule; limits on the machine's resources do not.
        shape = capsule.limits.model_dump(include=set(_MOST_SHAPE))
        _require_bearable(shape, parts.limits)
        options: dict[str, Any] = {}
        query = query_in(capsule)
        if isinstance(capsule, CodeCapsule) and isinstance(query, CodeQuery):
            before = capsule.before or ()
            options = options_of(query.code, dataset.version, query.names, check=True, before=before)
            shape |= _time_for(1 + len(before), parts.limits)
            await wait_ready(parts.ready_for_code, parts.start_s)
        route = _route(dataset)
        if isinstance(query, PlanQuery) and route.judge_plan is not None:
            compiled = route.compile(query.plan, dataset, capsule.limits.rows)
            options["columns"] = [column.model_dump() for column in compiled.columns]
        job = Job(
            id=f"verify-{secrets.token_hex(8)}",
            mode=capsule.mode,
            dataset_id=dataset.id,
            dataset_version=dataset.version,
            data=refs,
            text=approved.sql,
            threads=threads_for(approved, refs, parts),
            limits=parts.limits.model_copy(update=shape),
            options=options,
        )
        result = await run_watched(route.executor, job, parts.grace_s)
        if not await parts.datasets.unchanged(data):
            raise damaged(dataset.version, "its files changed while they were read", dataset.id)
        return result

    return Rederive(
        keys=keys,
        dataset=parts.datasets.version,
        rehash=rehash,
        compile=compile_again,
        judge=judge_again,
        judge_plan=judge_plan,
        judge_python=parts.judge_python,
        bound_names=parts.bound_names,
        code_engine=partial(parts.engine_of, code=True),
        run=run_again,
        draw=draw,
    )


def _time_for(cells: int, limits: Limits) -> dict[str, int]:
    """Each cell had the whole time limit for itself."""
    wall_ms = max(limits.wall_ms, min(cells * limits.wall_ms, round(MOST_S * 1000)))
    return {"wall_ms": wall_ms, "cpu_s": limits.cpu_s * -(-wall_ms // limits.wall_ms)}


def _require_bearable(shape: dict[str, int], limits: Limits) -> None:
    for name, value in shape.items():
        if value > max(_MOST_SHAPE[name], getattr(limits, name)):
            raise InvalidInput(f"the run had a limit of {value:,} for `{name}`, more than is allowed here")
