"""Any value as JSON text on one line. What has no JSON form becomes text or null, so encoding never fails."""

from __future__ import annotations

from typing import Any

from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from sandtable.conversations.text import clean


def encode(value: Any) -> str:
    try:
        return to_json(value, inf_nan_mode="null", fallback=str).decode()
    except PydanticSerializationError:
        # The value contains text that UTF-8 cannot encode.
        cleaned = clean(to_jsonable_python(value, inf_nan_mode="constants", fallback=str))
        return to_json(cleaned, inf_nan_mode="null", fallback=str).decode()
