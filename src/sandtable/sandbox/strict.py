"""JSON that a sandbox wrote, read so that it can be written again.

Invariant: what comes out is within the bounds of the standard: no NaN and no infinity, no integer beyond 64 bits,
no name twice in one object, no lone surrogate. Reading takes a bounded multiple of the text's size in memory.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

MOST_CONTAINERS = 1_000_000
"""Lists and objects in one text. An empty one takes two bytes of text and about 60 of memory."""
_LONGEST_NUMBER = 400
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_LARGE_NUMBER = re.compile(rb"(?<![.0-9])[0-9]{16}|[eE]\+?[0-9]{3}")
"""May be beyond 64 bits, or beyond a double. Texts that have none are read without a call for each number."""


def parse_strictly(body: bytes) -> Any:
    """Raises ValueError and RecursionError."""
    if body.count(b"[") + body.count(b"{") > MOST_CONTAINERS:
        bare = _STRING.sub(b"", body)
        if bare.count(b"[") + bare.count(b"{") > MOST_CONTAINERS:
            raise ValueError(f"it has more than {MOST_CONTAINERS} lists and objects")
    decoder = _CAREFUL if _LARGE_NUMBER.search(body) else _STRICT
    message = decoder.decode(body.decode())
    if b"\\ud" in body or b"\\uD" in body:
        json.dumps(message, ensure_ascii=False).encode()
    return message


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _integer(digits: str) -> int:
    # Length first: converting very long ones takes time that grows with the square of their length.
    value = int(digits) if len(digits) <= 20 else 1 << 64
    if not -(1 << 63) <= value < 1 << 64:
        raise ValueError("an integer is beyond 64 bits")
    return value


def _float(digits: str) -> float:
    value = float(digits) if len(digits) <= _LONGEST_NUMBER else math.inf
    if math.isinf(value):
        raise ValueError("a number is beyond what a double holds")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("an object has one name twice")
    return made


_STRICT = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unique)
_CAREFUL = json.JSONDecoder(
    parse_constant=_refuse_constant, object_pairs_hook=_unique, parse_int=_integer, parse_float=_float
)
