"""Quote untrusted text in our own text: names, cells, identifiers, errors of engines and providers.

Invariant: what these functions return is one line without control or invisible characters that no Markdown
renderer (CommonMark, GitHub's extensions, math) turns into markup, a link, an image, HTML or a block, and that a
terminal shows as it is. A code span is the one form that every renderer shows untouched: a backslash does not
keep an address from becoming a link.

An error's `message` and `suggestion` are plain text by this convention: an untrusted fragment is added with
`quote`, which puts it between backticks. Where such a text is rendered as Markdown, it passes `in_markdown`.
"""

from __future__ import annotations

import re

LONGEST = 80
LONGEST_TEXT = 2_000

# Invisible characters: controls, zero-width, bidirectional, exotic spaces, private use.
# A fixed table, because unicodedata differs between Python versions and compiling a plan must not.
INVISIBLE_CHARACTERS = (
    "\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f"
    "\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ud800-\uf8ff\ufeff\uffa0\ufff0-\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)
INVISIBLE = re.compile(f"[{INVISIBLE_CHARACTERS}]")

# Markup, HTML, entities, math, and addresses that renderers make clickable without being asked.
_MARKS = (
    r"[\\`*\[\]<>~|$]|(?<!\w)_|_(?!\w)|&#?\w+;|:/|www\.|@|\b(?:https?|ftp|mailto|javascript|data|xmpp):(?=\S)"
)
_LIVELY = re.compile(_MARKS, re.IGNORECASE)
# What opens a block at the start of a line.
_OPENS = re.compile(r"[#+=>-]|\d+[.)](?:\s|$)")
_WORDS = re.compile(r"(\s+)")


def quote(text: str, longest: int = LONGEST) -> str:
    """A name or a value in a message: between backticks, as it is, on one line."""
    line = one_line(text, longest)
    return f"`{line.replace('`', chr(39))}`" if line else "(empty)"


def inert(text: str) -> str:
    """The text for use in a Markdown sentence: unchanged if it contains no markup, else between backticks."""
    line = one_line(text)
    if not line:
        return "(empty)"
    return quote(line) if _LIVELY.search(line) or _OPENS.match(line) else line


def one_line(text: str, longest: int = LONGEST) -> str:
    """Without line breaks and invisible characters, truncated when long."""
    line = " ".join(INVISIBLE.sub(" ", text[: 4 * longest]).split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def in_markdown(text: str, longest: int = LONGEST_TEXT) -> str:
    """Plain text for a place that renders Markdown: text between backticks stays a code span, and every
    other word that Markdown would act on becomes one."""
    parts = one_line(text, longest).split("`")
    if len(parts) % 2 == 0:
        # A backtick without its partner.
        parts[-2:] = [f"{parts[-2]}'{parts[-1]}"]
    made = ""
    for place, part in enumerate(parts):
        piece = (quote(part, longest) if part.strip() else part) if place % 2 else _without_marks(part, made)
        # Two adjacent code spans would be parsed as one span with other ends.
        made += f" {piece}" if made.endswith("`") and piece.startswith("`") else piece
    return made


def _without_marks(text: str, before: str) -> str:
    words = _WORDS.split(text)
    lively = [bool(_LIVELY.search(word)) for word in words]
    if not before and _OPENS.match(text):
        lively[0] = True
    made = ""
    for place, word in enumerate(words):
        # A space between two such words belongs to their common code span.
        joins = word.isspace() and 0 < place < len(words) - 1 and lively[place - 1] and lively[place + 1]
        made += f"\0{word}\0" if word and (lively[place] or joins) else word
    return made.replace("\0\0", "").replace("\0", "`")
