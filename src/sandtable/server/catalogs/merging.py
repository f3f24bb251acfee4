"""JSON merge patches (RFC 7396), and which JSON values can be kept."""

from __future__ import annotations

import math
from typing import Any, cast

from sandtable.errors import InvalidInput

_DEEPEST = 32


def merged(document: Any, patch: Any) -> Any:
    """`document` with the patch applied: null removes a member, an object changes one, all else replaces it."""
    if not isinstance(patch, dict):
        return patch
    made = dict(cast(dict[str, Any], document)) if isinstance(document, dict) else {}
    for name, value in cast(dict[str, Any], patch).items():
        if value is None:
            made.pop(name, None)
        else:
            made[name] = merged(made.get(name), value)
    return made


def require_storable(value: Any, depth: int = 0) -> None:
    """Raises InvalidInput for what cannot be written as JSON and read again."""
    if depth > _DEEPEST:
        raise InvalidInput(
            f"the catalog is nested more than {_DEEPEST} levels deep",
            suggestion="Send a document of fewer levels.",
        )
    if isinstance(value, dict):
        for name, each in cast(dict[str, Any], value).items():
            require_storable(name, depth)
            require_storable(each, depth + 1)
    elif isinstance(value, list | tuple):
        for each in cast(list[Any], value):
            require_storable(each, depth + 1)
    elif (isinstance(value, str) and not _is_unicode(value)) or (
        isinstance(value, float) and not math.isfinite(value)
    ):
        raise InvalidInput(
            "the catalog holds half of a character, or a number that is not finite",
            suggestion="Send text in UTF-8 and finite numbers.",
        )


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)
