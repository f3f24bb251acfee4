"""The examples of a page of documentation, run in order as a reader would, and what the page says they print."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path

_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOCS = Path(__file__).parents[2] / "docs"


def replay(page: str) -> Iterator[tuple[str, str, str]]:
    """Code, what it printed, what the page says. Files that the page shows are written into the current folder."""
    text = (DOCS / page).read_text(encoding="utf-8")
    names: dict[str, object] = {}
    blocks = _BLOCK.findall(text)
    for (kind, file, code), (following, _, said) in zip(blocks, [*blocks[1:], ("", "", "")], strict=True):
        if file:
            Path(file).write_text(code, encoding="utf-8")
        if kind == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, page, "exec"), names)
            yield code, printed.getvalue().strip(), said.strip() if following == "text" else ""
