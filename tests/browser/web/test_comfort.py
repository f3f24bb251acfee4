"""Keys, palette, themes, sizes, and the viewer's own time."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.web.person import (
    CHIP,
    Picture,
    answer,
    ask_and_see,
    details,
    open_app,
    open_details,
    question_box,
)

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui")]


def no_sideways_scrolling(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_everything_is_done_by_keys(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    ask_and_see(page, "Average rating by category")
    page.get_by_role("heading", level=2).last.click()
    page.keyboard.press("/")
    expect(question_box(page)).to_be_focused()
    page.keyboard.type("d/?")
    expect(question_box(page)).to_have_value("d/?")
    question_box(page).fill("")
    page.get_by_role("heading", level=2).last.click()
    page.keyboard.press("d")
    expect(details(page)).to_be_visible()
    page.keyboard.press("d")
    expect(details(page)).to_be_hidden()
    page.keyboard.press("e")
    expect(page.get_by_role("textbox", name="Edit question")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("textbox", name="Edit question")).to_be_hidden()
    page.get_by_role("heading", level=2).last.click()
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(sheet).to_contain_text("Write a question")
    picture("1-keys")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()

    page.keyboard.press("ControlOrMeta+k")
    palette = page.get_by_role("dialog", name="Commands")
    expect(palette).to_be_visible()
    picture("2-palette")
    page.keyboard.type("sensor")
    expect(palette.get_by_role("option").first).to_contain_text("Sensor")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("sensors"))
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("go to runs")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/runs$"))


@pytest.mark.parametrize("look", [{"color_scheme": "dark"}], ids=["as-the-system"])
def test_dark_is_designed(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    picture("1-welcome")
    ask_and_see(page, CHIP)
    expect(answer(page).locator(".plot-container")).to_be_visible()
    open_details(page, "SQL")
    expect(details(page).locator(".cm-content").first).to_be_visible()
    picture("2-answer")
    page.goto(f"{served}/data/ecommerce?view=relationships")
    expect(page.get_by_role("img", name=re.compile("Relationships"))).to_be_visible()
    picture("3-relationships")
    page.get_by_role("button", name="Theme").click()
    page.get_by_role("menuitemradio", name="Light").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")


@pytest.mark.parametrize(
    "look", [{"viewport": {"width": 380, "height": 760}, "has_touch": True}], ids=["phone"]
)
def test_a_small_screen_has_everything(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    expect(page.get_by_role("button", name=CHIP, exact=True)).to_be_visible()
    no_sideways_scrolling(page)
    picture("1-welcome")
    ask_and_see(page, CHIP)
    expect(answer(page).locator(".plot-container")).to_be_visible()
    no_sideways_scrolling(page)
    picture("2-answer")
    answer(page).get_by_role("grid").scroll_into_view_if_needed()
    picture("3-table")
    for tab in ("Reading", "Plan", "SQL", "Log", "Proof"):
        open_details(page, tab)
        picture(f"4-{tab}")
    details(page).get_by_role("button", name="Close details").click()
    expect(details(page)).to_be_hidden()
    page.get_by_role("button", name="Open the menu").click()
    menu = page.get_by_role("dialog", name="Menu")
    expect(menu.get_by_role("link", name=re.compile("Return rate")).first).to_be_visible()
    picture("5-menu")
    menu.get_by_role("link", name="Runs").click()
    expect(menu).to_be_hidden()
    expect(page.get_by_role("list", name="Runs").get_by_role("listitem").first).to_be_visible()
    no_sideways_scrolling(page)
    picture("6-runs")
    page.goto(f"{served}/data/ecommerce")
    expect(page.get_by_role("grid").first).to_be_visible()
    no_sideways_scrolling(page)
    picture("7-data")


@pytest.mark.parametrize("look", [{"viewport": {"width": 1920, "height": 1080}}], ids=["desk"])
def test_a_large_screen_is_used(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    ask_and_see(page, CHIP)
    expect(answer(page).locator(".plot-container")).to_be_visible()
    open_details(page, "Reading")
    picture("answer")
    no_sideways_scrolling(page)


@pytest.mark.parametrize("look", [{"timezone_id": "Asia/Tokyo", "locale": "de-DE"}], ids=["tokyo"])
def test_times_are_the_viewers(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    ask_and_see(
        page,
        "SELECT TIMESTAMPTZ '2025-03-01 20:00:00+00' AS happened, 1234567.5 AS amount FROM orders LIMIT 1",
    )
    grid = answer(page).get_by_role("grid")
    picture("time")
    expect(grid.get_by_role("gridcell").first).to_contain_text("5:00")
    expect(grid.get_by_role("gridcell").nth(1)).to_have_text("1.234.567,5")
