"""What a first visit must load: little, and none of the heavy parts."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Response, expect

from tests.browser.web.person import CHIP

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui")]

MOST_BYTES = 300_000
# Words that stay in a library's code when it is made small.
HEAVY = {"Plotly": "plotly.js", "Mermaid": "mermaid-parser", "CodeMirror": "cm-editor"}


def test_the_first_load_is_small(served: str, page: Page) -> None:
    scripts: list[Response] = []
    page.on("response", lambda r: scripts.append(r) if r.request.resource_type == "script" else None)
    page.goto(served)
    expect(page.get_by_role("button", name=CHIP, exact=True)).to_be_visible()
    page.wait_for_load_state("networkidle")
    sizes = {urlsplit(one.url).path: int(one.headers["content-length"]) for one in scripts}
    assert all(
        one.headers.get("content-encoding") == "gzip" or int(one.headers["content-length"]) < 1024
        for one in scripts
    )
    assert sum(sizes.values()) < MOST_BYTES, sizes
    code = {urlsplit(one.url).path: one.text() for one in scripts}
    found = [f"{name} in {path}" for name, word in HEAVY.items() for path in code if word in code[path]]
    assert found == []
    print(f"first load: {sum(sizes.values()) / 1000:.0f} kB of gzipped JavaScript in {len(sizes)} files")
