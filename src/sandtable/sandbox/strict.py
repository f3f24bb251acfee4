"""JSON of strangers, read so that it can be written again."""

from __future__ import annotations

import json
from typing import Any


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


_STRICT = json.JSONDecoder(parse_constant=_refuse_constant)


def parse_strictly(body: bytes) -> Any:
    """JSON as the standard has it. Python also takes NaN and lone surrogates, which could not be written again."""
    message = _STRICT.decode(body.decode())
    if b"\\ud" in body or b"\\uD" in body:
        json.dumps(message, ensure_ascii=False).encode()
    return message
