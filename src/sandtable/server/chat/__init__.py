"""`POST /chat`: an adapter over `conversations`, as JSON or as server-sent events."""

from __future__ import annotations

from sandtable.server.adapter import Adapter
from sandtable.server.chat import routes

ADAPTER = Adapter((routes.router,))
