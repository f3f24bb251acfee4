"""Generative UI: what the chat interface shows beside text. Plain JavaScript modules, loaded from this server.

Invariant: the fragment holds no value of a request and no inline script, so `script-src 'self'` suffices as
its policy.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse
from pydantic import BaseModel

from sandtable import drawing
from sandtable.errors import NotFound
from sandtable.quoting import quote
from sandtable.server.langgraph.wire import PREFIX

COMPONENTS = frozenset({"welcome", "progress", "answer"})
_FOLDERS = (Path(__file__).parent / "genui", drawing.FOLDER)
_MODULES = {path.name: path for folder in _FOLDERS for path in folder.glob("*.js")}

router = APIRouter(prefix=PREFIX, include_in_schema=False)


class FragmentWanted(BaseModel):
    name: str


def fragment(name: str) -> str | None:
    """The HTML of one component; the client replaces the first `{{shadowRootId}}` in it.

    A browser runs a module once per URL, and a component may be shown again in the same place.
    """
    if name not in COMPONENTS:
        return None
    once = secrets.token_hex(8)
    address = f"{PREFIX}/genui/view.js?name={name}&amp;once={once}&amp;id={{{{shadowRootId}}}}"
    return f'<script type="module" src="{address}"></script>'


@router.post("/ui/{assistant_id}")
async def ui(assistant_id: str, body: FragmentWanted) -> HTMLResponse:
    found = fragment(body.name)
    if found is None:
        raise NotFound(f"no component {quote(body.name)}", suggestion="Show the message's text instead.")
    return HTMLResponse(found)


@router.get("/genui/{module}")
async def genui(module: str) -> FileResponse:
    if module not in _MODULES:
        raise NotFound(f"no module {quote(module)}", suggestion="POST /langgraph/ui/{assistant} names them.")
    return FileResponse(_MODULES[module], media_type="text/javascript", headers={"Cache-Control": "no-cache"})
