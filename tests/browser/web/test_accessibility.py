"""axe finds nothing on any page, in any state, in either theme on a desk, and on a phone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.web.axe import violations
from tests.browser.web.person import CHIP, answer, ask, ask_and_see, details, ends, open_app, open_details

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui", "axe")]

DESK = {"width": 1280, "height": 900}
PHONE = {"width": 380, "height": 760}
LOOKS = [pytest.param({"viewport": size}, id=str(size["width"])) for size in (DESK, PHONE)]
REFUSED = "SELECT category, count(*) FROM order_itmes GROUP BY category"


class Findings:
    """All places of a journey are looked at before it fails: one run shows everything."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.found: list[str] = []

    def at(self, place: str, besides: str = "") -> None:
        # A theme changes colours, a phone the layout: both together find nothing more.
        phone = self.page.viewport_size == PHONE
        for theme in ("light",) if phone else ("light", "dark"):
            self.page.emulate_media(color_scheme=theme)
            expect(self.page.locator("html")).to_have_attribute("data-theme", theme)
            found = [one for one in violations(self.page) if one["rule"] != besides]
            self.found += [f"{place}, {theme}: {one['rule']} {one['where']} {one['what']}" for one in found]

    def none(self) -> None:
        assert self.found == [], "\n".join(self.found)


def is_phone(look: dict[str, Any]) -> bool:
    return look["viewport"] == PHONE


@pytest.mark.parametrize("look", LOOKS)
def test_a_conversation_and_its_details(served: str, page: Page, look: dict[str, Any]) -> None:
    axe = Findings(page)
    open_app(page, served)
    expect(page.get_by_role("button", name=CHIP, exact=True)).to_be_visible()
    axe.at("welcome")
    ask_and_see(page, CHIP)
    expect(answer(page).locator(".plot-container")).to_be_visible()
    axe.at("answer")
    for tab in ("Reading", "Plan", "SQL", "Log", "Proof"):
        panel = open_details(page, tab)
        if tab in {"Plan", "SQL"}:
            expect(panel.locator(".cm-content").first).to_be_visible()
        if tab == "Proof":
            panel.get_by_role("button", name="Verify").click()
            expect(panel.get_by_text("Complete: everything that can be derived holds")).to_be_visible()
        axe.at(f"details, {tab}")
    details(page).get_by_role("button", name="Close details").click()
    answer(page).get_by_role("button", name="Filter by column").click()
    axe.at("filters")
    answer(page).get_by_role("button", name="Expand").click()
    axe.at("expanded table")
    page.keyboard.press("Escape")
    ask(page, REFUSED)
    ends(page, "rejected", 2)
    axe.at("refused")
    answer(page).get_by_role("button", name="Edit the SQL").click()
    details(page).get_by_role("tab", name="SQL").click()
    expect(details(page).locator(".cm-lintRange-error")).to_be_visible()
    axe.at("details, refused SQL")
    axe.none()


@pytest.mark.parametrize("look", LOOKS)
def test_the_other_pages_and_what_opens_over_them(served: str, page: Page, look: dict[str, Any]) -> None:
    axe = Findings(page)
    runs = []
    for sql in ("SELECT 1 AS one", "SELECT 2 AS one", REFUSED):
        body = {"dataset_id": "ecommerce", "sql": sql}
        runs.append(page.request.post(f"{served}/runs?wait=20", data=body).json()["run_id"])
    open_app(page, served, "/data")
    expect(page.get_by_role("article")).to_have_count(3)
    axe.at("data")
    open_app(page, served, "/data/ecommerce")
    expect(page.get_by_role("grid").first).to_be_visible()
    page.get_by_role("button", name=re.compile("^region text Sales")).click()
    axe.at("dataset")
    for view in ("Relationships", "Metrics", "Version"):
        page.get_by_role("tab", name=view).click()
        if view == "Relationships":
            expect(page.get_by_role("img", name=re.compile("Relationships"))).to_be_visible()
        axe.at(f"dataset, {view}")
    open_app(page, served, "/runs")
    page.get_by_role("list", name="Runs").get_by_role("checkbox").first.check()
    axe.at("runs")
    open_app(page, served, f"/runs/{runs[0]}")
    expect(page.get_by_role("grid")).to_be_visible()
    axe.at("run")
    page.get_by_role("button", name="Share").click()
    # A menu belongs to its button, not to a part of the page.
    axe.at("menu", besides="region")
    page.keyboard.press("Escape")
    open_app(page, served, f"/runs/{runs[2]}")
    expect(page.locator("mark")).to_be_visible()
    axe.at("refused run")
    open_app(page, served, f"/compare?a={runs[0]}&b={runs[1]}")
    expect(page.get_by_role("region", name="What ran")).to_be_visible()
    axe.at("compare")
    open_app(page, served, "/compare")
    expect(page.get_by_role("region", name="Choose run A").get_by_role("button").first).to_be_visible()
    axe.at("compare, nothing chosen")
    page.keyboard.press("ControlOrMeta+k")
    expect(page.get_by_role("option").first).to_be_visible()
    axe.at("palette")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    axe.at("keys")
    page.keyboard.press("Escape")
    if is_phone(look):
        page.get_by_role("button", name="Open the menu").click()
        expect(page.get_by_role("dialog", name="Menu")).to_be_visible()
        axe.at("drawer")
    axe.none()
