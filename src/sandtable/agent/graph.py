"""The conversation's graph (`steps`) in LangGraph, over threads that are kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import langsmith
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphBubbleUp
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from sandtable.agent.graph_outlet import GraphOutlet, langchain_message
from sandtable.agent.means import Means
from sandtable.agent.messages import WrittenMessage
from sandtable.agent.nodes.ending import DONE
from sandtable.agent.observed import observed_step
from sandtable.agent.outlet import provided
from sandtable.agent.state import State
from sandtable.agent.steps import FIRST, Node, steps_of

NAME = "sandtable"

Graph = CompiledStateGraph[State, None, State, State]


class _GraphNode(Protocol):
    async def __call__(self, state: State, config: RunnableConfig) -> State: ...


def build_graph(means: Means, checkpointer: BaseCheckpointSaver[Any]) -> Graph:
    # Otherwise an environment variable of another project would send every question and answer to LangSmith.
    langsmith.configure(enabled=False)
    graph = StateGraph(State)
    graph.add_edge(START, FIRST)
    for name, step in steps_of(means).items():
        graph.add_node(name, _node(observed_step(means.observer, name, step.node, waits=GraphBubbleUp)))
        if step.next is None:
            graph.add_edge(name, step.targets[0])
        else:
            graph.add_conditional_edges(name, _here(step.next), [_named(each) for each in step.targets])
    return graph.compile(checkpointer=checkpointer, name=NAME)


def _node(node: Node) -> _GraphNode:
    async def in_langgraph(state: State, config: RunnableConfig) -> State:
        with provided(GraphOutlet()):
            update = await node(state, config)
        if written := update.get("messages"):
            update["messages"] = [
                langchain_message(each) if isinstance(each, WrittenMessage) else each for each in written
            ]  # pyright: ignore[reportGeneralTypeIssues] - they are read as a `Message`
        return update

    return in_langgraph


def _here(choose: Callable[[State], str]) -> Callable[[State], Awaitable[str]]:
    """Makes it async: LangGraph runs a plain function on another thread, which takes longer than the function."""

    async def chosen(state: State) -> str:
        return _named(choose(state))

    return chosen


def _named(step: str) -> str:
    return END if step == DONE else step
