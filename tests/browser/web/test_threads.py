"""Conversations: edited into branches, answered again, found, renamed, deleted, linked to."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.web.conftest import Watch
from tests.browser.web.person import (
    SEND_AT_ONCE,
    WRITE_AT_ONCE,
    Picture,
    answer,
    ask_and_see,
    ends,
    newest_run,
    open_app,
    question_box,
)

CHANNELS = "Number of orders by channel"
SUPPLIERS = "Number of products by supplier"

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui")]


def listed(page: Page, title: str) -> Locator:
    return page.get_by_role("navigation", name="Main").get_by_role("link", name=title, exact=True)


def act(page: Page, title: str, what: str) -> None:
    listed(page, title).hover()
    page.get_by_role("button", name=f"Actions for {title}").click()
    page.get_by_role("menuitem", name=what).click()


def test_an_edited_question_is_a_branch_and_the_first_one_stays(
    served: str, page: Page, picture: Picture
) -> None:
    open_app(page, served)
    ask_and_see(page, "Average rating by category")
    page.get_by_role("heading", level=2, name="Average rating by category").hover()
    page.get_by_role("button", name="Edit question").click()
    page.get_by_role("textbox", name="Edit question").fill("Average rating by customer tier")
    picture("1-editing")
    page.get_by_role("textbox", name="Edit question").press("Enter")
    expect(page.get_by_role("heading", level=2, name="Average rating by customer tier")).to_be_visible()
    ends(page, "succeeded")
    expect(page.get_by_text("2/2")).to_be_visible()
    picture("2-branch")
    page.get_by_role("button", name="Previous question").click()
    expect(page.get_by_role("heading", level=2, name="Average rating by category")).to_be_visible()
    expect(page.get_by_text("1/2")).to_be_visible()
    expect(answer(page).get_by_role("grid")).to_have_attribute("aria-rowcount", "10")
    picture("3-back")


def test_an_answer_is_made_again(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    ask_and_see(page, "Average rating by category")
    answer(page).get_by_role("button", name="Answer again").click()
    expect(page.get_by_role("button", name="Previous answer")).to_be_visible()
    expect(page.get_by_text("2/2")).to_be_visible()
    ends(page, "succeeded")
    picture("again")


def right_after_new_question(page: Page, act: str, text: str) -> None:
    """One task after the click, when the address is still that of the conversation before."""
    page.evaluate(
        f"""
        async (text) => {{
          const named = (button) => button.textContent.trim() === "New question";
          [...document.querySelectorAll("button")].find(named).click();
          await new Promise((resolve) => setTimeout(resolve));
          ({act})(text);
        }}
        """,
        text,
    )


def test_what_is_typed_right_after_new_question_is_kept(served: str, page: Page) -> None:
    open_app(page, served)
    ask_and_see(page, "Average rating by category")
    first = page.url
    right_after_new_question(page, WRITE_AT_ONCE, "half a question")
    expect(page).to_have_url(served + "/")
    expect(question_box(page)).to_have_value("half a question")
    page.go_back()
    expect(page).to_have_url(first)
    expect(question_box(page)).to_have_value("")


def test_what_is_sent_right_after_new_question_is_a_new_conversation(served: str, page: Page) -> None:
    open_app(page, served)
    ask_and_see(page, "Average rating by category")
    first = page.url
    right_after_new_question(page, SEND_AT_ONCE, "How many orders are there?")
    expect(page.get_by_role("heading", level=2, name="How many orders are there?")).to_be_visible()
    ends(page, "succeeded")
    expect(page).to_have_url(re.compile("/t/"))
    assert page.url != first


def test_the_list_is_searched_renamed_and_thinned(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    ask_and_see(page, "How many orders came by channel?")
    # What was computed, not what was typed; it is still found by that.
    expect(listed(page, CHANNELS)).to_be_visible()
    expect(page).to_have_title(f"{CHANNELS} · Sandtable")
    page.get_by_role("button", name="New question").click()
    ask_and_see(page, "How many products does each supplier have?")
    search = page.get_by_role("searchbox", name="Search questions")
    search.fill("does each supplier")
    expect(listed(page, CHANNELS)).to_be_hidden()
    expect(listed(page, SUPPLIERS)).to_be_visible()
    picture("1-searched")
    search.fill("")

    titles = page.get_by_role("navigation", name="Main").locator("a[href^='/t/']")
    expect(listed(page, CHANNELS)).to_be_visible()
    before = titles.all_inner_texts()
    act(page, CHANNELS, "Rename")
    page.get_by_role("textbox", name=re.compile("New name of")).fill("Channels")
    page.get_by_role("textbox", name=re.compile("New name of")).press("Enter")
    expect(listed(page, "Channels")).to_be_visible()
    # A new name is no news.
    renamed = [title.replace(CHANNELS, "Channels") for title in before]
    page.reload()
    expect(listed(page, "Channels")).to_be_visible()
    assert titles.all_inner_texts() == renamed
    act(page, "Channels", "Rename")
    page.get_by_role("textbox", name=re.compile("New name of")).fill(CHANNELS)
    page.get_by_role("textbox", name=re.compile("New name of")).press("Enter")

    act(page, SUPPLIERS, "Rename")
    name = page.get_by_role("textbox", name=re.compile("New name of"))
    name.fill("Suppliers")
    picture("2-renaming")
    name.press("Enter")
    expect(listed(page, "Suppliers")).to_be_visible()
    page.reload()
    expect(listed(page, "Suppliers")).to_be_visible()

    act(page, "Suppliers", "Delete")
    dialog = page.get_by_role("dialog", name="Delete this conversation?")
    expect(dialog).to_be_visible()
    picture("3-deleting")
    dialog.get_by_role("button", name="Delete").click()
    expect(listed(page, "Suppliers")).to_be_hidden()
    expect(page).to_have_url(served + "/")


def test_links_lead_to_a_thread_and_to_a_run(served: str, page: Page, picture: Picture, watch: Watch) -> None:
    open_app(page, served)
    ask_and_see(page, "Revenue by region and channel")
    address, run_id = page.url, newest_run(page, served)["run_id"]
    open_app(page, served, f"/runs/{run_id}")
    expect(page.get_by_role("main").locator("[data-status=succeeded]")).to_be_visible()
    expect(page.get_by_role("main").get_by_role("grid")).to_be_visible()
    picture("1-run")
    page.goto(address)
    ends(page, "succeeded")
    page.goto(f"{address}?details={run_id}")
    expect(page.get_by_role("complementary", name="Details")).to_be_visible()
    watch.expects("404")
    page.goto(f"{served}/t/6d3e6bb0-0000-4000-8000-000000000000")
    expect(page.get_by_text("There is no conversation at this address.")).to_be_visible()
    picture("2-no-thread")
    page.goto(f"{served}/runs/run_nothing")
    expect(page.get_by_text("This server has no such run")).to_be_visible()
    picture("3-no-run")
