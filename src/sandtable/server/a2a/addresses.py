"""Where A2A is served, and whether the packages that it needs are here."""

from __future__ import annotations

from importlib.util import find_spec

PREFIX = "/a2a"
CARD = "/.well-known/agent-card.json"
OTHER_PORT = "sandtable.a2a.port"
"""In the scope of a request that came to the port of A2A alone."""
HOW_TO_INSTALL = "pip install 'sandtable[a2a]'"
_PACKAGES = ("a2a", "grpc", "sse_starlette")


def missing() -> str | None:
    """The first package that A2A lacks here. Nothing is imported."""
    return next((name for name in _PACKAGES if find_spec(name) is None), None)
