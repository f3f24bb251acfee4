"""An envelope with a readable copy of its capsule beside it: what `run --json` prints and `verify` reads.

Only the payload is signed. A copy that says anything else than the payload breaks the document.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandtable.capsule.canonical import canonical, loads
from sandtable.capsule.report import Link, Report
from sandtable.capsule.seal import read_statement, unpack
from sandtable.capsule.verify import Rederive, verify
from sandtable.errors import InvalidInput

COPY = "capsule"

Document = Mapping[str, Any] | str | bytes


def document(envelope: Mapping[str, Any]) -> dict[str, Any]:
    return {**envelope, COPY: read_statement(unpack(envelope)[0])["predicate"]}


async def verify_document(given: Document, parts: Rederive) -> Report:
    """`verify` for an envelope with or without the readable copy."""
    envelope, same = _signed_part(given)
    report = await verify(envelope, parts)
    if same:
        return report
    why = "the readable copy under `capsule` differs from the signed payload"
    broken = Link(name="envelope", status="broken", detail=why)
    return report.model_copy(update={"links": (broken, *report.links[1:])})


def _signed_part(given: Document) -> tuple[Document, bool]:
    """The envelope in a document, and whether the readable copy, if there is one, says the same.

    What cannot be read is handed on as it is: `verify` says what is wrong with it.
    """
    made = given if isinstance(given, Mapping) else _read(given)
    if not isinstance(made, Mapping) or COPY not in made:
        return given, True
    envelope = {name: value for name, value in made.items() if name != COPY}
    try:
        signed = canonical(read_statement(unpack(envelope)[0])["predicate"])
    except InvalidInput:
        return envelope, True
    try:
        return envelope, canonical(made[COPY]) == signed
    except RecursionError:
        return envelope, False


def _read(text: str | bytes) -> Any:
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return None
