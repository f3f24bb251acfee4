"""Small pieces of Markdown: a block of code, a name, a sentence."""

from __future__ import annotations

import re

from sandtable.wording.inert import one_line

LONGEST_BLOCK = 16_000


def fenced(kind: str, text: str) -> str:
    shown = text if len(text) <= LONGEST_BLOCK else text[:LONGEST_BLOCK] + "\n…"
    # No fence within it may be as long.
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", shown)), default=0))
    return f"{fence}{kind}\n{shown}\n{fence}"


def code(name: str) -> str:
    """A name that came with a file or a query, shown as it is and doing nothing."""
    return f"`{one_line(name).replace('`', chr(39))}`"


def sentence(text: str) -> str:
    """With a capital and a full stop, as it stands alone."""
    text = text.strip()
    return (
        text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?", ":", "`")) else ".")
        if text
        else ""
    )
