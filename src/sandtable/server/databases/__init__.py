"""Databases as sources over REST: connected, looked at, copied, forgotten."""

from __future__ import annotations

from sandtable.server.adapter import Adapter
from sandtable.server.databases import routes

ADAPTER = Adapter((routes.router,))
