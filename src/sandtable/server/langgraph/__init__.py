"""The LangGraph protocol, as far as chat interfaces use it (docs/langgraph.md): an adapter over `conversations`.

Nothing here imports LangGraph: states and events come in the types of `agent.turn_events`.
"""

from __future__ import annotations

from sandtable.server.adapter import Adapter
from sandtable.server.langgraph import assistants, runs, stock, threads, ui

ADAPTER = Adapter((assistants.router, threads.router, runs.router, ui.router, stock.router))
