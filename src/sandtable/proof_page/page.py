"""The page as a file: one template, its program and style by their digests in its policy, and one block of content.

Invariant: `frame(...)` is constant for a version of Sandtable; only the content differs from page to page. It is
canonical JSON without a `<`, so that it cannot end its block, and holds no text outside of signed payloads.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeGuard

from sandtable.capsule.bounds import DOCUMENT_BYTES, too_large
from sandtable.capsule.canonical import canonical, loads, sha256
from sandtable.capsule.keys import TrustedKeys
from sandtable.capsule.seal import Envelope
from sandtable.drawing import MODULES
from sandtable.drawing.bundle import script_of
from sandtable.engines.duckdb.types import TABLE
from sandtable.errors import InvalidInput

FORMAT = "sandtable.page/1"
PAGE_BYTES = 2 * DOCUMENT_BYTES
MOST_CAPSULES = 200
_BEGIN = '<script type="application/json" id="content">'
_END = "</script>"
_HERE = Path(__file__).parent / "page"
_PAGE = tuple(_HERE / f"{name}.js" for name in ("digests", "words", "checks", "parts", "page"))


class NotAPage(InvalidInput):
    """The file is not a page that Sandtable made."""


@dataclass(frozen=True, slots=True)
class Content:
    statement: Envelope
    capsules: tuple[Envelope, ...]
    keys: tuple[bytes, ...]
    """Raw public keys of the signers, for the page's own check; they prove nothing about who has them."""


@cache
def frame() -> tuple[str, str]:
    """What stands before and after the content."""
    families = canonical({name: facts.digest for name, facts in TABLE.items()}).decode()
    modules = script_of((*MODULES, *_PAGE))
    script = f'"use strict";\nconst FAMILIES = {families};\n{modules}\n_page.begin(document, FAMILIES);\n'
    style = (_HERE / "page.css").read_text(encoding="utf-8")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_source(script)}'",
            f"style-src '{_source(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    page = (_HERE / "page.html").read_text(encoding="utf-8")
    filled = page.replace("{policy}", policy).replace("{style}", style).replace("{script}", script)
    before, after = filled.split("{content}")
    return before + _BEGIN, _END + after


def program() -> str:
    """The digest of the frame, which the page's statement names."""
    return _program(*frame())


def page_of(content: Content) -> str:
    """Raises InvalidInput for more than a page holds."""
    if len(content.capsules) > MOST_CAPSULES:
        raise InvalidInput(
            f"a page holds at most {MOST_CAPSULES} capsules, and this would be {len(content.capsules)}",
            suggestion="Make a page of fewer answers.",
        )
    held = {
        "format": FORMAT,
        "statement": content.statement,
        "capsules": content.capsules,
        "keys": [base64.standard_b64encode(raw).decode() for raw in content.keys],
    }
    before, after = frame()
    made = before + canonical(held).decode() + after
    if len(made) > PAGE_BYTES:
        raise InvalidInput(
            f"the page would have {len(made):,} bytes, more than {PAGE_BYTES:,}",
            suggestion="Make a page of fewer answers, or of answers with fewer rows.",
        )
    return made


def looks_like_page(text: str) -> bool:
    return text.lstrip()[:15].lower() == "<!doctype html>"


def parted(text: str) -> tuple[Content, str]:
    """The content of a page, and the digest of its frame as it stands in the file. Raises NotAPage."""
    if len(text) > PAGE_BYTES:
        raise NotAPage(
            f"the page has {len(text):,} characters, more than {PAGE_BYTES:,}", suggestion=_SUGGESTION
        )
    before, begin, rest = text.partition(_BEGIN)
    held, end, after = rest.partition(_END)
    if not begin or not end:
        raise NotAPage("the file holds no answers that Sandtable signed", suggestion=_SUGGESTION)
    return _content(held), _program(before + begin, end + after)


_SUGGESTION = "Give a page as `sandtable page` or the web interface made it."


def _content(held: str) -> Content:
    if why := too_large(held.encode(), PAGE_BYTES):
        raise NotAPage(f"the page's content is too large: {why}", suggestion=_SUGGESTION)
    try:
        made = loads(held)
    except (ValueError, RecursionError) as error:
        raise NotAPage(f"the page's content is not JSON: {error}", suggestion=_SUGGESTION) from error
    if not isinstance(made, dict) or made.get("format") != FORMAT:
        raise NotAPage(f"the page's content is not of the format {FORMAT}", suggestion=_SUGGESTION)
    capsules, statement = made.get("capsules"), made.get("statement")
    if not _are_objects(capsules) or not isinstance(statement, dict) or len(capsules) > MOST_CAPSULES:
        raise NotAPage("the page's content has no capsules, or too many", suggestion=_SUGGESTION)
    return Content(statement=statement, capsules=tuple(capsules), keys=())


def _are_objects(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def keys_for(envelopes: Sequence[Mapping[str, Any]], keys: TrustedKeys) -> tuple[bytes, ...]:
    """The public keys that signed the envelopes, of those that are known here."""
    named = {envelope["signatures"][0]["keyid"] for envelope in envelopes}
    return tuple(keys[keyid].public_bytes_raw() for keyid in sorted(named) if keyid in keys)


def _source(text: str) -> str:
    """As a policy names an inline script or style."""
    return "sha256-" + base64.standard_b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _program(before: str, after: str) -> str:
    return sha256(before.encode() + b"\0" + after.encode())
