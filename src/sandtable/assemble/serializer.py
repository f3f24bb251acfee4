"""How a conversation's state is written and read: messages and plain values, nothing else.

A state that was just written is read again at once by the next step. It is then given back as it was,
by its bytes, without being decoded. Nobody changes a state's values in place: a step returns new ones.
"""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from sandtable.recent import Recent

_KEPT = 64
_LONGEST_KEPT = 1 << 20


class StateSerializer(JsonPlusSerializer):
    """A changed file cannot make objects of other kinds."""

    def __init__(self) -> None:
        super().__init__(allowed_msgpack_modules=None)
        self._written: Recent[bytes, dict[str, Any]] = Recent(_KEPT)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        kind, written = super().dumps_typed(obj)
        if isinstance(obj, dict) and "channel_values" in obj and len(written) <= _LONGEST_KEPT:
            self._written.put(written, _copy(obj))
        return kind, written

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        known = self._written.get(data[1])
        return super().loads_typed(data) if known is None else _copy(known)


def _copy(checkpoint: dict[str, Any]) -> dict[str, Any]:
    """Its maps anew, which LangGraph changes as it goes; what was said in it as it is."""
    return {
        key: {name: dict(item) if key == "versions_seen" else item for name, item in value.items()}
        if isinstance(value, dict)
        else list(value)
        if isinstance(value, list)
        else value
        for key, value in checkpoint.items()
    }
