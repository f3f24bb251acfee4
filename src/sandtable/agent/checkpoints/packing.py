"""Values of a state as bytes: LangGraph's serializer without objects of other kinds, and compressed where it pays."""

from __future__ import annotations

import zlib
from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

_COMPRESSED = "zlib+"
_WORTH = 256
"""From how many bytes on a value is compressed."""
_LARGEST = 256 << 20
"""More than any value that was ever stored: a changed file cannot fill the memory."""


def state_serializer() -> JsonPlusSerializer:
    """A changed file cannot make objects of other kinds than messages and plain values."""
    return JsonPlusSerializer(allowed_msgpack_modules=None)


def packed(kind: str, value: bytes) -> tuple[str, bytes]:
    small = zlib.compress(value, 6) if len(value) >= _WORTH else value
    return (_COMPRESSED + kind, small) if len(small) < len(value) else (kind, value)


def unpacked(kind: str, value: bytes) -> tuple[str, bytes]:
    if not kind.startswith(_COMPRESSED):
        return kind, bytes(value)
    unpacking = zlib.decompressobj()
    whole = unpacking.decompress(value, _LARGEST)
    if unpacking.unconsumed_tail:
        raise ValueError(f"a stored value has more than {_LARGEST:,} bytes")
    return kind.removeprefix(_COMPRESSED), whole


def versions_as_numbers(checkpoint: dict[str, Any]) -> dict[str, Any]:
    """LangGraph's own savers write a version as 32 digits and a random part; the number alone orders them."""
    return {
        **checkpoint,
        "channel_versions": _numbers(checkpoint["channel_versions"]),
        "versions_seen": {node: _numbers(seen) for node, seen in checkpoint["versions_seen"].items()},
    }


def _numbers(versions: dict[str, Any]) -> dict[str, int]:
    return {
        name: int(version.split(".")[0]) if isinstance(version, str) else int(version)
        for name, version in versions.items()
    }
