"""Does the proposal fit the data? A plan is checked and compiled here; the gate judges SQL when it runs.

Its values are looked up, too: one that is in no row of its column is asked about before anything runs; but SQL that a
person wrote runs as it is.
Invariant: pure work only, apart from the gate's opinion where a person will be asked to approve, and look-ups of values
that the profile does not list, which are runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandtable.agent.builtin import last_answer
from sandtable.agent.events import Planned, Sql, Thought
from sandtable.agent.execution import looking_up
from sandtable.agent.look_back import reading_or_none
from sandtable.agent.markdown import sentence
from sandtable.agent.means import Means
from sandtable.agent.named import complete
from sandtable.agent.nodes.calling import ids_of, new_call
from sandtable.agent.nodes.place import Config, dataset_of, user_of
from sandtable.agent.nodes.propose import asked_of, instead_of_refused
from sandtable.agent.nodes.repair import may_repair
from sandtable.agent.normalising import Known, definitions, table_problem
from sandtable.agent.offers import MOST_VALUES, asked_about_values
from sandtable.agent.read_as.model import Aligned
from sandtable.agent.state import (
    ClosingMessage,
    State,
    TurnNotes,
    changed,
    defined_of,
    exchanges_of,
    read_as_of,
    turn_of,
)
from sandtable.agent.streaming import emit
from sandtable.capsule.query import SqlQuery
from sandtable.capsule.trust import BUILTIN, READER, marks_of
from sandtable.catalog.model import Dataset
from sandtable.chart.figure import chart_of
from sandtable.chart.wishes import unmet_wish
from sandtable.errors import ErrorCode, InvalidInput, NotFound, Problem
from sandtable.plan.lookup import Correction, corrections
from sandtable.plan.validate import parse_plan
from sandtable.policy.verdict import Approved, Refused
from sandtable.runs.empty_sql import SqlCorrection, corrections_of_sql, look_up_sql
from sandtable.runs.lookup import Execute, LookedUp, look_up
from sandtable.sql.compile import compile_plan
from sandtable.wording.emptiness import not_in_the_data

LONGEST_OFFERED = 16 << 10
"""Characters of SQL that is looked up: the thread keeps what is offered in its place."""


async def validate(means: Means, state: State, config: Config) -> State:
    turn, dataset = turn_of(state), await dataset_of(means, state, config)
    emit(Thought(text="Checking…"))
    changes = _checked(turn, dataset, defined_of(state), means.max_rows)
    if is_models_plan(means, turn):
        changes = await _held_against_words(means, state, dataset, changes)
    kept = await _chart_stays(means, state, changes)
    if kept is not None:
        return State(turn=changed(turn, TurnNotes(said=kept)))
    checked = changed(turn, changes)
    looked = await _looked_up(means, checked, dataset, user_of(config))
    if looked.get("said"):
        return State(turn=changed(checked, looked))
    changes.update(looked)
    changes.update(await _read_as(means, state, dataset, changed(turn, changes)))
    _show(changed(turn, changes))
    if means.approval == "sql" and not changes.get("problem"):
        changes.update(await _judged(means, dataset, changes.get("sql") or ""))
    checked = changed(turn, changes)
    if checked.get("problem") and is_models_plan(means, turn) and not may_repair(means, checked):
        checked = await _without_the_models_plan(means, state, dataset, checked, user_of(config))
        if checked.get("said"):
            return State(turn=checked)
    if may_repair(means, checked):
        return State(turn=checked)
    call = new_call(checked, dataset.id)
    return State(turn=changed(checked, TurnNotes(call=ids_of(call))), messages=[call])


def _checked(
    turn: TurnNotes, dataset: Dataset, defined: tuple[dict[str, Any], ...], max_rows: int
) -> TurnNotes:
    proposed = turn.get("plan")
    if proposed is None:
        return TurnNotes(sql=turn.get("sql") or "", problem=None)
    plan = complete(proposed, dataset.id, defined)
    try:
        compiled = compile_plan(parse_plan(plan), dataset, max_rows=max_rows)
    except InvalidInput as error:
        names = frozenset(d["name"].lower() for d in (*defined, *definitions(plan)))
        problem = table_problem(plan, Known(dataset, defined=names)) or error.problem
        return TurnNotes(plan=plan, sql=None, problem=problem.model_dump(mode="json"))
    return TurnNotes(plan=plan, sql=compiled.sql, reading=reading_or_none(plan, dataset) or "", problem=None)


async def _chart_stays(means: Means, state: State, changes: TurnNotes) -> ClosingMessage | None:
    """What is said instead of a run when only the chart is to change, and the rows cannot be shown as is asked."""
    plan, before = changes.get("plan"), last_answer(exchanges_of(state))
    if plan is None or changes.get("problem") or before is None or before.run_id is None:
        return None
    if "chart" not in plan or plan == before.plan or _rows_of(plan) != _rows_of(before.plan or {}):
        return None
    try:
        run = await means.runs.get(before.run_id)
    except NotFound:
        return None
    question, columns = turn_of(state).get("asked", ""), [(c.name, c.type) for c in run.columns]
    cut = run.truncated or len(run.rows or ()) >= means.max_rows
    figure = chart_of(columns, run.rows or (), question=question, plan=parse_plan(plan), truncated=cut)
    why = unmet_wish(question, plan, figure)
    if run.rows is None or not why:
        return None
    stays = "the chart stays as it is" if run.chart is not None else "there is still no chart of them"
    return ClosingMessage(text=sentence(f"{why}; {stays}"), ending="conversed")


def _rows_of(plan: dict[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in plan.items() if field != "chart"}


async def _looked_up(means: Means, turn: TurnNotes, dataset: Dataset, user: str) -> TurnNotes:
    """A question back where values of the plan are in no row of their columns and others may be meant, else a remark.

    What a person chose after such a question runs as it is.
    """
    if turn.get("problem") or turn.get("given_up"):
        return TurnNotes()
    # Only what a person approved may run.
    execute = None if means.approval == "sql" else looking_up(means, dataset, user)
    plan, sql = turn.get("plan"), turn.get("sql") or ""
    found: Sequence[Correction | SqlCorrection]
    if plan is not None:
        looked = await look_up(plan, dataset, await means.datasets.profile(dataset), execute)
        found = corrections(plan, looked.missing, dataset)
    elif turn.get("origin") and "'" in sql and len(sql) <= LONGEST_OFFERED:
        looked, found = await _looked_up_sql(means, sql, dataset, execute)
    else:
        return TurnNotes()
    if not looked.missing:
        return TurnNotes()
    said = not_in_the_data(looked.missing)
    if found:
        return TurnNotes(said=asked_about_values(said, found, turn, looked.run_ids))
    return TurnNotes(used=[*(turn.get("used") or ()), said.removesuffix(".")])


async def _looked_up_sql(
    means: Means, sql: str, dataset: Dataset, execute: Execute | None
) -> tuple[LookedUp, Sequence[SqlCorrection]]:
    read = await means.read_sql(dataset, sql)
    if not read.comparisons:
        return LookedUp(), ()
    looked = await look_up_sql(read, dataset, await means.datasets.profile(dataset), execute)
    return looked, await corrections_of_sql(sql, read, looked.missing, dataset, means.check, MOST_VALUES)


def _show(turn: TurnNotes) -> None:
    """What will run, and how the question was read; nothing of a plan that will not do."""
    if turn.get("problem"):
        return
    plan = turn.get("plan")
    if plan is not None:
        emit(
            Planned(
                plan=plan,
                reading=turn.get("reading", ""),
                confidence=turn.get("confidence"),
                read_as=read_as_of(turn),
            )
        )
    emit(Sql(sql=turn.get("sql") or ""))


def is_models_plan(means: Means, turn: TurnNotes) -> bool:
    """Whether a chat model made it: the built-in proposers hold their own plans against the words, and one that a
    person chose is not held against them."""
    return (
        turn.get("plan") is not None
        and turn.get("origin") not in (None, "", BUILTIN, READER)
        and not turn.get("note")
        and not turn.get("given_up")
    )


async def _held_against_words(means: Means, state: State, dataset: Dataset, changes: TurnNotes) -> TurnNotes:
    plan = changes.get("plan")
    if means.account is None or changes.get("problem") or plan is None:
        return changes
    turn = turn_of(state)
    held = await means.account(await asked_of(means, state, dataset), plan)
    if held.problem is not None:
        return TurnNotes(plan=plan, sql=None, problem=held.problem.model_dump(mode="json"))
    if held.plan != plan:
        changes = _checked(
            changed(turn, TurnNotes(plan=held.plan)), dataset, defined_of(state), means.max_rows
        )
    words = held.alignment.model_dump(mode="json") if held.alignment else None
    return changed(changes, TurnNotes(used=[*(turn.get("used") or ()), *held.remarks], alignment=words))


async def _read_as(means: Means, state: State, dataset: Dataset, turn: TurnNotes) -> TurnNotes:
    """How the question was read, in parts; nothing for SQL and for a plan that will not do."""
    plan, given = turn.get("plan"), turn.get("alignment")
    if means.read_as is None or plan is None or turn.get("problem"):
        return TurnNotes(read_as=None)
    alignment = Aligned.model_validate(given) if given else None
    if alignment is None and turn.get("origin"):
        alignment = Aligned(question=turn.get("question", ""))
    made = await means.read_as(await asked_of(means, state, dataset), plan, alignment)
    if made is None:
        return TurnNotes(read_as=None)
    origin = turn.get("origin") or ""
    if origin == BUILTIN and made.likely:
        # A follow-up that binds its own words keeps a part that was likely.
        origin = READER
    trust = marks_of(plan, dataset, origin or None)
    return TurnNotes(origin=origin, read_as=made.model_copy(update={"trust": trust}).model_dump(mode="json"))


async def _without_the_models_plan(
    means: Means, state: State, dataset: Dataset, turn: TurnNotes, user: str
) -> TurnNotes:
    """The built-in planner's plan for what the model could not plan, or its question back."""
    kept = turn.get("problem")
    if means.planner is None or kept is None or kept["code"] != ErrorCode.VALIDATION_ERROR:
        return turn
    asked = await asked_of(means, state, dataset)
    taken = changed(turn, await instead_of_refused(means, turn, asked, Problem.model_validate(kept)))
    if taken.get("said"):
        return taken
    taken = changed(taken, _checked(taken, dataset, defined_of(state), means.max_rows))
    taken = changed(taken, await _looked_up(means, taken, dataset, user))
    if taken.get("said"):
        return taken
    taken = changed(taken, await _read_as(means, state, dataset, taken))
    _show(taken)
    return taken


async def _judged(means: Means, dataset: Dataset, sql: str) -> TurnNotes:
    """The exact text that would run, for the person who is asked; or why it may not."""
    verdict = await means.check(dataset, SqlQuery(sql))
    match verdict:
        case Approved(approved):
            return TurnNotes(exact=approved)
        case Refused():
            problem = Problem(code=verdict.code, message=verdict.message, suggestion=verdict.suggestion)
            return TurnNotes(problem=problem.model_dump(mode="json"))


def after_validate(means: Means, state: State) -> str:
    turn = turn_of(state)
    if turn.get("said"):
        return "converse"
    if may_repair(means, turn):
        return "repair"
    # A refused proposal is handed in all the same: its refusal is put on record as a run.
    return "approve" if means.approval == "sql" and not turn.get("problem") else "run"
