"""Canonical JSON (RFC 8785) and the digests made from it.

Invariant: `canonical(loads(canonical(x))) == canonical(x)` for every x that `plain` accepts, so a capsule read back
from its bytes hashes to what was signed. JSON numbers are doubles there: an integer beyond 2^53 is written as a string,
NaN and the infinities as text.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import rfc8785

SAFE_INTEGER = 2**53 - 1


def plain(value: Any) -> Any:
    """`value` reduced to what canonical JSON can represent. Never raises: no content makes sealing fail."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _plain_text(value)
    if isinstance(value, int):
        return value if -SAFE_INTEGER <= value <= SAFE_INTEGER else str(value)
    if isinstance(value, float):
        return _plain_float(value)
    if isinstance(value, Mapping):
        return {plain(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [plain(item) for item in value]
    return plain(str(value))


def _plain_text(value: str) -> str:
    """Lone surrogates have no UTF-8 form: they become U+FFFD, and split pairs are joined."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def _plain_float(value: float) -> float | str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def canonical(value: Any) -> bytes:
    try:
        return _ENCODER.encode(_alike(value)).encode()
    except _Unlike:
        return rfc8785.dumps(plain(value))


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


class _Unlike(Exception):
    """The standard library would write the value differently from RFC 8785."""


def _alike(value: Any) -> Any:
    """`plain(value)` in a form that the standard library's encoder, which is much faster, writes as RFC 8785 would. The
    two differ in the order of keys beyond ASCII and in the form of very small and very large doubles."""
    kind = type(value)
    if kind is str:
        return value if value.isascii() else _plain_text(value)
    if kind is float:
        if value % 1 == 0 and -SAFE_INTEGER <= value <= SAFE_INTEGER:
            return int(value)
        if 1e-4 <= abs(value) < 1e15:
            return value
        raise _Unlike
    if kind is dict:
        if not all(type(key) is str and key.isascii() for key in value):
            raise _Unlike
        return {key: _alike(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [_alike(item) for item in value]
    if kind is int and -SAFE_INTEGER <= value <= SAFE_INTEGER:
        return value
    if value is None or kind is bool:
        return value
    raise _Unlike


def loads(text: str | bytes) -> Any:
    """JSON text to values, strictly: no duplicate keys, no NaN literals.

    RFC 8785 writes the double 1e20 as `100000000000000000000`; reading that as an integer would
    turn it into a string on the way back, so integers beyond 2^53 are read as the doubles they are.
    """
    return json.loads(text, parse_int=_parse_int, parse_constant=_no_constant, object_pairs_hook=_unique_keys)


def _parse_int(digits: str) -> int | float:
    # Length first: Python refuses to convert very long digit strings to integers.
    if len(digits) > 17:
        return _finite(digits)
    value = int(digits)
    return value if -SAFE_INTEGER <= value <= SAFE_INTEGER else float(value)


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError("a number in the JSON text is too large for a double")
    return value


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("an object in the JSON text has a key twice")
    return made


def sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """`sha256:…` of the canonical form."""
    return sha256(canonical(value))
