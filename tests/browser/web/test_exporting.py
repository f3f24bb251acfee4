"""From a conversation to a page on disk that proves itself, and to the other forms."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.web.person import CHIP, Picture, ask_and_see, open_app, open_details

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui")]


def _saved(page: Page, form: str, folder: Path) -> Path:
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as waiting:
        page.get_by_role("menuitem", name=form).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def _verdict(browser: Browser, file: Path) -> str:
    """What a page says when it is opened from disk, without a network."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    said = page.locator(".verdict").inner_text()
    context.close()
    return said


def test_a_conversation_is_taken_away(
    served: str, page: Page, browser: Browser, picture: Picture, tmp_path: Path
) -> None:
    open_app(page, served)
    ask_and_see(page, CHIP)
    page.get_by_role("button", name="Export").click()
    expect(page.get_by_role("menuitem")).to_have_count(4)
    picture("menu")
    page.keyboard.press("Escape")

    file = _saved(page, "Page that proves itself", tmp_path)
    assert file.suffix == ".html" and _verdict(browser, file).startswith("Checked.")
    assert CHIP in _saved(page, "Markdown", tmp_path).read_text("utf-8")
    book = json.loads(_saved(page, "Notebook", tmp_path).read_text("utf-8"))
    assert any("sandtable.ask(" in cell["source"] for cell in book["cells"])
    [name] = zipfile.ZipFile(_saved(page, "Tables as CSV", tmp_path)).namelist()
    assert name.startswith("01-") and name.endswith(".csv")

    proof = open_details(page, "Proof")
    with page.expect_download() as waiting:
        proof.get_by_role("link", name="Download page").click()
    one = tmp_path / "one.html"
    waiting.value.save_as(one)
    assert _verdict(browser, one).startswith("Checked.")
    picture("proof")
