"""What was refused is put right by a click; plans and SQL are edited and run again."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.web.person import (
    CHIP,
    Picture,
    ask,
    ask_and_see,
    details,
    ends,
    open_app,
    open_details,
    write,
)

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui")]


def test_a_refusal_is_repaired_by_a_click(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    ask(page, "SELECT category, count(*) AS lines FROM order_itmes GROUP BY category")
    refused = ends(page, "rejected")
    expect(refused.get_by_role("note")).to_contain_text("order_itmes")
    picture("1-refused")
    refused.get_by_role("button", name="Edit the SQL").click()
    details(page).get_by_role("tab", name="SQL").click()
    expect(details(page).locator(".cm-lintRange-error")).to_have_text("order_itmes")
    expect(details(page).get_by_role("button", name="Run again")).to_be_disabled()
    picture("2-underlined")
    details(page).get_by_role("button", name="Use order_items").click()
    expect(details(page).get_by_text("Approved.")).to_be_visible()
    details(page).get_by_role("button", name="Run again").click()
    expect(details(page).locator("[data-status=succeeded]")).to_be_visible()
    expect(details(page).get_by_role("grid")).to_have_attribute("aria-rowcount", "10")
    picture("3-repaired")


def test_what_is_refused_on_purpose_is_said_calmly(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    ask(page, "DROP TABLE orders")
    expect(page.get_by_role("article", name="Answer")).to_contain_text("DROP is not allowed")
    picture("refused")


def test_the_sql_is_edited_and_run_again(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    ask_and_see(page, CHIP)
    panel = open_details(page, "SQL")
    editor = panel.get_by_role("textbox", name="SQL", exact=True)
    write(page, editor, "SELECT category, avg(rating) AS rating FROM order_items GROUP BY")
    expect(panel.get_by_text("Refused")).to_be_visible()
    picture("1-unfinished")
    write(page, editor, "SELECT category, avg(rating) AS rating FROM order_items GROUP BY category")
    expect(panel.get_by_text("Approved.")).to_be_visible()
    page.keyboard.press("ControlOrMeta+Enter")
    expect(panel.get_by_text("Your edited run")).to_be_visible()
    expect(panel.get_by_role("grid").get_by_role("columnheader", name="rating")).to_be_visible()
    picture("2-run-again")
    panel.get_by_role("link", name="Compare with the original").click()
    expect(page).to_have_url(re.compile("/compare"))
    expect(page.get_by_role("region", name="Run B")).to_be_visible()
    picture("3-compared")


def test_the_plan_is_edited_and_run_again(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    ask_and_see(page, "Average rating by category")
    panel = open_details(page, "Plan")
    editor = panel.get_by_role("textbox", name="Plan", exact=True)
    expect(editor).to_contain_text("group_by")
    picture("1-plan")
    plan = {"table": "order_items", "select": [{"column": "sku"}, {"agg": "avg", "column": "ratng"}]}
    write(page, editor, json.dumps(plan | {"group_by": ["sku"], "limit": 5}))
    expect(panel.get_by_text("Refused")).to_be_visible()
    picture("2-refused")
    plan["select"][1]["column"] = "rating"
    write(page, editor, json.dumps(plan | {"group_by": ["sku"], "limit": 5}))
    expect(panel.get_by_text("Approved.")).to_be_visible()
    panel.get_by_role("button", name="Run again").click()
    expect(panel.get_by_text("Your edited run")).to_be_visible()
    expect(panel.get_by_role("grid")).to_have_attribute("aria-rowcount", "6")
    picture("3-run-again")
    panel.get_by_role("button", name="Original").click()
    expect(panel.get_by_text("Your edited run")).to_be_hidden()
