"""An analysis in three steps of Python: watched, opened again, approved cell by cell, stopped, compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.agent.analysis.declared import settings_for
from tests.agent.analysis.trips import ADVICE, FIRST, LAST, QUESTION, STEPS, Model
from tests.agent.models.scripted import Late, Request, Say, Step, start_scripted
from tests.browser.conftest import serving
from tests.browser.web.axe import violations
from tests.browser.web.person import (
    Picture,
    answer,
    answers,
    ask,
    details,
    fetched,
    newest_run,
    open_app,
    open_details,
)

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui")]

THINKING_S = 0.8
ENDLESS = "rounds = 0\nwhile True:\n    rounds += 1"
ERROR = "KeyError: 'Column not found: Revenue'."
SENTENCE = "had the lowest change, at -917,873"
LOOKS = [{"color_scheme": "dark"}, {"viewport": {"width": 380, "height": 760}, "has_touch": True}]


class Slow(Model):
    """Takes its time, so that what happens meanwhile can be seen. Some questions go another way."""

    def __call__(self, request: Request) -> Step:
        said = super().__call__(request)
        assert isinstance(said, Say)
        code = self._other(request.prompt) if self.tasks[-1] == "write_code" else None
        return Late(THINKING_S, Say({"thought": "I write it.", "code": code}) if code else said)

    def _other(self, prompt: str) -> str | None:
        if "for ever" in prompt:
            return ENDLESS
        if "forbidden" in prompt and '"number":2' in prompt:
            return "import os"
        return None


def start(home: Path, **more: str) -> Iterator[str]:
    with start_scripted(Slow()) as model, serving(home) as serve:
        yield serve(**settings_for(model, home / "data"), **more)


@pytest.fixture(scope="module")
def analysing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from start(tmp_path_factory.mktemp("analysing"))


@pytest.fixture(scope="module")
def careful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that asks before it runs anything."""
    yield from start(tmp_path_factory.mktemp("careful"), APPROVAL="sql")


def step(page: Page, goal: str) -> Locator:
    return answer(page).get_by_role("listitem", name=goal)


def ends(page: Page, status: str, count: int = 1) -> Locator:
    """The newest answer, once it has ended so. Its own state stands before those of its steps."""
    expect(answers(page)).to_have_count(count)
    expect(answer(page).get_by_role("button", name="Answer again")).to_be_visible()
    expect(answer(page).locator("[data-status]").first).to_have_attribute("data-status", status)
    return answer(page)


