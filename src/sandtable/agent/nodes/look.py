"""A chat model called a tool before it proposes: the call is checked and made, and what it gave is noted for it.

A call that executes is a run like any other: judged by the gate, counted by the quotas, executed in the sandbox, sealed
in a capsule. Where a person approves what runs, tools that execute are not offered.
"""

from __future__ import annotations

import json
from typing import Any

from sandtable.agent.events import RunState, Thought
from sandtable.agent.execution import execute
from sandtable.agent.looking import Unusable, bounded, read_call, shown_datasets, shown_run
from sandtable.agent.means import Means
from sandtable.agent.messages import WrittenMessage
from sandtable.agent.named import complete
from sandtable.agent.nodes.calling import ids_of, progress, reply_of, tool_call
from sandtable.agent.nodes.place import Config, dataset_of, datasets_of, ready_dataset, user_of
from sandtable.agent.nodes.propose import asked_of
from sandtable.agent.nodes.run import show
from sandtable.agent.nodes.run_cell import show_cell
from sandtable.agent.normalising import Known, definitions, normalised
from sandtable.agent.prompting.schema import schema_data
from sandtable.agent.proposer import Asked
from sandtable.agent.state import State, TurnNotes, changed, exchanges_of, look_runs, origin_of, turn_of
from sandtable.agent.streaming import emit
from sandtable.agent.tools import GET_RUN, GET_SCHEMA, LIST_DATASETS, report_of
from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery
from sandtable.errors import NotFound, SandtableError
from sandtable.quoting import inert, quote
from sandtable.runs.model import Run, RunRequest

_THOUGHTS = {
    LIST_DATASETS: "Looking at the datasets…",
    GET_SCHEMA: "Looking at the schema…",
    GET_RUN: "Looking at an earlier run…",
}


async def look(means: Means, state: State, config: Config) -> State:
    turn, dataset = turn_of(state), await dataset_of(means, state, config)
    wanted, looking = turn.get("look"), means.looking
    assert wanted is not None and looking is not None
    tool = wanted["tool"]
    asked = await asked_of(means, state, dataset)
    arguments = read_call(tool, wanted["arguments"], asked.tools)
    if isinstance(arguments, Unusable):
        emit(Thought(text=f"{inert(turn.get('origin', ''))} called a tool in a way that cannot be used"))
        return State(turn=_noted(turn, tool, {}, arguments.gave))
    if any((each.tool, each.arguments) == (tool, arguments) for each in asked.looks):
        gave = {"error": "this was called before for the same question; what it gave is above"}
        return State(turn=_noted(turn, tool, arguments, gave))
    emit(Thought(text=_THOUGHTS.get(tool, "Running what the model wants to look at…")))
    message = tool_call(tool, {"dataset_id": dataset.id, **arguments})
    try:
        if tool in _THOUGHTS:
            gave = bounded(await _read(means, config, state, asked, tool, arguments))
            reply = reply_of(ids_of(message), gave, failed=False)
            return State(turn=_noted(turn, tool, arguments, gave), messages=[message, reply])
        ended = await _executed(means, turn, asked, arguments, user_of(config), message)
    except SandtableError as error:
        progress(ids_of(message), "failed", None, "failed")
        gave = {"error": f"{error.message}. {error.suggestion}".strip()}
        reply = reply_of(
            ids_of(message), {"status": "failed", "error": {"message": error.message}}, failed=True
        )
        return State(turn=_noted(turn, tool, arguments, gave), messages=[message, reply])
    gave = bounded(shown_run(ended, asked, looking.privacy))
    reply = reply_of(ids_of(message), report_of(ended), failed=ended.status != "succeeded")
    return State(turn=_noted(turn, tool, arguments, gave, ended.id), messages=[message, reply])


async def _read(
    means: Means, config: Config, state: State, asked: Asked, tool: str, arguments: dict[str, Any]
) -> dict[str, Any]:
    looking = means.looking
    assert looking is not None
    if tool == LIST_DATASETS:
        return shown_datasets(datasets_of(means, config))
    if tool == GET_SCHEMA:
        dataset = await ready_dataset(means, config, arguments["dataset_id"])
        profile = await means.datasets.profile(dataset)
        return json.loads(schema_data(dataset, profile, looking.privacy))
    run_id: str = arguments["run_id"]
    known = {exchange.run_id for exchange in exchanges_of(state)}
    if run_id not in known | {*look_runs(turn_of(state))}:
        raise NotFound(f"there is no run {quote(run_id)} in this conversation")
    return shown_run(await means.runs.get(run_id), asked, looking.privacy)


async def _executed(
    means: Means, turn: TurnNotes, asked: Asked, arguments: dict[str, Any], user: str, message: WrittenMessage
) -> Run:
    def tell(now: Run) -> None:
        emit(RunState(run_id=now.id, status=now.status, exec_time_ms=now.exec_time_ms))
        progress(ids_of(message), "done" if now.ended else "running", now.id, now.status)

    request = RunRequest(
        dataset_id=asked.dataset.id,
        query=_query_of(arguments, asked),
        cache="code" not in arguments,
        question=turn.get("asked", ""),
        user=user,
        origin=origin_of(turn),
    )
    [ended] = await execute(means.runs, [request], tell)
    if isinstance(ended.request.query, CodeQuery):
        show_cell(ended)
    else:
        show(ended, asked.dataset)
    return ended


def _query_of(arguments: dict[str, Any], asked: Asked) -> Query:
    if "plan" in arguments:
        return PlanQuery(_plan_of(arguments["plan"], asked))
    return SqlQuery(arguments["sql"]) if "sql" in arguments else CodeQuery(arguments["code"])


def _plan_of(plan: dict[str, Any], asked: Asked) -> dict[str, Any]:
    """In its own form, as a proposal of the model would be."""
    names = {str(each.get("name")).lower() for each in (*asked.defined, *definitions(plan))}
    known = Known(asked.dataset, asked.profile, frozenset(names))
    return complete(
        normalised({**plan, "dataset_id": asked.dataset.id}, known), asked.dataset.id, asked.defined
    )


def _noted(
    turn: TurnNotes, tool: str, arguments: dict[str, Any], gave: dict[str, Any], run_id: str | None = None
) -> TurnNotes:
    wanted = turn.get("look")
    spent = wanted["model_s"] if wanted else 0.0
    made = {"tool": tool, "arguments": arguments, "gave": gave, "run_id": run_id, "model_s": spent}
    return changed(turn, TurnNotes(look=None, looks=[*(turn.get("looks") or ()), made]))
