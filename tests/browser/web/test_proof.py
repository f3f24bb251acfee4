"""The capsule of an answer: verified, taken away, and found out when it was tampered with."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from sandtable.capsule.canonical import canonical
from tests.browser.web.person import CHIP, Picture, ask_and_see, open_app, open_details

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui")]


def tampered(capsule: bytes) -> bytes:
    """The same capsule with another number in its first row."""
    envelope = json.loads(capsule)
    statement: dict[str, Any] = json.loads(base64.b64decode(envelope["payload"]))
    rows = statement["predicate"]["result"]["rows"]
    rows[0][-1] = 0.5
    envelope["payload"] = base64.b64encode(canonical(statement)).decode()
    return json.dumps(envelope).encode()


def states(report: Locator) -> dict[str, str]:
    rows = report.locator("[data-link]")
    return {str(row.get_attribute("data-link")): str(row.get_attribute("data-state")) for row in rows.all()}


def test_a_capsule_is_verified_and_a_tampered_copy_is_found_out(
    served: str, page: Page, picture: Picture
) -> None:
    open_app(page, served)
    ask_and_see(page, CHIP)
    proof = open_details(page, "Proof")
    proof.get_by_role("button", name="Verify").click()
    own = proof.get_by_role("region", name="Capsule")
    expect(own.get_by_text("Complete: everything that can be derived holds")).to_be_visible()
    found = states(own)
    assert found.pop("question") == "reading" and set(found.values()) == {"ok"}
    picture("1-verified")

    with page.expect_download() as waiting:
        own.get_by_role("link", name="Download capsule").click()
    capsule = Path(waiting.value.path()).read_bytes()
    other = proof.get_by_role("region", name="Verify a file")
    field = other.locator("input[type=file]")
    copy = {"name": "copy.capsule.json", "mimeType": "application/json", "buffer": capsule}
    field.set_input_files(copy)  # pyright: ignore[reportArgumentType]  # a file in memory
    expect(other.get_by_text("Complete: everything that can be derived holds")).to_be_visible()

    field.set_input_files(copy | {"name": "changed.capsule.json", "buffer": tampered(capsule)})  # pyright: ignore[reportArgumentType]  # the same
    expect(other.get_by_text("Broken at:")).to_be_visible()
    found = states(other)
    assert [found["envelope"], found["signature"], found["data"]] == ["ok", "broken", "not_checked"]
    other.scroll_into_view_if_needed()
    picture("2-tampered")

    field.set_input_files(copy | {"name": "notes.txt", "buffer": b"not a capsule"})  # pyright: ignore[reportArgumentType]  # the same
    expect(other.get_by_role("alert")).to_contain_text("is not a capsule")
    picture("3-no-capsule")
