"""`POST /agui`: the AG-UI protocol 1.0 (docs/agui.md), an adapter over `conversations`.

The package with the protocol's types, `ag-ui-protocol`, is an extra: only the encoder imports it, with the first run.
"""

from __future__ import annotations

from sandtable.conversations.turn_events import SERVER_STOPPED
from sandtable.server.adapter import Adapter
from sandtable.server.agui import routes

ADAPTER = Adapter(
    (routes.router,),
    prefix=routes.PATH,
    stopped={"type": "RUN_ERROR", "message": SERVER_STOPPED.message, "code": SERVER_STOPPED.error},
    ended=lambda problem: {"type": "RUN_ERROR", "message": problem.in_words, "code": str(problem.code)},
)
