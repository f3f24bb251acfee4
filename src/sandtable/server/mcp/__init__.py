"""MCP at `/mcp`: an adapter over runs, conversations and capsules, for other agents and their hosts.

Invariant: importing it does not load the SDK `mcp`, which is an extra; the first request does, on a thread.
"""

from __future__ import annotations

from sandtable.server.adapter import Adapter
from sandtable.server.mcp import route

ADAPTER = Adapter((route.router,), set_up=route.set_up)
