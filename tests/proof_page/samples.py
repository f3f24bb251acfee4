"""Pages made of the small world of `tests.capsule.samples`."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from sandtable.capsule.canonical import canonical, loads
from sandtable.capsule.keys import keyid_of
from sandtable.capsule.model import Capsule
from sandtable.capsule.seal import seal
from sandtable.proof_page.make import Answer, make_page
from sandtable.proof_page.said import ColumnSaid
from tests.capsule.samples import KEY, charted

_CONTENT = re.compile(r'(<script type="application/json" id="content">)(.*?)(</script>)', re.DOTALL)


def answer_with(*capsules: Capsule, sentence: str = "North has the most: **12.5**.", **said: Any) -> Answer:
    columns = (ColumnSaid(kind="text", unit=""), ColumnSaid(kind="float", unit=""))
    sealed = tuple(seal(one, KEY) for one in capsules)
    words = {"question": "total by region", "reading": "sum of totals, by region", "columns": columns, **said}
    return Answer(sentence=sentence, capsules=sealed, **words)


def page(*answers: Answer, title: str = "Totals") -> str:
    return make_page(answers or (answer_with(charted()),), title, KEY, {})


def content_of(text: str) -> dict[str, Any]:
    found = _CONTENT.search(text)
    assert found is not None
    return loads(found[2])


def with_content(text: str, change: Callable[[dict[str, Any]], None]) -> str:
    content = content_of(text)
    change(content)
    return _CONTENT.sub(lambda found: found[1] + canonical(content).decode() + found[3], text)


def payload_of(envelope: dict[str, Any]) -> str:
    return base64.b64decode(envelope["payload"]).decode()


def replaced(envelope: dict[str, Any], old: str, new: str) -> None:
    """Changes the text of a payload and leaves its signature as it is."""
    payload = payload_of(envelope)
    assert payload.count(old) >= 1, (old, payload[:2000])
    envelope["payload"] = base64.b64encode(payload.replace(old, new, 1).encode()).decode()


def golden() -> tuple[list[tuple[str, dict[str, Any]]], dict[str, Ed25519PublicKey]]:
    """The capsules of every format that are kept, and the keys that signed them."""
    folder = Path(__file__).parents[1] / "capsule" / "golden"
    capsules = [(path.stem, json.loads(path.read_text("utf-8"))) for path in sorted(folder.glob("*.json"))]
    keys = [load_pem_public_key(path.read_bytes()) for path in folder.glob("*.pem")]
    return (
        [
            (name, {part: one[part] for part in ("payloadType", "payload", "signatures")})
            for name, one in capsules
        ],
        {keyid_of(key): key for key in keys if isinstance(key, Ed25519PublicKey)},
    )
