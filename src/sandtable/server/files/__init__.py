"""Files that people send: resumable uploads (tus), imports, and the datasets that they become."""

from __future__ import annotations

from fastapi import FastAPI

from sandtable.server.adapter import Adapter
from sandtable.server.files import catalog_text, routes, tus
from sandtable.server.files.writers import Writers
from sandtable.settings import Settings


def _set_up(app: FastAPI, settings: Settings) -> None:
    app.state.writers = Writers()


ADAPTER = Adapter((tus.router, routes.router, catalog_text.router), _set_up)
