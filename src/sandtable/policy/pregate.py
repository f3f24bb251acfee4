"""The first check of a text, before any parser: length, invisible characters, nesting.

Invariant: linear in the length of the text, and nothing here decides what a query means. Literals
and comments are skipped only to count brackets fairly; a text that defeats that count is still
stopped by the parser's depth limit, in a process that can be killed.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import accumulate

from sandtable.errors import ErrorCode
from sandtable.policy.verdict import Refused

MAX_DEPTH = 100
"""Brackets inside brackets. The parser's time grows faster than the depth: 2,000 take seconds."""

MAX_JOINS = 200
"""Writing a chain of joins back to text takes time that grows with its square."""

# Control characters, spaces other than the plain one, and characters that show nothing or turn the
# direction of text: what a reader sees would not be what runs. Emoji selectors and accents are fine.
INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f"
    "\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

# An unclosed literal or comment extends to the end, so that no text is scanned twice.
_NOT_BRACKETS = re.compile(
    r"""[^()\[\]{}'"/$-]+|'[^']*(?:'|\Z)|"[^"]*(?:"|\Z)|--[^\n]*|/\*.*?(?:\*/|\Z)"""
    r"""|\$(\w*)\$.*?(?:\$\1\$|\Z)|/+(?!\*)|[/$-]""",
    re.DOTALL,
)
_STEP = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_JOIN = re.compile(r"\bjoin\b", re.IGNORECASE)


def pregate(text: str, max_bytes: int) -> Refused | None:
    """Refuse what must not reach a parser; None when the text may be parsed."""
    if refused := _too_long(text, max_bytes):
        return refused
    return _empty(text) or _invisible(text) or _too_deep(text) or _too_many_joins(text)


def _too_long(text: str, max_bytes: int) -> Refused | None:
    if len(text) <= max_bytes and len(text.encode("utf-8", "surrogatepass")) <= max_bytes:
        return None
    return Refused(
        ErrorCode.VALIDATION_ERROR,
        construct="length",
        message=f"The query is longer than {max_bytes:,} bytes.",
        suggestion="Shorten it; long lists of values can often become a range or a join",
    )


def _empty(text: str) -> Refused | None:
    if text.strip(" \t\r\n;"):
        return None
    return Refused(
        ErrorCode.VALIDATION_ERROR, "empty text", "There is no query.", "write one SELECT statement"
    )


def _invisible(text: str) -> Refused | None:
    found = None if text.isascii() and text.isprintable() else INVISIBLE.search(text)
    if found is None:
        return None
    code = ord(found.group())
    name = unicodedata.name(found.group(), "").lower() or "control character"
    writable = code and not 0xD800 <= code <= 0xDFFF
    return Refused(
        ErrorCode.SQL_POLICY_VIOLATION,
        construct=f"U+{code:04X}",
        message=f"The text has an invisible character: {name} (U+{code:04X}).",
        suggestion="Delete it or type a plain space"
        + (f"; inside a value write 'a' || chr({code}) || 'b'" if writable else ""),
        position=found.start(),
        length=1,
    )


def _too_deep(text: str) -> Refused | None:
    if text.count("(") + text.count("[") + text.count("{") <= MAX_DEPTH:
        return None
    brackets = _NOT_BRACKETS.sub("", text)
    if max(accumulate(map(_STEP.__getitem__, brackets)), default=0) <= MAX_DEPTH:
        return None
    return Refused(
        ErrorCode.SQL_POLICY_VIOLATION,
        construct="nesting",
        message=f"Brackets are nested more than {MAX_DEPTH} deep.",
        suggestion="Name the inner steps with WITH, one after the other",
    )


def _too_many_joins(text: str) -> Refused | None:
    if sum(1 for _ in _JOIN.finditer(text)) <= MAX_JOINS:
        return None
    return Refused(
        ErrorCode.SQL_POLICY_VIOLATION,
        construct="JOIN",
        message=f"The query has more than {MAX_JOINS} joins.",
        suggestion="Join the few tables that the question needs",
    )
