"""What people say about datasets, over REST: shown, changed, replaced, and brought back."""

from __future__ import annotations

from sandtable.server.adapter import Adapter
from sandtable.server.catalogs import routes

ADAPTER = Adapter((routes.router,))
