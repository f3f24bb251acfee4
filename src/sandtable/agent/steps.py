"""The conversation as one graph: its nodes, and which one follows. Each node is a file in `nodes/`.

`agent.graph` runs it with LangGraph, in threads that are kept; `agent.one_turn` for a single question.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from sandtable.agent.means import Means
from sandtable.agent.nodes.answer import answer
from sandtable.agent.nodes.approve import after_approve, approve
from sandtable.agent.nodes.approve_cell import after_approve_cell, approve_cell
from sandtable.agent.nodes.classify import after_classify, classify
from sandtable.agent.nodes.conclude import conclude
from sandtable.agent.nodes.converse import converse
from sandtable.agent.nodes.diagnose import after_diagnose, diagnose
from sandtable.agent.nodes.draw import draw
from sandtable.agent.nodes.ending import DONE, after_answer
from sandtable.agent.nodes.look import look
from sandtable.agent.nodes.place import Config
from sandtable.agent.nodes.plan_steps import after_plan_steps, plan_steps
from sandtable.agent.nodes.propose import after_propose, propose
from sandtable.agent.nodes.repair import repair
from sandtable.agent.nodes.run import after_run, run
from sandtable.agent.nodes.run_cell import after_run_cell, run_cell
from sandtable.agent.nodes.validate import after_validate, validate
from sandtable.agent.nodes.write_code import after_code, write_code
from sandtable.agent.state import State

FIRST = "classify"

Node = Callable[[State, Config], Awaitable[State]]


@dataclass(frozen=True, slots=True)
class Step:
    node: Node
    next: Callable[[State], str] | None
    """The next step, or DONE. None: always `targets[0]`."""
    targets: tuple[str, ...]
    """Steps that may follow."""


def steps_of(means: Means) -> dict[str, Step]:
    steps = ("plan_steps",) if means.analyses else ()
    looks = ("look",) if means.looking else ()
    graph = {
        "classify": Step(
            partial(classify, means), after_classify, ("propose", "validate", "converse", *steps)
        ),
        "propose": Step(
            partial(propose, means), after_propose, ("validate", "run", "answer", "converse", *steps, *looks)
        ),
        "validate": Step(
            partial(validate, means), partial(after_validate, means), ("repair", "approve", "run", "converse")
        ),
        "repair": Step(_by_state(repair), None, ("propose",)),
        "approve": Step(_by_state(approve), after_approve, ("run", "converse")),
        "run": Step(partial(run, means), partial(after_run, means), ("repair", "answer")),
        "answer": Step(partial(answer, means), after_answer, (FIRST, DONE)),
        "converse": Step(_by_state(converse), after_answer, (FIRST, DONE)),
    }
    if means.looking:
        graph["look"] = Step(partial(look, means), None, ("propose",))
    # LangGraph would check even unreachable nodes in every step of every turn.
    return graph | _analysis(means) if means.analyses else graph


def _analysis(means: Means) -> dict[str, Step]:
    coded = ("approve_cell", "run_cell", "conclude")
    after_cell = ("write_code", "diagnose", "draw", "conclude")
    return {
        "plan_steps": Step(
            partial(plan_steps, means), after_plan_steps, ("write_code", "validate", "converse")
        ),
        "write_code": Step(partial(write_code, means), after_code, coded),
        "approve_cell": Step(partial(approve_cell, means), after_approve_cell, ("run_cell", "converse")),
        "run_cell": Step(partial(run_cell, means), after_run_cell, after_cell),
        "diagnose": Step(partial(diagnose, means), after_diagnose, ("write_code", "draw")),
        "draw": Step(partial(draw, means), after_code, coded),
        "conclude": Step(partial(conclude, means), after_answer, (FIRST, DONE)),
    }


def _by_state(node: Callable[[State], Awaitable[State]]) -> Node:
    async def by_state(state: State, config: Config) -> State:
        return await node(state)

    return by_state
