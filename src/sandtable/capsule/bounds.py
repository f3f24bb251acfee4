"""Size limits of a capsule, shared by the code that seals it and the code that reads it.

Invariant: `seal` makes no payload that `verify` refuses for its size. Counting the tokens of a JSON text builds no
values and releases the interpreter lock; the standard library's parser holds that lock for the whole text, about a
second for 4 MiB of empty lists, and nothing else in the process runs meanwhile.
"""

from __future__ import annotations

import json
import re

PAYLOAD_BYTES = 4 << 20
"""The signed statement, in canonical JSON."""
DOCUMENT_BYTES = 16 << 20
"""A capsule file: the payload in base64, and optionally an indented, readable copy of it."""
TOKENS = 512 << 10
"""Opening brackets, commas and strings in one JSON text."""
BEFORE_CELLS = 200
"""Earlier cells of a session that are kept with a cell, and judged and run again before it."""
BEFORE_BYTES = 256 << 10
"""Size of their code."""

_STRING = json.JSONDecoder()
_TOKEN = re.compile(r'["\[{,]')


def too_large(text: bytes, most_bytes: int) -> str:
    """Why a JSON text exceeds the bounds; empty when it does not."""
    if len(text) > most_bytes:
        return f"it has {len(text):,} bytes, more than {most_bytes:,}"
    if len(text) > TOKENS and _tokens_in(text.decode("utf-8", "replace")) > TOKENS:
        return f"it holds more than {TOKENS:,} lists, objects, texts and members"
    return ""


def _tokens_in(text: str) -> int:
    """Number of tokens; counting stops beyond the bound, and at an invalid string, where the parser stops too."""
    found = at = 0
    while found <= TOKENS and (token := _TOKEN.search(text, at)) is not None:
        found += 1
        at = token.end()
        if token.group() == '"':
            try:
                at = _STRING.raw_decode(text, token.start())[1]
            except ValueError:
                break
    return found
