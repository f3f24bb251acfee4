"""The answer card: one self-contained page that a host shows beside an answer (MCP Apps).

Invariant: the page loads nothing. Everything that it draws comes in messages of its host, and is put into it as text.
"""

from __future__ import annotations

from typing import Any

from sandtable.server.mcp.bundle import bundled

URI = "ui://sandtable/answer.html"
FIGURE = "sandtable/figure"
"""Where the figure is in the `_meta` of a result, which hosts give to the card and not to models."""
TOOL_META: dict[str, Any] = {"ui": {"resourceUri": URI, "visibility": ["model", "app"]}}
RESOURCE_META: dict[str, Any] = {
    "ui": {
        "csp": {"connectDomains": [], "resourceDomains": [], "frameDomains": [], "baseUriDomains": []},
        "prefersBorder": True,
    }
}


def result_meta(figure: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if figure is None else {FIGURE: figure}


def html() -> str:
    return bundled()
