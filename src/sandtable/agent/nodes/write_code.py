"""Code for one step: the thought first, then the code, shown before it runs."""

from __future__ import annotations

from sandtable.agent.analysis.notes import goal_of
from sandtable.agent.events import Thought
from sandtable.agent.means import Means
from sandtable.agent.nodes.coding import analysis_of, ask, coder_in, noted, tell
from sandtable.agent.nodes.place import Config, dataset_of
from sandtable.agent.state import State, turn_of
from sandtable.agent.streaming import emit
from sandtable.errors import Problem


async def write_code(means: Means, state: State, config: Config) -> State:
    turn, dataset = turn_of(state), await dataset_of(means, state, config)
    analysis = analysis_of(turn)
    again = ", again" if analysis.get("advice") else ""
    place = f"step {analysis.get('at', 1)} of {len(analysis.get('steps') or ())}"
    emit(Thought(text=f"Writing code for {place}{again}: {goal_of(analysis).rstrip('.')}…"))
    written, spent = await ask(means, state, dataset, coder_in(means).write_code)
    if isinstance(written, Problem):
        return State(turn=noted(spent, problem=written.model_dump(mode="json"), next="conclude"))
    tell(written, analysis)
    follows = "approve_cell" if means.approval == "sql" else "run_cell"
    return State(
        turn=noted(
            spent, code=written.code, thought=written.thought, by_person=False, alone=False, next=follows
        )
    )


def after_code(state: State) -> str:
    return analysis_of(turn_of(state)).get("next", "conclude")
