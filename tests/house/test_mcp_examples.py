"""The configurations of MCP clients in docs/mcp.md are the files in docs/examples/mcp; `tests/cli/test_mcp.py` starts
them."""

from __future__ import annotations

import json
import re
from pathlib import Path

from sandtable.server.mcp.route import PATH

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = DOCS / "examples" / "mcp"
_SHOWN = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)
_ADDRESS = re.compile(r"https?://\S+?(?=[\"\s])")


def test_the_page_shows_each_file_as_it_is() -> None:
    shown = dict(_SHOWN.findall((DOCS / "mcp.md").read_text("utf-8")))
    assert shown == {file.name: file.read_text("utf-8") for file in EXAMPLES.iterdir()}
    for name, text in shown.items():
        if name.endswith(".json"):
            json.loads(text)
        for address in _ADDRESS.findall(text):
            assert address in (f"http://localhost:8000{PATH}", f"https://data.example.org{PATH}"), name
