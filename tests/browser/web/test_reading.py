"""How a question was read, in parts under its answer: looked at, changed without typing, kept over a reload."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.web.axe import violations
from tests.browser.web.person import (
    Picture,
    answer,
    ask_and_see,
    ends,
    fetched,
    newest_run,
    open_app,
    open_details,
    question_box,
)

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui", "axe")]

QUESTION = "Please show me revenue by region in 2024"


def parts(of: Locator) -> list[str]:
    """As they are read aloud."""
    chips = of.get_by_role("group", name="How the question was read").get_by_role("listitem")
    return [str(chip.text_content()) for chip in chips.all()]


def chip(page: Page, begins: str) -> Locator:
    return answer(page).get_by_role("button", name=re.compile(f"^{begins}"))


def test_a_part_is_changed_by_the_keyboard(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    first = ask_and_see(page, QUESTION)
    assert parts(first) == [
        "revenue, measure: from “revenue”",
        "by region, grouping: from “by region”",
        "in 2024, time: from “in 2024”",
        "highest revenue first · assumed, order: no word of the question asks for it",
    ]
    expect(first).to_contain_text("Left aside: “Please show me”")
    expect(first.get_by_text("Revenue by region, 2024")).to_be_visible()
    before = newest_run(page, served)

    chip(page, "by region").focus()
    page.keyboard.press("Enter")
    menu = page.get_by_role("menu", name=re.compile("^by region"))
    expect(menu.get_by_role("menuitemradio", checked=True)).to_have_text("region")
    expect(menu.get_by_role("menuitemradio", checked=True)).to_be_focused()
    # A menu belongs to its button, not to a part of the page.
    assert [one for one in violations(page) if one["rule"] != "region"] == []
    picture("1-menu")
    page.keyboard.press("ArrowDown")
    taken = str(menu.get_by_role("menuitemradio").nth(1).text_content())
    page.keyboard.press("Enter")

    second = ends(page, "succeeded", 2)
    expect(page.get_by_role("heading", name=f"Read “region” as “{taken}”")).to_be_in_viewport()
    expect(question_box(page)).to_be_focused()
    assert parts(second)[:3] == [
        "revenue, measure: kept from the answer before",
        f"by {taken}, grouping: chosen by you",
        "in 2024, time: kept from the answer before",
    ]
    after = newest_run(page, served)
    assert after["plan"] != before["plan"] and after["plan"]["time"] == before["plan"]["time"]
    assert after["origin"] is None, "a choice is a person's own plan"
    picture("2-changed")


@pytest.mark.parametrize(
    "look", [{"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}], ids=["390"]
)
def test_readings_and_their_marks_on_a_phone(
    served: str, page: Page, picture: Picture, look: dict[str, object]
) -> None:
    open_app(page, served)
    ask_and_see(page, QUESTION)
    chip(page, "highest revenue first").click()
    page.get_by_role("menuitemradio", name="lowest revenue first").click()
    last = ends(page, "succeeded", 2)
    said = parts(last)
    assert said[-1] == "lowest revenue first, order: chosen by you"
    # A person's own plan: nothing proposed it.
    expect(last.get_by_text("defined", exact=True)).to_be_visible()
    expect(last.get_by_text("read literally", exact=True)).to_have_count(0)
    expect(page.get_by_role("heading", name="as “lowest revenue first”")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    picture("1-changed")

    page.reload()
    ends(page, "succeeded", 2)
    assert parts(answer(page)) == said
    expect(page.get_by_role("button", name="Edit question")).to_have_count(1)
    run = newest_run(page, served)["run_id"]
    assert fetched(page, f"{served}/runs/{run}")["trust"] == ["defined"]
    proof = open_details(page, "Proof").get_by_role("region", name="How the question became the query")
    expect(proof).to_contain_text("definedonly declared metrics and columns")
    proof.scroll_into_view_if_needed()
    picture("2-marks")
