"""What a page says beside its capsules: one signed statement, which names them and the page's own program.

A capsule holds no sentence. The statement is an in-toto statement in a DSSE envelope like a capsule, of a type of its
own, so neither can be taken for the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cryptography.exceptions import InvalidSignature
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandtable.capsule.canonical import canonical, loads, sha256
from sandtable.capsule.keys import SigningKey, TrustedKeys
from sandtable.capsule.seal import (
    PAYLOAD_TYPE,
    STATEMENT_TYPE,
    Envelope,
    enveloped,
    pre_authentication,
    unpack,
)
from sandtable.errors import InvalidInput

SAID_TYPE = "https://sandtable.dev/answer-page/v1"
Sha256 = Field(pattern=r"^sha256:[0-9a-f]{64}$")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ColumnSaid(_Frozen):
    """How the cells of a column are shown; see `runs.described`."""

    kind: str
    unit: str


class AnswerSaid(_Frozen):
    """The words of one answer, and the capsules that it rests on, the main one first."""

    question: str
    sentence: str
    """Markdown."""
    reading: str
    note: str
    """Why a capsule of the answer is not here; empty where all are."""
    columns: tuple[ColumnSaid, ...]
    """Of the main capsule's result."""
    capsules: tuple[str, ...]
    """Digests of their payloads."""


class PageSaid(_Frozen):
    title: str
    made_at: str
    made_by: str
    """The program and its version."""
    program: str = Sha256
    """Digest of all of the page that is not its content."""
    answers: tuple[AnswerSaid, ...]


class Unsigned(InvalidInput):
    """The statement's signature does not fit, or no trusted key made it."""


def sealed(said: PageSaid, key: SigningKey) -> Envelope:
    named = [digest for answer in said.answers for digest in answer.capsules]
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": [
            {"name": f"capsule/{number}", "digest": {"sha256": digest.removeprefix("sha256:")}}
            for number, digest in enumerate(named, 1)
        ],
        "predicateType": SAID_TYPE,
        "predicate": said.model_dump(mode="json"),
    }
    return enveloped(canonical(statement), key)


def payload_digest(envelope: Mapping[str, Any]) -> str:
    """Raises InvalidInput."""
    return sha256(unpack(envelope)[0])


def opened(envelope: Mapping[str, Any], keys: TrustedKeys) -> PageSaid:
    """Raises Unsigned for a statement that no trusted key signed, InvalidInput for what is no statement of a page."""
    payload, keyid, signature = unpack(envelope)
    key = keys.get(keyid)
    if key is None:
        raise Unsigned(
            "no trusted key signed the page",
            suggestion="Put the signer's public key in keys/trusted or pass it with --key.",
        )
    try:
        key.verify(signature, pre_authentication(PAYLOAD_TYPE, payload))
    except InvalidSignature as error:
        raise Unsigned(
            "the page's signature does not fit its words: one of them was changed",
            suggestion="Ask for the page again where it was made.",
        ) from error
    return _read(payload)


def _read(payload: bytes) -> PageSaid:
    try:
        statement = loads(payload.decode())
        if canonical(statement) != payload or statement["predicateType"] != SAID_TYPE:
            raise InvalidInput("the signed statement is not that of a page", suggestion=_AGAIN)
        return PageSaid.model_validate(statement["predicate"])
    except (ValueError, KeyError, TypeError, RecursionError, ValidationError) as error:
        raise InvalidInput("the signed statement is not that of a page", suggestion=_AGAIN) from error


_AGAIN = "Ask for the page again where it was made."


def capsules_named(answers: Sequence[AnswerSaid]) -> list[str]:
    return [digest for answer in answers for digest in answer.capsules]
