"""A stranger's text inside our Markdown: shown as it is, doing nothing.

Invariant: what `inert` returns is one line of at most about 80 characters that no Markdown renderer
turns into markup, a link, HTML or a block, wherever in a sentence it stands.
"""

from __future__ import annotations

import re

from sandtable.plan.shapes import INVISIBLE

LONGEST = 80

# Markup, HTML, entities, addresses that renderers make clickable without being asked, and the marks that
# open a block at the start of a line.
_LIVELY = re.compile(
    r"[\\`*\[\]<>~|]|(?<!\w)_|_(?!\w)|&#?\w+;|:/|www\.|@|\b(?:https?|ftp|mailto|javascript|data|xmpp):|"
    r"^\s*(?:[#+=>-]|\d+[.)](?:\s|$))",
    re.IGNORECASE,
)


def inert(text: str) -> str:
    """The text for a sentence of Markdown: a code span when it holds anything that Markdown would act on."""
    line = one_line(text)
    if not line:
        return "(empty)"
    return f"`{line.replace('`', chr(39))}`" if _LIVELY.search(line) else line


def one_line(text: str, longest: int = LONGEST) -> str:
    """Without line breaks and characters that do not show, and cut where it gets long."""
    line = " ".join(INVISIBLE.sub(" ", text[: 4 * longest]).split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"
