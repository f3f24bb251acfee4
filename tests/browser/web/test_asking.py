"""From the first visit to an answer, on to the next question, and back to a thread."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.web.person import (
    CHIP,
    SEND_AT_ONCE,
    Picture,
    answer,
    answers,
    ask,
    ask_and_see,
    ends,
    open_app,
    question_box,
)

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui")]

_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) {
    const what = entry.sources.map((one) => one.node?.outerHTML?.slice(0, 120));
    window.shifts.push({ value: entry.value, what });
  }
}).observe({ type: "layout-shift", buffered: true });
"""
MOST_SHIFT = 0.1
# What the page has read of a question's stream, piece by piece.
_PIECES = """
window.pieces = [];
const plain = window.fetch;
window.fetch = async (...given) => {
  const response = await plain(...given);
  if (!/\\/runs\\/stream$/.test(new URL(response.url).pathname)) return response;
  const [mine, theirs] = response.body.pipeThrough(new TextDecoderStream()).tee();
  mine.pipeTo(new WritableStream({ write: (piece) => { window.pieces.push(piece); } }));
  return new Response(theirs.pipeThrough(new TextEncoderStream()), response);
};
"""


def test_a_first_visit_ends_in_an_answer_with_its_evidence(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    expect(page.get_by_role("list", name="Questions to begin with").get_by_role("button")).to_have_count(6)
    picture("1-welcome")
    page.get_by_role("button", name=CHIP, exact=True).click()
    said = ends(page, "succeeded")
    expect(said).to_contain_text("Apparel")
    expect(said.get_by_role("figure").locator(".plot-container")).to_be_visible()
    expect(said.get_by_role("grid")).to_have_attribute("aria-rowcount", "10")
    expect(
        said.get_by_role("list", name="What you could ask next").get_by_role("button").first
    ).to_be_visible()
    expect(page).to_have_url(re.compile(r"/t/[0-9a-f-]{36}"))
    picture("2-answer")


def test_a_follow_up_goes_on_from_the_answer_before(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    ask_and_see(page, "Average rating by category")
    said = ask_and_see(page, "now only for Electronics", 2)
    expect(said).to_contain_text("Electronics")
    picture("follow-up")
    page.reload()
    expect(answers(page)).to_have_count(2)
    # One number is written large, above its table.
    expect(answer(page).get_by_role("figure")).to_contain_text("3.82 stars")
    expect(page.get_by_role("heading", name="now only for Electronics", level=2)).to_be_visible()
    picture("after-a-reload")


def test_a_question_back_offers_what_could_be_meant(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    ask(page, "Show me the best products")
    expect(answer(page)).to_contain_text("what best is about")
    expect(answer(page).get_by_role("grid")).to_have_count(0)
    picture("1-asked-back")
    answer(page).get_by_role("button", name="Top 10 products by revenue in the last 90 days").click()
    ends(page, "succeeded", 2)
    picture("2-answered")


def test_another_dataset_is_chosen_and_kept(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    page.get_by_role("region", name="Dataset").get_by_role("button", name=re.compile("Support")).click()
    expect(page.get_by_role("textbox", name="Question")).to_have_attribute(
        "placeholder", "Ask about Support tickets"
    )
    picture("1-chosen")
    ask_and_see(page, "Average CSAT by channel")
    picture("2-answer")
    page.goto(served)
    expect(page.get_by_role("button", name="Average CSAT by channel", exact=True)).to_be_visible()


def test_nothing_jumps_while_an_answer_comes_in(served: str, page: Page) -> None:
    page.add_init_script(_SHIFTS)
    open_app(page, served)
    ask_and_see(page, "Monthly revenue in 2025")
    expect(answer(page).locator(".plot-container")).to_be_visible()
    # Long after the click that asked, when shifts count.
    ask_and_see(page, "split it by channel", 2)
    page.wait_for_timeout(600)
    shifts = page.evaluate("window.shifts")
    assert sum(one["value"] for one in shifts) < MOST_SHIFT, shifts


def test_whoever_is_quicker_than_the_page_loses_nothing(served: str, page: Page, picture: Picture) -> None:
    held: list[Route] = []
    page.route("**/datasets", lambda route: held.append(route))
    page.goto(served)
    question_box(page).press_sequentially("How many orders are there?")
    question_box(page).press("Enter")
    expect(page.get_by_text("Your question is sent as soon as the data is there.")).to_be_visible()
    expect(question_box(page)).to_have_value("How many orders are there?")
    picture("waits")
    for route in held:
        route.continue_()
    ends(page, "succeeded")
    expect(question_box(page)).to_have_value("")


def test_a_question_sent_before_the_page_is_ready_is_answered(served: str, page: Page) -> None:
    """Written in the moment in which the field appears, on a machine that is slow to run the page's effects."""
    page.add_init_script(
        f"""
        // React's scheduler takes this one where it is there.
        window.setImmediate = (work) => setTimeout(work, 200);
        const seen = new MutationObserver(() => {{
          if (!document.getElementById("question")) return;
          seen.disconnect();
          ({SEND_AT_ONCE})("How many orders are there?");
        }});
        addEventListener("DOMContentLoaded", () =>
          seen.observe(document.documentElement, {{ childList: true, subtree: true }}));
        """
    )
    page.goto(served)
    expect(page.get_by_role("heading", level=2, name="How many orders are there?")).to_be_visible()
    ends(page, "succeeded")


def test_the_first_event_does_not_wait_for_the_answer(served: str, page: Page) -> None:
    """A page that shows what is happening needs the events one by one, not all of them at the end."""
    open_app(page, served)
    ask_and_see(page, "Average rating by category")
    page.evaluate(_PIECES)
    ask_and_see(page, "Revenue by region and channel", 2)
    pieces = page.evaluate("window.pieces")
    begun = next(piece for piece in pieces if "event: metadata" in piece)
    assert "Latin America" not in begun
    assert "Latin America" in "".join(pieces)
