"""An analysis begins with its steps: a list of goals, shown before any code is written."""

from __future__ import annotations

from dataclasses import replace

from sandtable.agent.analysis.notes import Analysis, task_of
from sandtable.agent.events import Planned, Thought
from sandtable.agent.intent import without_language
from sandtable.agent.means import Means
from sandtable.agent.nodes.classify import failed
from sandtable.agent.nodes.coding import coder_in
from sandtable.agent.nodes.place import Config, dataset_of
from sandtable.agent.nodes.propose import asked_of, failed_and, without_model
from sandtable.agent.proposer import Asked
from sandtable.agent.state import State, TurnNotes, added, changed, turn_of
from sandtable.agent.streaming import emit, outside_stream
from sandtable.errors import SandtableError
from sandtable.quoting import in_markdown

_NEEDS_MODEL = "An analysis in Python needs the chat model, so nothing was run."


async def plan_steps(means: Means, state: State, config: Config) -> State:
    turn = turn_of(state)
    emit(Thought(text="Planning the steps…"))
    if means.expect_code is not None:
        means.expect_code()
    try:
        dataset = await dataset_of(means, state, config)
        asked = await asked_of(means, state, dataset)
    except SandtableError as error:
        return State(turn=changed(turn, TurnNotes(said=failed(error))))
    try:
        planning = coder_in(means).plan_steps(task_of(asked, Analysis()))
        reply = await outside_stream(planning, means.observer.tracer)
    except SandtableError as error:
        return State(turn=await _without_python(means, turn, asked, error))
    steps = list(reply.what)
    reading = steps_in_words(steps)
    emit(Planned(plan={"steps": steps}, reading=reading))
    begun = Analysis(steps=steps, at=1, repairs=0, calls=reply.calls, cells=[], advice=None, problem=None)
    changes = TurnNotes(
        analysis=begun,
        reading=reading,
        usage=added(turn.get("usage"), reply.usage),
        origin=means.proposer.name,
    )
    return State(turn=changed(turn, changes))


async def _without_python(means: Means, turn: TurnNotes, asked: Asked, trouble: SandtableError) -> TurnNotes:
    """A plan where the person only named the language; else the trouble, and that nothing else can do it."""
    bare = without_language(asked.question)
    if bare is None or means.planner is None:
        return changed(turn, TurnNotes(said=failed_and(trouble, _NEEDS_MODEL)))
    turn = changed(turn, TurnNotes(question=bare, wants_python=True, analyse=False))
    return changed(turn, await without_model(means, turn, replace(asked, question=bare), trouble))


def steps_in_words(steps: list[str]) -> str:
    if len(steps) == 1:
        return f"In Python: {in_markdown(steps[0])}"
    return f"In {len(steps)} steps of Python: " + " ".join(
        f"({number}) {in_markdown(step.rstrip('.'))}." for number, step in enumerate(steps, 1)
    )


def after_plan_steps(state: State) -> str:
    turn = turn_of(state)
    if turn.get("said"):
        return "converse"
    return "write_code" if turn.get("analysis") else "validate"
