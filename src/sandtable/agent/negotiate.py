"""Which way to a structured reply an endpoint takes: found by trying, then remembered.

Invariant: what is remembered only orders the attempts. A wrong or unreadable entry costs one refused request
and is replaced by what worked, so nobody ever has to delete the file.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, Literal, get_args

import structlog

from sandtable.agent.endpoint import Endpoint, Provider
from sandtable.private import private_folder

Method = Literal["json_schema", "function_calling", "json_mode", "text"]

LADDERS: dict[Provider, tuple[Method, ...]] = {
    "openai": ("json_schema", "function_calling", "json_mode", "text"),
    "ollama": ("json_schema", "function_calling", "json_mode", "text"),
    # Anthropic's JSON Schema mode wants closed schemas without recursion, which a plan's filters are not.
    "anthropic": ("function_calling", "text"),
}
_log = structlog.get_logger(__name__)


class Negotiated:
    """The memory of one home folder, kept in a small JSON file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = _read(path)

    def order(self, endpoint: Endpoint) -> tuple[Method, ...]:
        """The methods to try: what worked last, then the others from the best down."""
        ladder = LADDERS[endpoint.provider]
        known = self._known.get(_key(endpoint))
        return tuple(sorted(ladder, key=lambda method: method != known))

    def worked(self, endpoint: Endpoint, method: Method) -> None:
        if self._known.get(_key(endpoint)) == method:
            return
        # Another process may have learnt about other endpoints in the meantime.
        self._known = {**_read(self._path), **self._known, _key(endpoint): method}
        try:
            _write(self._path, self._known)
        except OSError as error:
            _log.warning("model methods not saved", path=str(self._path), reason=error.strerror)


def _key(endpoint: Endpoint) -> str:
    return f"{endpoint.name} {endpoint.address}"


def _read(path: Path) -> dict[str, str]:
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    known = found.get("methods") if isinstance(found, dict) else None
    if not isinstance(known, dict):
        return {}
    return {str(key): method for key, method in known.items() if method in get_args(Method)}


def _write(path: Path, known: dict[str, str]) -> None:
    private_folder(path.parent)
    text = json.dumps({"format": 1, "methods": known}, indent=2, sort_keys=True) + "\n"
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(draft).replace(path)
