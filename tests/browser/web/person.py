"""What a person does and sees, by the names that are read aloud."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, expect

Picture = Callable[[str], None]
CHIP = "Return rate and average discount by category, highest return rate first"
# Pairs of 60,000 lines: no machine ends it before a person, or the time limit, does.
ENDLESS = (
    "SELECT count(*) AS pairs FROM order_items AS a CROSS JOIN order_items AS b CROSS JOIN orders AS c "
    "WHERE a.unit_price * b.quantity > b.unit_price + a.quantity + c.order_total"
)


# In one go, quicker than any person and any rendering.
WRITE_AT_ONCE = """
(text) => {
  const box = document.getElementById("question");
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(box, text);
  box.dispatchEvent(new Event("input", { bubbles: true }));
  return box;
}
"""
SEND_AT_ONCE = f"""
(text) => ({WRITE_AT_ONCE})(text).dispatchEvent(
  new KeyboardEvent("keydown", {{ key: "Enter", bubbles: true, cancelable: true }}))
"""


def question_box(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Question", exact=True)


def ask(page: Page, question: str) -> None:
    question_box(page).fill(question)
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
    question_box(page).press("Enter")


def answers(page: Page) -> Locator:
    return page.get_by_role("article", name="Answer")


def answer(page: Page) -> Locator:
    return answers(page).last


def ends(page: Page, status: str, count: int = 1) -> Locator:
    """The newest answer, once `count` answers are there and it has come to this state."""
    expect(answers(page)).to_have_count(count)
    expect(answer(page).locator(f"[data-status={status}]")).to_be_visible()
    return answer(page)


def ask_and_see(page: Page, question: str, count: int = 1) -> Locator:
    ask(page, question)
    return ends(page, "succeeded", count)


def open_app(page: Page, address: str, path: str = "/") -> None:
    page.goto(address + path)
    expect(page.get_by_role("main")).not_to_be_empty()


def details(page: Page) -> Locator:
    """Beside the page on wide windows, a sheet on narrow ones."""
    return page.get_by_role("complementary", name="Details").or_(page.get_by_role("dialog", name="Details"))


def open_details(page: Page, tab: str) -> Locator:
    if not details(page).is_visible():
        answer(page).get_by_role("button", name=re.compile("show details")).click()
    details(page).get_by_role("tab", name=tab).click()
    return details(page)


def write(page: Page, editor: Locator, text: str) -> None:
    """Replaces what an editor holds."""
    editor.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(text)


def fetched(page: Page, address: str) -> Any:
    response = page.request.get(address, headers={"Accept": "application/json"})
    assert response.ok, response.text()
    return response.json()


def newest_run(page: Page, served: str) -> dict[str, Any]:
    return fetched(page, f"{served}/runs?limit=1")["runs"][0]
