"""A question back offers the readings that were weighed; choosing one runs it, without typing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import serving
from tests.browser.web.axe import violations
from tests.browser.web.person import Picture, answers, ask, ends, newest_run, open_app

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui", "axe")]
READING = "Number of orders"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """A server with the reader that the product ships."""
    with serving(tmp_path) as start:
        yield start()


def test_a_reading_is_chosen(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    ask(page, "how busy were we")
    asked = answers(page).first
    choice = asked.get_by_role("button", name=READING).first
    expect(choice).to_be_visible()
    assert violations(page) == []
    picture("1-choices")

    choice.click()
    ends(page, "succeeded", 2)
    run = newest_run(page, served)
    assert run["origin"]["proposer"] == "builtin-reader"
    picture("2-chosen")
