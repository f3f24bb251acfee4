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
    expect(grid.get_by_role("gridcell").first).to_contain_text("5:00")
    expect(grid.get_by_role("gridcell").nth(1)).to_have_text("1.234.567,5")
    expect(answer(page).locator("p time")).to_contain_text("5:00")
    picture("time")


@pytest.mark.parametrize("look", [{"timezone_id": "America/New_York"}], ids=["new-york"])
def test_a_sentence_tells_the_same_time_as_its_table(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    said = ask_and_see(page, "SELECT TIMESTAMPTZ '2025-06-01 20:30:00+00' AS happened FROM orders LIMIT 1")
    moment = said.locator("p time")
    expect(moment).to_have_text("1 June 2025 at 16:30")
    expect(moment).to_have_attribute("title", "1 June 2025, 20:30 UTC")
    grid = said.get_by_role("grid")
    expect(grid.get_by_role("gridcell")).to_have_text("1 Jun 2025, 16:30")
    expect(grid.get_by_role("columnheader", name="happened")).to_contain_text("time in your zone")
    picture("a-moment")

    # Without a zone it is what the data's own clock said.
    said = ask_and_see(page, "SELECT TIMESTAMP '2025-06-01 20:30:00' AS happened FROM orders LIMIT 1", 2)
    expect(said).to_contain_text("1 June 2025, 20:30")
    expect(said.locator("p time")).to_have_count(0)
    expect(said.get_by_role("gridcell")).to_have_text("1 Jun 2025, 20:30")

    # A month is no moment: in New York it would begin on the last day of the one before.
    monthly = (
        "SELECT date_trunc('month', order_date::TIMESTAMPTZ) AS month, count(*) AS orders FROM orders "
        "WHERE order_date < DATE '2024-04-01' GROUP BY 1 ORDER BY 1"
    )
    said = ask_and_see(page, monthly, 3)
    expect(said).to_contain_text("in January")
    expect(said.get_by_role("gridcell").first).to_have_text("1 Jan 2024")
    expect(said.locator(".xtick text").first).to_contain_text(re.compile("Jan.*2024"))
    picture("months")


@pytest.mark.parametrize("look", [{"viewport": {"width": 1280, "height": 800}}], ids=["laptop"])
@pytest.mark.parametrize("question", [CHIP, "Revenue by region and channel"])
def test_sentence_chart_and_first_rows_are_seen_at_once(
    served: str, page: Page, picture: Picture, question: str
) -> None:
    open_app(page, served)
    said = ask_and_see(page, question)
    expect(said.locator(".plot-container")).to_be_visible()
    picture("answer")
    expect(said.locator("p").first).to_be_in_viewport(ratio=1)
    expect(said.get_by_role("figure")).to_be_in_viewport(ratio=1)
    first = said.get_by_role("grid").get_by_role("row").nth(1).bounding_box()
    box = question_box(page).bounding_box()
    assert first and box and first["y"] + first["height"] < box["y"]


@pytest.mark.parametrize("look", [{"viewport": {"width": 380, "height": 760}}], ids=["phone"])
def test_no_line_begins_with_a_dot(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    line = ask_and_see(page, CHIP).locator("p", has=page.locator("[data-status]"))
    expect(line).to_contain_text("sealed")
    picture("state")
    dots = line.locator("[aria-hidden]", has_text="·")
    edge = line.bounding_box()
    assert edge
    for width in (380, 340, 300):
        page.set_viewport_size({"width": width, "height": 760})
        for dot in dots.all():
            place = dot.bounding_box()
            assert place
            # Either between two parts, or cut off at the edge.
            assert place["x"] > edge["x"] + 20 or place["x"] + place["width"] <= edge["x"], width
    picture("narrower")
