"""A capsule becomes an in-toto statement in a DSSE envelope, signed with Ed25519.

Invariant: the payload is the canonical JSON of the statement, and the signature covers those
bytes and their type (DSSE's pre-authentication encoding). There is exactly one signature.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from sandtable.capsule.bounds import DOCUMENT_BYTES, PAYLOAD_BYTES, too_large
from sandtable.capsule.canonical import canonical, loads
from sandtable.capsule.keys import SigningKey
from sandtable.capsule.model import Capsule
from sandtable.errors import InvalidInput
from sandtable.quoting import quote

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://sandtable.dev/capsule/v{}"
"""Filled with the capsule's `schema_version`."""
_SIGNATURE_BYTES = 64

Envelope = dict[str, Any]


class Oversized(ValueError):
    """The content is too large for a capsule."""


class Unreadable(InvalidInput):
    """The text is not a JSON object, or is too large."""


def seal(capsule: Capsule, key: SigningKey) -> Envelope:
    """Raises Oversized."""
    payload = canonical(statement(capsule.model_dump(mode="json")))
    if why := too_large(payload, PAYLOAD_BYTES):
        raise Oversized(f"the capsule is too large: {why}")
    return enveloped(payload, key)


def enveloped(payload: bytes, key: SigningKey) -> Envelope:
    signature = key.sign(pre_authentication(PAYLOAD_TYPE, payload))
    return {
        "payloadType": PAYLOAD_TYPE,
        "payload": _encode(payload),
        "signatures": [{"keyid": key.keyid, "sig": _encode(signature)}],
    }


def statement(predicate: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "_type": STATEMENT_TYPE,
        "subject": subjects(predicate),
        "predicateType": PREDICATE_TYPE.format(predicate["schema_version"]),
        "predicate": predicate,
    }


def subjects(predicate: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The subjects of the statement: the result, if there is one, and its data."""
    digests = predicate["digests"]
    named = [
        (f"{predicate['run_id']}/result", digests["result"]),
        (f"dataset/{predicate['dataset_id']}", digests["data"]),
    ]
    return [
        {"name": name, "digest": {"sha256": value.removeprefix("sha256:")}} for name, value in named if value
    ]


def pre_authentication(payload_type: str, payload: bytes) -> bytes:
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def read_json(text: str | bytes) -> dict[str, Any]:
    """Parse a capsule file. Raises Unreadable."""
    try:
        data = text.encode() if isinstance(text, str) else text
        if why := too_large(data, DOCUMENT_BYTES):
            raise Unreadable(
                f"the capsule file is too large: {why}",
                suggestion="Leave out the readable copy under `capsule`: the signed payload is what counts.",
            )
        made = loads(data.decode())
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise Unreadable(
            f"the capsule file is not JSON: {why}", suggestion="Send a capsule as it was downloaded."
        ) from error
    if not isinstance(made, dict):
        raise Unreadable(
            "the capsule file does not hold a JSON object", suggestion="Send a capsule as it was downloaded."
        )
    return made


def unpack(envelope: Mapping[str, Any]) -> tuple[bytes, str, bytes]:
    """Payload, key id and signature of an envelope. Raises InvalidInput that says what is wrong with it."""
    _exactly(envelope, {"payloadType", "payload", "signatures"}, "the envelope")
    if envelope["payloadType"] != PAYLOAD_TYPE:
        raise InvalidInput(f"payloadType is {_quoted(envelope['payloadType'])}, not {quote(PAYLOAD_TYPE)}")
    signatures = envelope["signatures"]
    if not isinstance(signatures, list) or len(signatures) != 1:
        raise InvalidInput("the envelope must have exactly one signature")
    _exactly(signatures[0], {"keyid", "sig"}, "the signature")
    if not isinstance(signatures[0]["keyid"], str):
        raise InvalidInput("the signature's keyid is not text")
    return (
        _decode(envelope["payload"], "payload", PAYLOAD_BYTES),
        signatures[0]["keyid"],
        _decode(signatures[0]["sig"], "signature", _SIGNATURE_BYTES),
    )


def read_statement(payload: bytes) -> dict[str, Any]:
    """The statement in a payload; refuses one that is not in canonical form. Raises InvalidInput."""
    if why := too_large(payload, PAYLOAD_BYTES):
        raise InvalidInput(f"the payload is too large: {why}")
    try:
        made = loads(payload.decode())
        same = canonical(made) == payload
    except RecursionError as error:
        raise InvalidInput("the payload is not JSON: it is nested too deeply") from error
    except ValueError as error:
        raise InvalidInput(f"the payload is not JSON: {error}") from error
    if not same:
        raise InvalidInput("the payload is not in canonical form")
    _exactly(made, {"_type", "subject", "predicateType", "predicate"}, "the statement")
    if not isinstance(made["predicate"], dict):
        raise InvalidInput("the predicate is not an object")
    version = made["predicate"].get("schema_version")
    if not isinstance(version, str):
        raise InvalidInput("the predicate's schema_version is not text")
    predicate_type = PREDICATE_TYPE.format(version)
    for name, expected in (("_type", STATEMENT_TYPE), ("predicateType", predicate_type)):
        if made[name] != expected:
            raise InvalidInput(f"{name} is {_quoted(made[name])}, not {quote(expected)}")
    return made


def chart_in(envelope: Mapping[str, Any]) -> dict[str, Any] | None:
    """The figure in an envelope of our own store, whose signature is not checked again."""
    return loads(unpack(envelope)[0])["predicate"].get("chart")


def _exactly(value: Any, keys: set[str], what: str) -> None:
    if not isinstance(value, Mapping) or set(value) != keys:
        raise InvalidInput(f"{what} must have exactly the fields {', '.join(sorted(keys))}")


def _encode(data: bytes) -> str:
    return base64.standard_b64encode(data).decode()


def _decode(text: Any, what: str, most: int) -> bytes:
    """Strict: base64 can encode the same bytes in several ways, and a capsule has one."""
    try:
        data = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(f"the {what} is not base64: {error}") from error
    if len(data) > most:
        raise InvalidInput(f"the {what} has {len(data):,} bytes, more than {most:,}")
    if not data or _encode(data) != text:
        raise InvalidInput(f"the {what} is not canonical base64")
    return data


def _quoted(value: Any) -> str:
    """Shortened for a message. Nested values are not written out: their depth is unbounded."""
    return quote(value) if isinstance(value, str) else type(value).__name__
