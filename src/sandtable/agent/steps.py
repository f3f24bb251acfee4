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
from sandtable.agent.nodes.classify import after_classify, classify
from sandtable.agent.nodes.converse import converse
from sandtable.agent.nodes.ending import DONE, after_answer
from sandtable.agent.nodes.place import Config
from sandtable.agent.nodes.propose import after_propose, propose
from sandtable.agent.nodes.repair import repair
from sandtable.agent.nodes.run import after_run, run
from sandtable.agent.nodes.validate import after_validate, validate
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
    # LangGraph would check even unreachable nodes in every step of every turn, and each loads modules.
    if means.looking:
        from sandtable.agent.nodes.look import look  # only for a chat model that calls tools

        graph["look"] = Step(partial(look, means), None, ("propose",))
    if means.analyses:
        from sandtable.agent.analysis_steps import analysis_steps  # only for a chat model that writes code

        graph |= analysis_steps(means)
    return graph


def _by_state(node: Callable[[State], Awaitable[State]]) -> Node:
    async def by_state(state: State, config: Config) -> State:
        return await node(state)

    return by_state
