"""The unmodified stock chat UI at /chat/, driven as a person would."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.agent.analysis.declared import settings_for
from tests.agent.analysis.trips import QUESTION, Model
from tests.agent.models.scripted import start_scripted
from tests.browser.conftest import Serve, serving

pytestmark = [pytest.mark.needs("userns", "chromium", "chat_ui")]

Picture = Callable[[str], None]
DEAD_LINK = "/src/styles.css"
"""The template's own page names a stylesheet that its build does not contain."""


def open_chat(page: Page, address: str) -> None:
    page.goto(f"{address}/chat/")
    expect(page.locator("[data-part=welcome]")).to_be_visible()


def ask(page: Page, question: str) -> None:
    page.get_by_placeholder("Type your message...").fill(question)
    page.get_by_role("button", name="Send").click()


def answers(page: Page, count: int) -> None:
    expect(page.locator("[data-part=answer]")).to_have_count(count)


def complaints(page: Page) -> list[str]:
    return [text for text in page.complaints if DEAD_LINK not in text]  # pyright: ignore[reportAttributeAccessIssue]  # set by the fixture


def test_from_greeting_to_answer_details_follow_up_and_back(
    serve: Serve, page: Page, picture: Picture
) -> None:
    open_chat(page, serve())
    expect(page.locator("[data-part=dataset] option")).to_have_count(3)
    expect(page.locator("[data-part=prompts] button")).to_have_count(6)
    picture("1-greeting")

    page.locator("[data-part=prompts] button").first.click()
    answers(page, 1)
    expect(page.get_by_text("Apparel has the highest return rate")).to_be_visible()
    expect(page.locator("[data-part=chart] rect")).to_have_count(18)
    expect(page.locator("[data-part=progress][data-status=succeeded]").first).to_be_attached()
    picture("2-answer")

    page.locator("[data-part=show-details]").click()
    details = page.locator("[data-part=details]")
    expect(details.locator("tbody tr")).to_have_count(9)
    picture("3-table")
    details.get_by_role("tab", name="Plan").click()
    plan = json.loads(details.locator("pre").inner_text())
    assert plan["group_by"] == ["category"], plan
    details.get_by_role("tab", name="SQL").click()
    expect(details.locator("pre")).to_contain_text(re.compile("select", re.IGNORECASE))
    picture("4-sql")
    details.get_by_role("tab", name="Logs").click()
    expect(details.locator("pre")).to_contain_text("run_")
    picture("5-logs")

    ask(page, "now only for Electronics")
    answers(page, 2)
    picture("6-follow-up")

    page.reload()
    answers(page, 2)
    expect(page.get_by_text("now only for Electronics")).to_be_visible()
    assert complaints(page) == []


def test_another_dataset_is_chosen_and_asked(serve: Serve, page: Page, picture: Picture) -> None:
    open_chat(page, serve())
    page.goto(f"{page.url}&chatHistoryOpen=true")
    expect(page.get_by_role("button", name="New conversation").first).to_be_visible()
    picture("history")
    page.locator("[data-part=dataset]").select_option("support")
    page.wait_for_url(re.compile("assistantId=support"))
    expect(page.get_by_text("Support tickets").first).to_be_visible()
    ask(page, "Average CSAT by channel")
    answers(page, 1)
    picture("answer")
    assert complaints(page) == []


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("DROP TABLE orders", "DROP is not allowed"),
        ("What is the profit margin per warehouse robot?", "I did not understand"),
    ],
    ids=["an-order-to-destroy", "no-such-column"],
)
def test_what_cannot_be_answered_is_said_calmly(
    serve: Serve, page: Page, picture: Picture, message: str, says: str
) -> None:
    open_chat(page, serve())
    ask(page, message)
    expect(page.get_by_text(says).last).to_be_visible()
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    expect(page.locator("[data-part=answer]")).to_have_count(0)
    picture("reply")
    assert complaints(page) == []


def test_sql_runs_only_after_a_person_approved_it(serve: Serve, page: Page, picture: Picture) -> None:
    open_chat(page, serve(APPROVAL="sql"))
    ask(page, "How many orders are there?")
    expect(page.get_by_text("SELECT").first).to_be_visible()
    expect(page.locator("[data-part=answer]")).to_have_count(0)
    picture("1-asked")
    page.get_by_role("button", name=re.compile("Accept|Submit")).first.click()
    answers(page, 1)
    picture("2-approved")
    assert complaints(page) == []


def test_an_analysis_has_its_tables_in_their_places(tmp_path: Path, page: Page, picture: Picture) -> None:
    with start_scripted(Model()) as model, serving(tmp_path) as serve:
        open_chat(page, serve(**settings_for(model, tmp_path / "data")))
        ask(page, QUESTION)
        answers(page, 1)
        said = page.get_by_text("had the lowest change, at -917,873")
        expect(said).to_be_visible()
        picture("answer")
        rows = (
            page.locator("table")
            .filter(has=page.get_by_role("columnheader", name="change"))
            .locator("tbody tr")
        )
        expect(rows).to_have_count(4)
        expect(page.locator("[data-part=chart]")).to_be_visible()
        expect(page.locator("body")).not_to_contain_text("[[")
        page.reload()
        expect(rows).to_have_count(4)
        expect(page.locator("body")).not_to_contain_text("[[")
        assert complaints(page) == []