def fits(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def is_whole(page: Page) -> None:
    """The answer with the artifacts that its words have places for, and no other."""
    said = answer(page)
    expect(said).to_contain_text(SENTENCE)
    expect(said).not_to_contain_text("[[")
    expect(said.locator("[data-artifact=table-2]").get_by_role("grid")).to_contain_text("Oslo")
    expect(said.locator("[data-artifact=plot-1] .plot-container")).to_be_visible()
    expect(said.locator("[data-artifact]")).to_have_count(2)


@pytest.mark.parametrize("look", LOOKS, ids=["dark", "phone"])
def test_steps_are_watched_and_opened_again(analysing: str, page: Page, picture: Picture) -> None:
    open_app(page, analysing)
    ask(page, QUESTION)
    expect(answer(page).get_by_text(f"3. {STEPS[2]}")).to_be_visible()
    expect(step(page, STEPS[0]).get_by_role("region", name="Python code")).to_be_visible()
    picture("1-first-step")
    second = step(page, STEPS[1])
    expect(second.get_by_text(ADVICE["diagnosis"])).to_be_visible()
    expect(second.get_by_text(ERROR)).to_be_visible()
    picture("2-diagnosed")
    expect(second.get_by_text("Corrected code")).to_be_visible()
    expect(step(page, "Draw a chart of the result")).to_be_visible()
    picture("3-chart")
    ends(page, "succeeded")
    is_whole(page)
    assert fits(page)
    picture("4-answered")
    assert violations(page) == []

    answer(page).get_by_text("Worked out in 4 steps, one correction").click()
    expect(second.get_by_text("I write step 2.").first).to_be_visible()
    steps_hold(page)
    picture("5-opened")
    assert violations(page) == []
    assert fits(page)

    page.reload()
    is_whole(page)
    picture("6-after-a-reload")
    answer(page).get_by_text("Worked out in 4 steps, one correction").click()
    steps_hold(page)
    expect(second.get_by_text("I write step 2.").first).to_be_visible()
    expect(second.get_by_text(ADVICE["diagnosis"])).to_be_visible()
    picture("7-opened-again")


def steps_hold(page: Page) -> None:
    """Every step has its code, what it printed, what it showed on the way, and what went wrong."""
    first, second, third = (step(page, goal) for goal in STEPS)
    expect(first.locator("[data-status=succeeded]")).to_be_visible()
    first.get_by_text("Code", exact=True).click()
    expect(first.get_by_role("region", name="Python code")).to_contain_text("trips_by_month")
    expect(first.get_by_role("region", name="Output")).to_contain_text("months: ['2025-01', '2025-02']")
    expect(second.get_by_text(ERROR)).to_be_visible()
    second.get_by_text("First code").click()
    expect(second.get_by_role("region", name="Errors of the code")).to_contain_text("KeyError")
    second.get_by_text("Corrected code").click()
    expect(second.locator("[data-artifact=table-1]").get_by_role("grid")).to_be_visible()
    third.get_by_text("Code", exact=True).click()
    expect(third).to_contain_text("In the answer: table 2")
    second.scroll_into_view_if_needed()


def test_details_show_the_code(analysing: str, page: Page, picture: Picture) -> None:
    open_app(page, analysing)
    ask(page, QUESTION)
    ends(page, "succeeded")
    panel = open_details(page, "Code")
    expect(panel.get_by_role("tab")).to_have_text(["Reading", "Code", "Log", "Proof"])
    expect(panel.get_by_role("region", name="Python code")).to_contain_text("final_df")
    expect(panel.get_by_text("Approved.")).to_be_visible()
    picture("1-code")
    assert violations(page) == []
    panel.get_by_role("tab", name="Log").click()
    expect(panel.get_by_text("worst change: -917873")).to_be_visible()
    picture("2-log")
    panel.get_by_role("tab", name="Reading").click()
    expect(panel).to_contain_text("openai:scripted")
    picture("3-reading")
    panel.get_by_role("tab", name="Proof").click()
    panel.get_by_role("button", name="Verify", exact=True).click()
    expect(panel.get_by_text("Complete: everything that can be derived holds")).to_be_visible()
    picture("4-proof")
    runs = fetched(page, f"{analysing}/runs?limit=5")["runs"]
    by_code = {run["python"]: run["run_id"] for run in runs}
    open_app(page, analysing, f"/compare?a={by_code[FIRST]}&b={by_code[LAST]}")
    expect(page.get_by_role("region", name="Differences of the code")).to_contain_text("final_df")
    picture("5-compared")
    assert violations(page) == []


@pytest.mark.parametrize("look", LOOKS, ids=["dark", "phone"])
def test_a_person_approves_code(careful: str, page: Page, picture: Picture) -> None:
    open_app(page, careful)
    ask(page, QUESTION)
    approval = page.get_by_role("region", name="Approval")
    expect(approval.get_by_role("region", name="Python code")).to_have_text(FIRST)
    assert (
        fetched(page, f"{careful}/runs?limit=1")["runs"] == [] or newest_run(page, careful)["python"] != FIRST
    )
    picture("1-asked")
    assert violations(page) == []
    assert fits(page)
    # Nobody need decide at once: the code is still there after a reload.
    page.reload()
    expect(approval.get_by_role("region", name="Python code")).to_have_text(FIRST)
    picture("2-after-a-reload")
    approval.get_by_role("button", name="Approve and run").click()
    expect(approval.get_by_role("region", name="Python code")).to_contain_text('["Revenue"]')
    expect(step(page, STEPS[0]).locator("[data-status=succeeded]")).to_be_visible()
    picture("3-second-step")

    mine = 'totals = trips_by_month.groupby(["city", "vehicle", "month"], as_index=False)["revenue"].sum()\ntotals'
    approval.get_by_role("button", name="Edit").click()
    approval.get_by_role("textbox", name="Python code").fill(mine)
    picture("4-edited")
    approval.get_by_role("button", name="Run the edited code").click()
    expect(approval.get_by_role("region", name="Python code")).to_have_text(LAST)
    run = newest_run(page, careful)
    assert (run["python"], run["status"], run["origin"]) == (mine, "succeeded", None)
    page.reload()
    approval.get_by_role("button", name="Approve and run").click()
    expect(approval.get_by_role("region", name="Python code")).to_contain_text("px.bar")
    approval.get_by_role("button", name="Approve and run").click()
    ends(page, "succeeded")
    is_whole(page)
    answer(page).get_by_text("Worked out in 4 steps", exact=True).click()
    expect(step(page, STEPS[0]).locator("[data-status=succeeded]")).to_be_visible()
    picture("5-answered")
    page.reload()
    is_whole(page)


def test_a_person_rejects_code(careful: str, page: Page, picture: Picture) -> None:
    open_app(page, careful)
    ask(page, QUESTION)
    approval = page.get_by_role("region", name="Approval")
    approval.get_by_role("button", name="Approve and run").click()
    expect(approval.get_by_role("region", name="Python code")).to_contain_text('["Revenue"]')
    approval.get_by_role("button", name="Reject").click()
    expect(ends(page, "rejected").get_by_role("note")).to_contain_text("nothing more was run")
    picture("1-rejected")
    page.reload()
    expect(ends(page, "rejected").get_by_role("note")).to_contain_text("nothing more was run")
    expect(answer(page).get_by_role("button", name="See the code")).to_be_hidden()
    answer(page).get_by_text("One step of the analysis").click()
    expect(step(page, STEPS[0]).locator("[data-status=succeeded]")).to_be_visible()
    picture("2-after-a-reload")
    assert violations(page) == []


def test_stop_ends_the_cell(analysing: str, page: Page, picture: Picture) -> None:
    open_app(page, analysing)
    ask(page, "Use Python to count for ever")
    expect(step(page, STEPS[0]).locator("[data-status=running]")).to_be_visible()
    expect(answer(page).get_by_role("status").first).to_contain_text("sealed sandbox")
    assert newest_run(page, analysing)["status"] == "running"
    picture("1-running")
    page.get_by_role("button", name="Stop").click()
    ends(page, "cancelled")
    assert newest_run(page, analysing)["status"] == "cancelled"
    picture("2-stopped")
    page.reload()
    expect(answer(page)).to_contain_text("Stopped.")
    # The session lives: its next cell runs at once.
    ask(page, QUESTION)
    ends(page, "succeeded", 2)
    is_whole(page)
    picture("3-and-on")


def test_an_analysis_that_is_given_up_says_where(analysing: str, page: Page, picture: Picture) -> None:
    open_app(page, analysing)
    ask(page, "Use Python for what is forbidden")
    refused = ends(page, "rejected")
    expect(refused.get_by_role("note")).to_contain_text("could not be finished at step 2")
    expect(refused).not_to_contain_text("[[")
    picture("1-given-up")
    assert violations(page) == []
    refused.get_by_role("button", name="See the code").click()
    expect(details(page).get_by_role("region", name="Python code")).to_contain_text("import os")
    picture("2-code")
    page.reload()
    expect(ends(page, "rejected").get_by_role("note")).to_contain_text("could not be finished at step 2")
    answer(page).get_by_text(re.compile("2 steps of the analysis")).click()
    picture("3-after-a-reload")
