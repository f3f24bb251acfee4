"""Answers that take their time: stopped, timed out, waited for over a reload, approved first."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.agent.models.scripted import KEY, Late, Say, start_scripted
from tests.browser.conftest import serving
from tests.browser.web.person import (
    ENDLESS,
    Picture,
    answer,
    ask,
    details,
    ends,
    newest_run,
    open_app,
    question_box,
)

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui")]

PLAN = {
    "dataset_id": "ecommerce",
    "table": "order_items",
    "select": [{"column": "category"}, {"metric": "return_rate"}],
    "group_by": ["category"],
    "order_by": [{"expr": "return_rate", "dir": "desc"}],
}
THINKING_S = 3.0


@pytest.fixture(scope="module")
def hurried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that ends runs after two seconds, and whose model thinks for three."""
    with (
        start_scripted([Late(THINKING_S, Say({"intent": "plan", "plan": PLAN}))]) as model,
        serving(tmp_path_factory.mktemp("hurried")) as start,
    ):
        yield start(
            TIMEOUT_S="2",
            MODEL="openai:scripted",
            MODEL_BASE_URL=model.base_url("openai"),
            OPENAI_API_KEY=KEY,
            PRIVACY="schema",
        )


@pytest.fixture(scope="module")
def careful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that asks before it runs anything."""
    with serving(tmp_path_factory.mktemp("careful")) as start:
        yield start(APPROVAL="sql")


@pytest.mark.parametrize("by", ["button", "key"])
def test_stop_ends_the_run_itself(served: str, page: Page, picture: Picture, by: str) -> None:
    open_app(page, served)
    ask(page, ENDLESS)
    expect(answer(page).locator("[data-status=running]")).to_be_visible()
    expect(answer(page).get_by_role("status").first).to_contain_text("sealed sandbox")
    picture("1-running")
    assert newest_run(page, served)["status"] == "running"
    if by == "button":
        page.get_by_role("button", name="Stop").click()
    else:
        page.get_by_role("heading", level=2).last.click()
        page.keyboard.press(".")
    ends(page, "cancelled")
    assert newest_run(page, served)["status"] == "cancelled"
    picture("2-stopped")
    page.reload()
    expect(page.get_by_role("heading", name=re.compile("SELECT count"), level=2)).to_be_visible()
    expect(answer(page)).to_be_visible()
    picture("3-after-a-reload")


def test_a_run_out_of_time_brings_advice(hurried: str, page: Page, picture: Picture) -> None:
    open_app(page, hurried)
    ask(page, ENDLESS)
    failed = ends(page, "failed")
    expect(failed.get_by_role("alert")).to_contain_text("stopped after 2 s")
    expect(failed.get_by_role("alert")).to_contain_text(re.compile("filter or aggregate", re.IGNORECASE))
    picture("1-failed")
    failed.get_by_role("button", name="Edit the SQL").click()
    details(page).get_by_role("tab", name="Log").click()
    expect(details(page).get_by_role("region", name="Where the time went")).to_be_visible()
    picture("2-log")


def test_a_reload_in_the_middle_finds_the_answer(hurried: str, page: Page, picture: Picture) -> None:
    open_app(page, hurried)
    ask(page, "Which category is returned most?")
    expect(page).to_have_url(re.compile("/t/"))
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Which category is returned most?", level=2)).to_be_visible()
    picture("1-still-under-way")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    said = ends(page, "succeeded")
    expect(said).to_contain_text("Apparel")
    picture("2-answered")


def test_the_next_question_can_be_written_meanwhile(hurried: str, page: Page) -> None:
    open_app(page, hurried)
    ask(page, "Which category is returned most?")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    question_box(page).fill("and the least?")
    ends(page, "succeeded")
    expect(question_box(page)).to_have_value("and the least?")


def test_a_person_approves_edits_or_rejects_the_sql(careful: str, page: Page, picture: Picture) -> None:
    open_app(page, careful)
    ask(page, "How many orders are there?")
    approval = page.get_by_role("region", name="Approval")
    expect(approval).to_contain_text("SELECT")
    picture("1-asked")
    # Nobody need decide at once: the question is still there after a reload.
    page.reload()
    approval.get_by_role("button", name="Approve and run").click()
    ends(page, "succeeded")
    picture("2-approved")

    ask(page, "How many order items are there?")
    approval.get_by_role("button", name="Edit").click()
    approval.get_by_role("textbox", name="SQL").fill("SELECT 7 AS seven")
    approval.get_by_role("button", name="Run the edited SQL").click()
    expect(ends(page, "succeeded", 2)).to_contain_text("7")

    ask(page, "How many products are there?")
    approval.get_by_role("button", name="Reject").click()
    ends(page, "rejected", 3)
    picture("3-rejected")
