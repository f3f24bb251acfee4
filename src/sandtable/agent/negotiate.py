"""Which way to a structured reply an endpoint takes, and whether it takes tools: found by trying, then remembered.

Invariant: what is remembered only orders the attempts. A wrong or unreadable entry costs one refused request
and is replaced by what worked, or expires, so that the file never has to be deleted.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
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
TOOLS_REFUSED_S = 7 * 86_400
"""For so long an endpoint that refused tools is asked without them: its server may be updated."""
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Memory:
    methods: dict[str, str] = field(default_factory=dict[str, str])
    without_tools: dict[str, float] = field(default_factory=dict[str, float])
    """When an endpoint refused tools, in seconds since 1970."""


class Negotiated:
    """The memory of one home folder, kept in a small JSON file."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock
        self._known = _read(path)

    def order(self, endpoint: Endpoint) -> tuple[Method, ...]:
        """The methods to try: what worked last, then the others from the best down."""
        ladder = LADDERS[endpoint.provider]
        known = self._known.methods.get(_key(endpoint))
        return tuple(sorted(ladder, key=lambda method: method != known))

    def worked(self, endpoint: Endpoint, method: Method) -> None:
        if self._known.methods.get(_key(endpoint)) != method:
            self._keep(replace(self._known, methods={**self._known.methods, _key(endpoint): method}))

    def takes_tools(self, endpoint: Endpoint) -> bool:
        """Whether tools are worth a try."""
        refused_at = self._known.without_tools.get(_key(endpoint))
        return refused_at is None or not 0 <= self._clock() - refused_at < TOOLS_REFUSED_S

    def worked_without_tools(self, endpoint: Endpoint) -> None:
        """A request was refused with tools and taken without them."""
        refused = {**self._known.without_tools, _key(endpoint): int(self._clock())}
        self._keep(replace(self._known, without_tools=refused))

    def _keep(self, known: _Memory) -> None:
        # Another process may have learnt about other endpoints in the meantime.
        before = _read(self._path)
        self._known = _Memory(
            {**before.methods, **known.methods}, {**before.without_tools, **known.without_tools}
        )
        try:
            _write(self._path, self._known)
        except OSError as error:
            _log.warning("model methods not saved", path=str(self._path), reason=error.strerror)


def _key(endpoint: Endpoint) -> str:
    return f"{endpoint.name} {endpoint.address}"


def _read(path: Path) -> _Memory:
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return _Memory()
    methods, refused = _object(found, "methods"), _object(found, "without_tools")
    return _Memory(
        {key: method for key, method in methods.items() if method in get_args(Method)},
        {key: at for key, at in refused.items() if type(at) in (int, float)},
    )


def _object(found: Any, name: str) -> dict[str, Any]:
    inner = found.get(name) if isinstance(found, dict) else None
    return inner if isinstance(inner, dict) else {}


def _write(path: Path, known: _Memory) -> None:
    private_folder(path.parent)
    kept = {"format": 1, "methods": known.methods, "without_tools": known.without_tools}
    text = json.dumps(kept, indent=2, sort_keys=True) + "\n"
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(draft).replace(path)
