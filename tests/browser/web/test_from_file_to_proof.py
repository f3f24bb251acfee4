"""The whole way of a file that was never seen before: read, joined, asked about, corrected; every answer verifies."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.web.person import Picture, ask_and_see, open_app
from tests.browser.web.test_own_data import SALES, drop, tray, verified

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui")]

# Of a customer that sales name, nothing is known: the join is no certain one, and is proposed.
CUSTOMERS = "customer_id;segment\n1;private\n2;trade\n3;private\n"
OTHERS = ("Total amount by segment", "Average amount by shop", "How many sales per month")


def test_a_file_becomes_answers_that_verify(serve: Callable[..., str], page: Page, picture: Picture) -> None:
    address = serve()
    open_app(page, address)
    drop(page, "sales.csv", SALES)
    question = tray(page).get_by_role("group", name=re.compile("sold"))
    question.get_by_role("radio", name=re.compile("day first")).check()
    tray(page).get_by_role("button", name="Read the file").click()
    expect(tray(page).get_by_text("sales is ready.")).to_be_visible()

    open_app(page, address, "/data/sales")
    page.get_by_role("button", name=re.compile("amount")).first.click()
    expect(page.get_by_text("different values").or_(page.get_by_text("distinct")).first).to_be_visible()
    picture("1-profile")

    with page.expect_file_chooser() as chooser:
        page.get_by_text("Add a table").first.click()
    chooser.value.set_files({"name": "customers.csv", "mimeType": "text/csv", "buffer": CUSTOMERS.encode()})
    expect(tray(page).get_by_text("sales is ready.")).to_be_visible()
    open_app(page, address, "/data/sales?view=catalog")
    proposed = page.get_by_role("list", name="Proposed joins")
    expect(proposed).to_contain_text("15 of 60 rows would find none")
    picture("2-proposed")
    proposed.get_by_role("button", name=re.compile("^Use it")).click()
    page.get_by_role("button", name="Save the joins").click()
    expect(page.get_by_role("button", name="Save the joins")).to_have_count(0)

    open_app(page, address, "/?dataset=sales")
    chips = page.get_by_role("list", name="Questions to begin with").get_by_role("listitem")
    expect(chips).to_have_count(6)
    picture("3-questions")
    asked = [chips.nth(number).inner_text().strip() for number in range(6)]
    for count, text in enumerate((*asked, *OTHERS), 1):
        ask_and_see(page, text, count)
    picture("4-answered")

    open_app(page, address, "/data/sales?view=reading")
    page.get_by_role("combobox", name="Read sold as").select_option("month-first")
    page.get_by_role("button", name="Read it so").click()
    expect(tray(page).get_by_text("sales is ready.")).to_be_visible()
    open_app(page, address, "/?dataset=sales")
    ask_and_see(page, OTHERS[0])
    picture("5-asked-again")
    # With one table, with two, and corrected.
    assert len(verified(page, address, "sales")) == 3
