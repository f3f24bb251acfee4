"""Small pieces of Markdown: a block of code, a sentence, a table.

Invariant: pure. What comes from data is shown as text that no Markdown renderer acts on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from sandtable.engines.duckdb.types import facts
from sandtable.quoting import INVISIBLE, inert, one_line
from sandtable.sandbox.job import ResultColumn

LONGEST_BLOCK = 16_000
CELL_CHARS = 60


def fenced(kind: str, text: str) -> str:
    shown = text if len(text) <= LONGEST_BLOCK else text[:LONGEST_BLOCK] + "\n…"
    # A client may print the message on a terminal, and bidirectional marks change the order of code.
    shown = INVISIBLE.sub(lambda found: found[0] if found[0] in "\n\t" else " ", shown.replace("\r\n", "\n"))
    # Longer than any fence in the code.
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", shown)), default=0))
    return f"{fence}{kind}\n{shown}\n{fence}"


def sentence(text: str) -> str:
    """With a capital and a full stop, as it stands alone."""
    text = text.strip()
    return (
        text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?", ":", "`")) else ".")
        if text
        else ""
    )


def table(columns: Sequence[ResultColumn], rows: Iterable[Iterable[str]]) -> str:
    """Of cells as `cell` makes them. Numbers stand at the right."""
    lines = [
        "| " + " | ".join(cell(column.name) for column in columns) + " |",
        "|" + "|".join(" ---: " if facts(column.type).numeric else " --- " for column in columns) + "|",
    ]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, int):
        return str(value)
    text = value if isinstance(value, str) else str(value)
    return barred(inert(one_line(text, CELL_CHARS))) if text.strip() else ""


def _number(value: float) -> str:
    """Four decimals; four digits of what they would not show."""
    if value == 0 or 0.01 <= abs(value) < 1e15:
        return f"{value:.4f}".rstrip("0").rstrip(".")
    return f"{value:.4g}"


def barred(text: str) -> str:
    """Escapes bars, which would end a cell."""
    return text.replace("|", "\\|")
