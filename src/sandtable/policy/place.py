"""Where a construct stands in the input text. The engine counts bytes; people count characters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sandtable.errors import ErrorCode
from sandtable.policy.verdict import Refused

# The engine writes "no location" as the largest unsigned number, or leaves the key out.
_NOWHERE = 1 << 63


def char_offset(text: str, byte_offset: int) -> int:
    return len(text.encode("utf-8", "replace")[:byte_offset].decode("utf-8", "ignore"))


def place_of(text: str, node: Mapping[str, Any]) -> tuple[int | None, int]:
    """Character offset and length of a tree node; (None, 0) when the engine kept no place for it."""
    start = _start_of(node)
    if start is None:
        return None, 0
    length = node.get("query_location_length")
    position = char_offset(text, start)
    end = char_offset(text, start + length) if isinstance(length, int) else position
    return position, end - position


def extent_of(node: Mapping[str, Any]) -> tuple[int, int] | None:
    """The bytes at which a tree node begins and ends; None when the engine kept no extent for it."""
    start, length = _start_of(node), node.get("query_location_length")
    return (start, start + length) if start is not None and isinstance(length, int) and length else None


def _start_of(node: Mapping[str, Any]) -> int | None:
    start = node.get("query_location")
    return start if isinstance(start, int) and start < _NOWHERE else None


def find_word(text: str, word: str) -> tuple[int | None, int]:
    """First place of a word, whatever its case: for constructs that have no location of their own."""
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)
    return (found.start(), len(word)) if found else (None, 0)


def refuse(
    text: str,
    node: Mapping[str, Any] | None,
    construct: str,
    message: str,
    suggestion: str = "",
    code: ErrorCode = ErrorCode.SQL_POLICY_VIOLATION,
) -> Refused:
    position, length = place_of(text, node) if node is not None else (None, 0)
    if position is None:
        position, length = find_word(text, construct)
    return Refused(
        code=code,
        construct=construct,
        message=message,
        suggestion=suggestion,
        position=position,
        length=length or (len(construct) if position is not None else 0),
    )
