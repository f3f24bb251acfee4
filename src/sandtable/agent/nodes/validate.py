"""Does the proposal fit the data? A plan is checked and compiled here; the gate judges SQL when it runs.

Invariant: pure work only, apart from the gate's opinion where a person will be asked to approve.
"""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig

from sandtable.agent.events import Planned, Sql, Thought
from sandtable.agent.look_back import reading_or_none
from sandtable.agent.means import Means
from sandtable.agent.nodes.calling import ids_of, new_call
from sandtable.agent.nodes.place import dataset_of
from sandtable.agent.nodes.repair import may_repair
from sandtable.agent.state import State, Turn, changed, defined_of, turn_of
from sandtable.agent.voice import emit
from sandtable.catalog.model import Dataset
from sandtable.errors import InvalidInput, Problem
from sandtable.plan.validate import parse_plan
from sandtable.policy.verdict import Approved, Refused
from sandtable.sql.compile import compile_plan


async def validate(means: Means, state: State, config: RunnableConfig) -> State:
    turn, dataset = turn_of(state), await dataset_of(means, state, config)
    emit(Thought(text="Checking…"))
    changes = _checked(turn, dataset, defined_of(state), means.max_rows)
    if means.approval == "sql" and not changes.get("problem"):
        changes.update(await _judged(means, dataset, changes.get("sql")))
    checked = changed(turn, changes)
    if may_repair(means, checked):
        return State(turn=checked)
    call = new_call(checked, dataset.id)
    return State(turn=changed(checked, Turn(call=ids_of(call))), messages=[call])


def _checked(turn: Turn, dataset: Dataset, defined: tuple[dict[str, Any], ...], max_rows: int) -> Turn:
    proposed = turn.get("plan")
    if proposed is None:
        sql = turn.get("sql") or ""
        emit(Sql(sql=sql))
        return Turn(sql=sql, problem=None)
    plan = complete(proposed, dataset.id, defined)
    try:
        compiled = compile_plan(parse_plan(plan), dataset, max_rows=max_rows)
    except InvalidInput as error:
        return Turn(plan=plan, sql=None, problem=error.problem.model_dump(mode="json"))
    reading = reading_or_none(plan, dataset) or ""
    emit(Planned(plan=plan, reading=reading, confidence=turn.get("confidence")))
    emit(Sql(sql=compiled.sql))
    return Turn(plan=plan, sql=compiled.sql, reading=reading, problem=None)


def complete(plan: dict[str, Any], dataset_id: str, defined: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """The plan with the dataset it is about, and with the named tables that it reads."""
    whole = {"dataset_id": dataset_id, **plan}
    if whole.get("define") or not defined:
        return whole
    by_name = {d["name"].lower(): d for d in defined}
    read: list[dict[str, Any]] = []
    name = str(plan.get("table", "")).lower()
    while name in by_name:
        made = by_name.pop(name)
        read.insert(0, made)
        name = str(made["plan"].get("table", "")).lower()
    return {**whole, "define": read} if read else whole


async def _judged(means: Means, dataset: Dataset, sql: str | None) -> Turn:
    """The exact text that would run, for the person who is asked; or why it may not."""
    verdict = await means.check(dataset, sql=sql)
    match verdict:
        case Approved(approved):
            return Turn(exact=approved)
        case Refused():
            problem = Problem(code=verdict.code, message=verdict.message, suggestion=verdict.suggestion)
            return Turn(problem=problem.model_dump(mode="json"))


def after_validate(means: Means, state: State) -> str:
    turn = turn_of(state)
    if may_repair(means, turn):
        return "repair"
    # A refused proposal is handed in all the same: its refusal is put on record as a run.
    return "approve" if means.approval == "sql" and not turn.get("problem") else "run"
