"""The conversation as one graph. This function is the whole of it; each node is a file in `nodes/`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import langsmith
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from sandtable.agent.means import Means
from sandtable.agent.nodes.answer import answer
from sandtable.agent.nodes.approve import after_approve, approve
from sandtable.agent.nodes.approve_cell import after_approve_cell, approve_cell
from sandtable.agent.nodes.classify import after_classify, classify
from sandtable.agent.nodes.conclude import conclude
from sandtable.agent.nodes.converse import converse
from sandtable.agent.nodes.diagnose import after_diagnose, diagnose
from sandtable.agent.nodes.draw import draw
from sandtable.agent.nodes.ending import after_answer
from sandtable.agent.nodes.look import look
from sandtable.agent.nodes.plan_steps import after_plan_steps, plan_steps
from sandtable.agent.nodes.propose import after_propose, propose
from sandtable.agent.nodes.repair import repair
from sandtable.agent.nodes.run import after_run, run
from sandtable.agent.nodes.run_cell import after_run_cell, run_cell
from sandtable.agent.nodes.validate import after_validate, validate
from sandtable.agent.nodes.write_code import after_code, write_code
from sandtable.agent.state import State

FIRST = "classify"
NAME = "sandtable"

Graph = CompiledStateGraph[State, None, State, State]


def build_graph(means: Means, checkpointer: BaseCheckpointSaver[Any]) -> Graph:
    # Otherwise an environment variable of another project would send every question and answer to LangSmith.
    langsmith.configure(enabled=False)
    graph = StateGraph(State)

    graph.add_node("classify", partial(classify, means))
    graph.add_node("propose", partial(propose, means))
    graph.add_node("validate", partial(validate, means))
    graph.add_node("repair", repair)
    graph.add_node("approve", approve)
    graph.add_node("run", partial(run, means))
    graph.add_node("answer", partial(answer, means))
    graph.add_node("converse", converse)

    looks = ["look"] if means.looking else []
    if means.looking:
        graph.add_node("look", partial(look, means))
        graph.add_edge("look", "propose")

    # LangGraph would check even unreachable nodes in every step of every turn.
    steps = ["plan_steps"] if means.analyses else []
    if means.analyses:
        _add_analysis(graph, means)

    graph.add_edge(START, FIRST)
    graph.add_conditional_edges(
        "classify", _here(after_classify), ["propose", "validate", "converse", *steps]
    )
    graph.add_conditional_edges(
        "propose", _here(after_propose), ["validate", "run", "answer", "converse", *steps, *looks]
    )
    graph.add_conditional_edges(
        "validate", _here(partial(after_validate, means)), ["repair", "approve", "run", "converse"]
    )
    graph.add_edge("repair", "propose")
    graph.add_conditional_edges("approve", _here(after_approve), ["run", "converse"])
    graph.add_conditional_edges("run", _here(partial(after_run, means)), ["repair", "answer"])
    for last in ("answer", "converse"):
        graph.add_conditional_edges(last, _here(after_answer), [FIRST, END])

    return graph.compile(checkpointer=checkpointer, name=NAME)


def _add_analysis(graph: StateGraph[State, None, State, State], means: Means) -> None:
    graph.add_node("plan_steps", partial(plan_steps, means))
    graph.add_node("write_code", partial(write_code, means))
    graph.add_node("approve_cell", partial(approve_cell, means))
    graph.add_node("run_cell", partial(run_cell, means))
    graph.add_node("diagnose", partial(diagnose, means))
    graph.add_node("draw", partial(draw, means))
    graph.add_node("conclude", partial(conclude, means))

    coded = ["approve_cell", "run_cell", "conclude"]
    graph.add_conditional_edges("plan_steps", _here(after_plan_steps), ["write_code", "validate", "converse"])
    graph.add_conditional_edges("write_code", _here(after_code), coded)
    graph.add_conditional_edges("draw", _here(after_code), coded)
    graph.add_conditional_edges("approve_cell", _here(after_approve_cell), ["run_cell", "converse"])
    graph.add_conditional_edges(
        "run_cell", _here(after_run_cell), ["write_code", "diagnose", "draw", "conclude"]
    )
    graph.add_conditional_edges("diagnose", _here(after_diagnose), ["write_code", "draw"])
    graph.add_conditional_edges("conclude", _here(after_answer), [FIRST, END])


def _here(choose: Callable[[State], str]) -> Callable[[State], Awaitable[str]]:
    """Makes it async: LangGraph runs a plain function on another thread, which takes longer than the function."""

    async def chosen(state: State) -> str:
        return choose(state)

    return chosen
