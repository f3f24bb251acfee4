"""How hostile capsules are made: an honest one, changed in one layer and signed again."""

from __future__ import annotations

import base64
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sandtable.capsule.canonical import canonical
from sandtable.capsule.digests import digests_of
from sandtable.capsule.document import document
from sandtable.capsule.keys import SigningKey
from sandtable.capsule.model import VerdictRecord
from sandtable.capsule.seal import statement
from sandtable.policy.verdict import Approved
from tests.capsule.samples import KEY, capsule, coded, signed

STRANGER = SigningKey.of(Ed25519PrivateKey.from_private_bytes(bytes(range(32, 64))))


@dataclass(frozen=True)
class Ground:
    """What the verifier has: the key that it trusts, and the content of an honest capsule of a run of SQL."""

    key: SigningKey = KEY
    honest: dict[str, Any] = field(default_factory=lambda: capsule(plan=None).model_dump(mode="json"))


Make = Callable[[Ground], Any]
"""An envelope, or the bytes of a body."""


def predicate(ground: Ground, *, code: bool = False, **changes: Any) -> dict[str, Any]:
    """The fields of a capsule whose digests fit whatever it holds."""
    place = {name: ground.honest[name] for name in ("dataset_id", "dataset_version")}
    made = (coded(**place).model_dump(mode="json") if code else deepcopy(ground.honest)) | changes
    rest = {name: value for name, value in made.items() if name != "digests"}
    return made | {"digests": digests_of(rest)}


def sealed(ground: Ground, key: SigningKey | None = None, **changes: Any) -> dict[str, Any]:
    return signed(canonical(statement(predicate(ground, **changes))), key or ground.key)


def raw(text: bytes | str) -> Make:
    """A payload with a signature that fits it."""
    data = text.encode() if isinstance(text, str) else text
    return lambda ground: signed(data, ground.key)


def forged(change: Callable[[dict[str, Any]], Any]) -> Make:
    """A statement changed before it is signed, and its digests left as they were."""

    def make(ground: Ground) -> dict[str, Any]:
        made = statement(predicate(ground))
        change(made)
        return signed(canonical(made), ground.key)

    return make


def respelled(then: bytes, now: bytes) -> Make:
    """The text of a payload changed before it is signed: what canonical JSON would not say."""

    def make(ground: Ground) -> dict[str, Any]:
        text = canonical(statement(predicate(ground, question="here", exec_time_ms=3.25)))
        assert then in text
        return signed(text.replace(then, now), ground.key)

    return make


def envelope(**changes: Any) -> Make:
    return lambda ground: sealed(ground) | changes


def signature(**changes: Any) -> Make:
    def make(ground: Ground) -> dict[str, Any]:
        made = sealed(ground)
        return made | {"signatures": [made["signatures"][0] | changes]}

    return make


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def nested(depth: int, inside: Any = 1) -> Any:
    made = inside
    for _ in range(depth):
        made = [made]
    return made


def earlier(count: int) -> list[dict[str, Any]]:
    return [{"python": f"x{n} = {n}", "interrupted": False} for n in range(count)]


def result_of(kind: str, *cells: Any) -> dict[str, Any]:
    """Its digest fits nothing."""
    return {
        "columns": [{"name": "c", "type": kind}],
        "rows": [[cell] for cell in cells],
        "rows_complete": True,
        "row_count": len(cells),
        "truncated": False,
        "digest": "sha256:" + "0" * 64,
    }


def approved(sql: str) -> dict[str, Any]:
    verdict = asdict(VerdictRecord.of(Approved(sql)))
    return {"plan": None, "sql": sql, "executed_sql": sql, "verdict": verdict}


def copied(change: Callable[[dict[str, Any]], Any]) -> Make:
    def make(ground: Ground) -> Any:
        made = document(sealed(ground))
        made["capsule"] = change(dict(made["capsule"]))
        return made

    return make
