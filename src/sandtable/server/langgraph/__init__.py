"""The LangGraph protocol, as far as chat interfaces use it (docs/langgraph.md): an adapter over `conversations`.

Nothing here imports LangGraph: states and events come in the types of `agent.turn_events`.
"""

from __future__ import annotations

from sandtable.conversations.turn_events import SERVER_STOPPED, TurnFailed
from sandtable.server.adapter import Adapter
from sandtable.server.langgraph import assistants, runs, stock, threads, ui
from sandtable.server.langgraph.wire import PREFIX

ADAPTER = Adapter(
    (assistants.router, threads.router, runs.router, ui.router, stock.router),
    prefix=f"{PREFIX}/",
    error_fields=lambda problem: {"detail": problem.in_words},
    stopped=SERVER_STOPPED.stored,
    ended=lambda problem: TurnFailed(error=str(problem.code), message=problem.in_words).stored,
)
"""Clients of this protocol show `detail`."""
