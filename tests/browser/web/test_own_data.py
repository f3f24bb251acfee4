"""A person brings a file that was never seen before: drops it, answers its question, asks, corrects, asks again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.web.person import Picture, ask_and_see, open_app

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui")]

SALES = "\n".join(
    [
        "sold;shop;amount;customer_id",
        *(
            f"{1 + n % 12:02}/{1 + n % 11:02}/2024;{('North', 'South', 'West')[n % 3]};{n * 7},50 €;{1 + n % 4}"
            for n in range(60)
        ),
    ]
)
CUSTOMERS = "customer_id;segment\n1;private\n2;trade\n3;private\n4;public\n"
DROP = """
([name, text]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([text], name));
  for (const type of ["dragenter", "dragover", "drop"])
    document.body.dispatchEvent(new DragEvent(type, { dataTransfer: carried, bubbles: true, cancelable: true }));
}
"""


def drop(page: Page, name: str, text: str) -> None:
    page.evaluate(DROP, [name, text])


def tray(page: Page) -> Locator:
    return page.get_by_role("region", name="Files that are brought in")


def verified(page: Page, address: str, dataset: str) -> set[str]:
    """The versions of the data whose runs verify, every one."""
    runs = page.request.get(f"{address}/runs?dataset_id={dataset}&status=succeeded&limit=50").json()["runs"]
    for run in runs:
        assert page.request.post(f"{address}/runs/{run['run_id']}/verify").json()["ok"]
    return {run["dataset_version"] for run in runs}


def test_a_file_is_dropped_asked_about_and_corrected(
    serve: Callable[..., str], page: Page, picture: Picture
) -> None:
    address = serve()
    open_app(page, address)
    drop(page, "sales.csv", SALES)
    question = tray(page).get_by_role("group", name=re.compile("sold"))
    expect(question).to_be_visible()
    picture("1-asked")
    question.get_by_role("radio", name=re.compile("day first")).check()
    tray(page).get_by_role("button", name="Read the file").click()
    expect(tray(page).get_by_text("sales is ready.")).to_be_visible()
    picture("2-ready")
    tray(page).get_by_role("link", name="Ask about it").click()
    chips = page.get_by_role("list", name="Questions to begin with").get_by_role("listitem")
    expect(chips).to_have_count(6)
    picture("3-questions")
    first = ask_and_see(page, "Total amount by shop")
    expect(first).to_contain_text("€")
    picture("4-answered")

    open_app(page, address, "/data/sales?view=reading")
    sold = page.get_by_role("row", name=re.compile("^sold"))
    expect(sold).to_contain_text("date, day first")
    picture("5-reading")
    page.get_by_role("combobox", name="Read sold as").select_option("month-first")
    page.get_by_role("button", name="Read it so").click()
    expect(tray(page).get_by_text("sales is ready.")).to_be_visible()
    expect(sold).to_contain_text("date, month first")
    picture("6-corrected")
    open_app(page, address, "/?dataset=sales")
    ask_and_see(page, "Total amount by shop")
    assert len(verified(page, address, "sales")) == 2


def test_a_second_file_is_joined(serve: Callable[..., str], page: Page, picture: Picture) -> None:
    address = serve()
    open_app(page, address, "/data")
    files = [
        {
            "name": "sales.csv",
            "mimeType": "text/csv",
            "buffer": SALES.replace("/2024", "/2024 10:00").encode(),
        },
        {"name": "customers.csv", "mimeType": "text/csv", "buffer": CUSTOMERS.encode()},
    ]
    page.get_by_label("Files to add").set_input_files(files)  # pyright: ignore[reportArgumentType] - its own type
    question = tray(page).get_by_role("group").first
    question.get_by_role("radio").first.check()
    tray(page).get_by_role("button", name="Read the file").click()
    expect(tray(page).get_by_text("sales is ready.")).to_be_visible()
    open_app(page, address, "/data/sales?view=relationships")
    expect(page.get_by_role("img", name=re.compile("Relationships"))).to_be_visible()
    picture("1-joined")
    open_app(page, address, "/?dataset=sales")
    ask_and_see(page, "Total amount by segment")
    picture("2-answered")


def test_a_table_is_pasted_and_removed(serve: Callable[..., str], page: Page, picture: Picture) -> None:
    address = serve()
    open_app(page, address, "/data")
    page.get_by_role("button", name="Paste a table").click()
    page.get_by_role("textbox", name="Name of the table").fill("towns")
    page.get_by_role("textbox", name="The table", exact=True).fill(
        "town\tpeople\nBonn\t330000\nUlm\t126000\n"
    )
    picture("1-pasting")
    page.get_by_role("button", name="Use this table").click()
    expect(tray(page).get_by_text("towns is ready.")).to_be_visible()
    tray(page).get_by_role("link", name="See how it was read").click()
    expect(page.get_by_role("row", name=re.compile("^people"))).to_contain_text("whole number")
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Remove it").click()
    expect(page).to_have_url(re.compile("/data$"))
    assert "towns" not in json.dumps(page.request.get(f"{address}/datasets").json())


def test_a_file_that_is_no_table_is_refused_with_what_to_do(
    serve: Callable[..., str], page: Page, picture: Picture
) -> None:
    address = serve()
    open_app(page, address)
    drop(page, "export.csv", "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>")
    expect(tray(page).get_by_role("alert")).to_contain_text("HTML")
    picture("1-refused")
    drop(page, "ragged.csv", "a,b,c\n1,2,3\n4,5\n6,7,8\n")
    card = tray(page).get_by_role("article").last
    card.get_by_role("checkbox").first.check()
    picture("2-repair")
    card.get_by_role("button", name="Read the file").click()
    expect(card.get_by_text("ragged is ready.")).to_be_visible()
