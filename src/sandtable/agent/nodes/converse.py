"""What was worded without a run is said: small talk, a look back, a question back, a refusal."""

from __future__ import annotations

from sandtable.agent.analysis.notes import cells_of
from sandtable.agent.nodes.ending import end_turn
from sandtable.agent.proposer import Exchange
from sandtable.agent.read_as.model import Offered
from sandtable.agent.state import State, turn_of
from sandtable.errors import Problem


async def converse(state: State) -> State:
    turn = turn_of(state)
    said = turn.get("said") or {}
    problem = said.get("problem")
    exchange = Exchange(
        question=turn.get("asked", ""),
        answer=said.get("text", ""),
        ending=said.get("ending", "conversed"),  # pyright: ignore[reportArgumentType] - an Ending, kept as text
        problem=Problem.model_validate(problem) if problem else None,
        # A person may decline the next cell of an analysis; what the cells before it made is there.
        choices=tuple(Offered.model_validate(each) for each in said.get("choices") or ()),
        code=tuple(cell.code for cell in cells_of(turn.get("analysis") or {}) if cell.succeeded),
    )
    update, _ = await end_turn(state, said, exchange)
    return update
