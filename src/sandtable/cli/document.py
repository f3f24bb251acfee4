"""An envelope with a readable copy of its capsule beside it: what `run --json` prints and `verify` reads.

Only the payload is signed. A copy that says anything else than the payload breaks the document.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandtable.capsule.canonical import canonical, loads
from sandtable.capsule.seal import read_statement, unpack
from sandtable.errors import InvalidInput

COPY = "capsule"


def document(envelope: Mapping[str, Any]) -> dict[str, Any]:
    return {**envelope, COPY: read_statement(unpack(envelope)[0])["predicate"]}


def signed_part(text: str) -> tuple[Mapping[str, Any] | str, bool]:
    """The envelope in a document, and whether the readable copy, if there is one, says the same."""
    try:
        made = loads(text)
    except (ValueError, RecursionError):
        return text, True  # `verify` says what is wrong with it
    if not isinstance(made, dict) or COPY not in made:
        return text, True
    copy = made.pop(COPY)
    try:
        signed = canonical(read_statement(unpack(made)[0])["predicate"])
    except InvalidInput:
        return made, True
    try:
        return made, canonical(copy) == signed
    except RecursionError:
        return made, False
