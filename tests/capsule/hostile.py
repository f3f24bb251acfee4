"""Capsules that mean harm: malformed in every layer, bombs of size, depth and digits, tricks with keys and signatures.

Each is the body of a request to `POST /verify`, made for a verifier that trusts one key and has one dataset. It comes
with what must be found: the one link that is broken, an HTTP status for what is no capsule at all, or nothing broken.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandtable.capsule.bounds import BEFORE_CELLS, DOCUMENT_BYTES, PAYLOAD_BYTES
from sandtable.capsule.canonical import canonical
from sandtable.capsule.keys import SigningKey
from sandtable.capsule.seal import statement
from sandtable.chart.rules import MAKER
from tests.capsule.forging import (
    STRANGER,
    Ground,
    Make,
    approved,
    b64,
    copied,
    earlier,
    envelope,
    forged,
    nested,
    predicate,
    raw,
    respelled,
    result_of,
    sealed,
    signature,
)
from tests.capsule.samples import signed

NOTHING = ""
"""Is broken: it is honest, or there is nothing here to hold against it."""


@dataclass(frozen=True)
class Hostile:
    make: Callable[[Ground], bytes]
    expected: str
    """The broken link, a status such as `422`, or NOTHING."""


CORPUS: dict[str, Hostile] = {}


def case(name: str, expected: str) -> Callable[[Make], Make]:
    def keep(make: Make) -> Make:
        def body(ground: Ground) -> bytes:
            made = make(ground)
            return made if isinstance(made, bytes) else json.dumps(made).encode()

        assert name not in CORPUS
        CORPUS[name] = Hostile(body, expected)
        return make

    return keep


def cases(prefix: str, expected: str, makes: dict[str, Make]) -> None:
    for name, make in makes.items():
        case(f"{prefix}: {name}", expected)(make)


BOMB = b"[" + b"[]," * (DOCUMENT_BYTES // 3 - 10) + b"[]]"

# By a key that is not trusted: whatever is inside, nothing of it is looked at.
_UNKNOWN: dict[str, Make] = {
    "a capsule like any other": lambda g: sealed(g, STRANGER),
    "1,500 earlier cells": lambda g: sealed(g, STRANGER, code=True, before=earlier(1500)),
    "rows without end": lambda g: sealed(g, STRANGER, result=result_of("VARCHAR", *["x" * 60_000] * 60)),
    "a plan of 3,000 filters": lambda g: sealed(g, STRANGER, plan={"filters": [{"a": 1}] * 3000}),
    "SQL of 20,000 brackets": lambda g: sealed(g, STRANGER, **approved("SELECT " + "(" * 20_000)),
    "a payload that is no JSON": lambda g: signed(b"\xff" * 1000, STRANGER),
    "a payload of a million lists": lambda g: signed(BOMB[: PAYLOAD_BYTES - 1], STRANGER),
    "a payload without a bottom": lambda g: signed(b"[" * PAYLOAD_BYTES, STRANGER),
    "a payload of digits": lambda g: signed(b"1" * PAYLOAD_BYTES, STRANGER),
    "no key id": signature(keyid=""),
    "the id in capitals": lambda g: signature(keyid=g.key.keyid.upper())(g),
    "the id with a space": lambda g: signature(keyid=f" {g.key.keyid}")(g),
    "the id and more": lambda g: signature(keyid=f"{g.key.keyid}0")(g),
    "half of the id": lambda g: signature(keyid=g.key.keyid[:32])(g),
    "an id of a million characters": signature(keyid="a" * 1_000_000),
    "an id that is half a character": signature(keyid="\ud800" * 64),
    "an id that is a path": signature(keyid="../signing.pem"),
    "a copy that is a bomb of depth": lambda g: {**sealed(g, STRANGER), "capsule": nested(400)},
}
cases("unknown key", "signer", _UNKNOWN)


@case("signature: another key under the trusted id", "signature")
def _(ground: Ground) -> Any:
    return sealed(ground, SigningKey(STRANGER.private, ground.key.keyid))


@case("signature: of another capsule", "signature")
def _(ground: Ground) -> Any:
    return sealed(ground) | {"signatures": sealed(ground, question="another")["signatures"]}


@case("signature: of the bare payload", "signature")
def _(ground: Ground) -> Any:
    made = sealed(ground)
    bare = ground.key.sign(base64.b64decode(made["payload"]))
    return made | {"signatures": [{"keyid": ground.key.keyid, "sig": b64(bare)}]}


cases(
    "signature",
    "signature",
    {
        "zeros": signature(sig=b64(bytes(64))),
        "a byte too short": signature(sig=b64(b"s" * 63)),
        "a payload of a million lists": lambda g: (
            signed(BOMB[: PAYLOAD_BYTES - 1], STRANGER) | {"signatures": sealed(g)["signatures"]}
        ),
    },
)
cases(
    "envelope",
    "envelope",
    {
        "empty": lambda g: {},
        "a field too many": envelope(extra=1),
        "no payload": lambda g: {name: value for name, value in sealed(g).items() if name != "payload"},
        "another payload type": envelope(payloadType="application/json"),
        "a nested payload type": envelope(payloadType=nested(300)),
        "a number for a payload": envelope(payload=12),
        "a payload that is no base64": envelope(payload="!" * 1000),
        "base64 with a line break": lambda g: envelope(payload=sealed(g)["payload"][:-4] + "\nAAA")(g),
        "base64 for addresses": envelope(payload="__--" * 100),
        "base64 of another length": envelope(payload="AAAAA"),
        "an empty payload": envelope(payload=""),
        "a payload that is too large": envelope(payload=b64(bytes(PAYLOAD_BYTES + 1))),
        "no signature": envelope(signatures=[]),
        "two signatures": lambda g: envelope(signatures=sealed(g)["signatures"] * 2)(g),
        "ten thousand signatures": envelope(signatures=[{"keyid": "a", "sig": "b"}] * 10_000),
        "signatures by name": envelope(signatures={"keyid": "a", "sig": "b"}),
        "a signature with a field too many": signature(extra=1),
        "a key id that is a list": signature(keyid=nested(300)),
        "an empty signature": signature(sig=""),
        "a signature of a megabyte": signature(sig=b64(bytes(1 << 20))),
    },
)
cases(
    "payload",
    "envelope",
    {
        "no JSON": raw(b"\0\0\0"),
        "no UTF-8": raw(b'{"a":"\xff"}'),
        "with a byte order mark": raw(b'\xef\xbb\xbf{"a":1}'),
        "a list": raw("[]"),
        "a bomb of lists": raw(BOMB[: PAYLOAD_BYTES - 2] + b"]"),
        "without a bottom": raw("[" * 1_000_000),
        "a million digits": raw("1" * 1_000_000),
        "a fraction of a million digits": raw("0." + "1" * 1_000_000),
        "NaN": respelled(b'"exec_time_ms":3.25', b'"exec_time_ms":NaN'),
        "more than any double": respelled(b'"exec_time_ms":3.25', b'"exec_time_ms":1e999'),
        "another spelling of a number": respelled(b'"exec_time_ms":3.25', b'"exec_time_ms":3.250'),
        "a key twice": respelled(b'"question":"here"', b'"question":"here","question":"here"'),
        "half a character": respelled(b'"question":"here"', b'"question":"\\ud800"'),
        "spaces": respelled(b'"question":"here"', b'"question": "here"'),
        "a field of the statement too many": forged(lambda s: s.update(extra=1)),
        "a list for a capsule": forged(lambda s: s.update(predicate=[])),
        "another statement type": forged(lambda s: s.update(_type="https://in-toto.io/Statement/v0.1")),
        "the type of another format": forged(
            lambda s: s.update(predicateType="https://sandtable.dev/capsule/v2")
        ),
        "a format that is none": forged(lambda s: s["predicate"].update(schema_version=nested(200))),
        "a field that no format has": forged(lambda s: s["predicate"].update(extra=1)),
        "a field missing": forged(lambda s: s["predicate"].pop("limits")),
        "no rows at least": forged(lambda s: s["predicate"]["limits"].update(rows=-1)),
        "half a row": forged(lambda s: s["predicate"]["limits"].update(rows=0.5)),
        "a version that is a path": forged(lambda s: s["predicate"].update(dataset_version="../../etc")),
        "a verdict that is none": forged(lambda s: s["predicate"]["verdict"].update(decision="fine")),
    },
)
for _format in ("1", "2", "3", "4", "5", "7"):

    @case(f"payload: today's fields under format {_format}", "envelope")
    def _(ground: Ground, version: str = _format) -> Any:
        made = statement(predicate(ground) | {"schema_version": version})
        return signed(canonical(made), ground.key)


cases(
    "body",
    "422",
    {
        "empty": lambda g: b"",
        "no JSON": lambda g: b'{"payload": ',
        "a list": lambda g: b"[]",
        "a text": lambda g: b'"payload"',
        "a number": lambda g: b"12",
        "NaN": lambda g: b'{"payload": NaN}',
        "a key twice": lambda g: b'{"payload": "", "payload": ""}',
        "no UTF-8": lambda g: b'{"payload": "\xff"}',
        "UTF-16": lambda g: json.dumps(sealed(g)).encode("utf-16"),
        "without a bottom": lambda g: b"[" * (1 << 20),
        "objects without a bottom": lambda g: b'{"a":' * (1 << 20),
        "a bomb of lists": lambda g: BOMB,
        "a bomb of objects": lambda g: b"[" + b"{}," * (DOCUMENT_BYTES // 3 - 10) + b"{}]",
        "a bomb of numbers": lambda g: b"[" + b"1e9," * (DOCUMENT_BYTES // 4 - 10) + b"1]",
        "a bomb of quotation marks": lambda g: b'"\\"' * (DOCUMENT_BYTES // 3 - 10),
        "digits": lambda g: b"1" * DOCUMENT_BYTES,
    },
)


@case("body: a byte more than is read", "413")
def _(ground: Ground) -> Any:
    return b" " * (DOCUMENT_BYTES + 1)


cases(
    "copy",
    "envelope",
    {
        "of another question": copied(lambda c: c | {"question": "another"}),
        "null": copied(lambda c: None),
        "nested": copied(lambda c: c | {"question": nested(300)}),
        "half a character": copied(lambda c: c | {"question": "\ud800"}),
        "a list of a hundred thousand": copied(lambda c: [0] * 100_000),
    },
)
cases(
    "copy",
    "422",
    {
        "a bomb of lists": lambda g: b'{"capsule": ' + BOMB[: 12 << 20] + b"[]]}",
        "without a bottom": lambda g: b'{"capsule": ' + b"[" * 100_000,
    },
)
cases(
    "digests",
    "digests",
    {
        "of another question": forged(lambda s: s["predicate"].update(question="another")),
        "no subject": forged(lambda s: s.update(subject=[])),
        "rows that fit no column": forged(lambda s: s["predicate"]["result"].update(rows=[[1]])),
        "fifty thousand prompts": forged(
            lambda s: s["predicate"].update(prompts=["sha256:" + "0" * 64] * 50_000)
        ),
        "a decimal of a billion digits": forged(
            lambda s: s["predicate"].update(result=result_of("DECIMAL(38,2)", "1E+999999999"))
        ),
        "a type of spaces": forged(lambda s: s["predicate"].update(result=result_of(" " * 100_000, "x"))),
        "a type without a bottom": forged(
            lambda s: s["predicate"].update(result=result_of("STRUCT(a " * 20_000, "x"))
        ),
        "a cell without a bottom": forged(
            lambda s: s["predicate"].update(result=result_of("VARCHAR", nested(300)))
        ),
    },
)

# Signed by the trusted key, and in order: heavy, or a lie.
cases(
    "right key",
    NOTHING,
    {
        "more earlier cells than are run again": lambda g: sealed(
            g, code=True, before=earlier(BEFORE_CELLS + 1)
        ),
        "another dataset": lambda g: sealed(
            g, dataset_id="../../etc/passwd", dataset_version="sha256:" + "0" * 64
        ),
        "rows without a limit": lambda g: sealed(g, limits=predicate(g)["limits"] | {"rows": 2**53 - 1}),
    },
)
cases(
    "right key",
    "plan",
    {
        "a plan of 3,000 filters": lambda g: sealed(
            g, plan={"table": "orders", "filters": [{"a": 1}] * 3000}
        ),
        "a plan that is nested": lambda g: sealed(g, plan={"table": "orders", "filters": nested(300)}),
        "a plan that is long": lambda g: sealed(g, plan={"table": "x" * 200_000}),
    },
)
cases(
    "right key",
    "verdict",
    {
        "SQL of 20,000 brackets": lambda g: sealed(g, **approved("SELECT " + "(" * 20_000)),
        "SQL of a megabyte": lambda g: sealed(g, **approved("SELECT '" + "x" * (1 << 20) + "'")),
        "SQL that reads a file": lambda g: sealed(g, **approved("SELECT * FROM read_csv('/etc/passwd')")),
    },
)
cases(
    "right key",
    "chart",
    {
        "a chart without a result": lambda g: sealed(
            g, verdict=None, result=None, status="failed", chart={"data": []}
        ),
        "a chart of a hundred thousand points": lambda g: sealed(
            g,
            verdict=None,
            chart={"data": [{"y": [0] * 100_000}], "layout": {"meta": MAKER}},
        ),
    },
)
