"""An envelope with a readable copy of its capsule beside it: what `run --json` prints and `verify` reads.

Only the payload is signed. A copy that differs from the payload makes the document invalid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandtable.capsule.canonical import canonical
from sandtable.capsule.seal import read_json, read_statement, unpack

COPY = "capsule"

Document = Mapping[str, Any] | str | bytes


def document(envelope: Mapping[str, Any]) -> dict[str, Any]:
    return {**envelope, COPY: read_statement(unpack(envelope)[0])["predicate"]}


def parted(given: Document) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """The envelope, and the copy by its field name if there is one. Raises Unreadable."""
    made = given if isinstance(given, Mapping) else read_json(given)
    envelope = {name: value for name, value in made.items() if name != COPY}
    return envelope, {COPY: made[COPY]} if COPY in made else {}


def says_the_same(copy: Mapping[str, Any], predicate: Mapping[str, Any]) -> bool:
    """Whether a copy, if there is one, equals the signed predicate."""
    try:
        return COPY not in copy or canonical(copy[COPY]) == canonical(predicate)
    except RecursionError:
        return False
