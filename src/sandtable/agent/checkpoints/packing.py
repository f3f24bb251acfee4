"""Serializes values of a state: LangGraph's serializer restricted to known types, with compression of large values."""

from __future__ import annotations

import zlib
from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

_COMPRESSED = "zlib+"
_WORTH = 256
"""From how many bytes on a value is compressed."""
_LARGEST = 256 << 20
"""A limit above any stored value: a tampered file cannot exhaust the memory."""


def state_serializer() -> JsonPlusSerializer:
    """A tampered file can only produce messages and plain values, no other objects."""
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
