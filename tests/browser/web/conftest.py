"""The page of every journey is watched: no complaint, no blocked load, no request to another host."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from tests.browser.conftest import PATIENCE_MS

WIDE = {"width": 1280, "height": 900}
_CONFESS = """
addEventListener("securitypolicyviolation", (event) =>
  console.error(`blocked by policy: ${event.violatedDirective} ${event.blockedURI}`), true);
"""


@dataclass
class Watch:
    """`expects("404")` forgives complaints of a journey that goes where nothing is."""

    complaints: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    forgiven: list[str] = field(default_factory=list)

    def expects(self, pattern: str) -> None:
        self.forgiven.append(pattern)

    def over(self, context: BrowserContext) -> None:
        context.add_init_script(_CONFESS)
        context.on("page", self._listen)

    def _listen(self, page: Page) -> None:
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(f"{error.name}: {error.message}"))
        page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(f"{message.text} [{message.location.get('url', '')}]")

    def verdict(self) -> None:
        left = [text for text in self.complaints if not any(re.search(one, text) for one in self.forgiven)]
        assert left == []
        # The server under test is the only one; data: and blob: have no host.
        assert [host for host in self.hosts if host and urlsplit(f"//{host}").hostname != "localhost"] == []
        assert len(self.hosts - {""}) <= 1


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def look() -> dict[str, object]:
    """How the browser looks at the page: override it for another size, theme or zone."""
    return {}


@pytest.fixture
def page(browser: Browser, watch: Watch, look: dict[str, object]) -> Iterator[Page]:
    options = {
        "viewport": WIDE,
        "locale": "en-GB",
        "timezone_id": "Europe/Berlin",
        "reduced_motion": "reduce",
    }
    context = browser.new_context(**(options | look))  # pyright: ignore[reportArgumentType]  # as Playwright names them
    watch.over(context)
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE_MS)
    yield opened
    context.close()
    watch.verdict()
