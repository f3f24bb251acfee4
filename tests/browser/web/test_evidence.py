"""Table and chart of an answer: arranged on the page, taken away as files."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import serving
from tests.browser.web.person import CHIP, Picture, answer, ask_and_see, open_app

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui")]

PRODUCTS = "SELECT '=' || sku AS note, sku, category, list_price FROM inventory ORDER BY sku LIMIT 60"


def price_of(grid: Locator) -> float:
    """Of the first row that is shown."""
    shown = grid.get_by_role("row").nth(1).get_by_role("gridcell").nth(3).inner_text()
    return float(re.sub(r"[^0-9.]", "", shown))


def downloaded(page: Page, menu: Locator, kind: str) -> bytes:
    menu.click()
    with page.expect_download() as waiting:
        page.get_by_role("menuitem", name=kind).click()
    return Path(waiting.value.path()).read_bytes()


def test_a_table_is_sorted_and_filtered(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    grid = ask_and_see(page, PRODUCTS).get_by_role("grid")
    price = grid.get_by_role("columnheader", name="list_price")
    price.get_by_role("button").click()
    expect(price).to_have_attribute("aria-sort", "ascending")
    cheapest = price_of(grid)
    price.get_by_role("button").click()
    expect(price).to_have_attribute("aria-sort", "descending")
    assert price_of(grid) > cheapest
    answer(page).get_by_role("searchbox", name="Filter all columns").fill("electronics")
    expect(grid.get_by_role("gridcell", name="Apparel")).to_have_count(0)
    expect(grid.get_by_role("gridcell", name="Electronics").first).to_be_visible()
    answer(page).get_by_role("button", name="Filter by column").click()
    answer(page).get_by_role("textbox", name="Filter list_price").fill("> 1000000")
    expect(answer(page).get_by_text("No row matches.")).to_be_visible()
    picture("filtered-to-nothing")
    answer(page).get_by_role("button", name="Clear filters").click()
    expect(grid).to_have_attribute("aria-rowcount", "61")
    picture("all-rows-again")


SHARES = "share of revenue by category"
PERCENT = re.compile(r"^\d+\.\d %$")


def test_shares_are_shown_in_percent(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    for count, (question, column) in enumerate([(CHIP, "return_rate"), (SHARES, "share")], start=1):
        grid = ask_and_see(page, question, count).get_by_role("grid")
        expect(grid.get_by_role("columnheader", name=column)).to_contain_text("percent")
        # The largest comes first in both.
        expect(grid.get_by_role("row").nth(1).get_by_text(PERCENT).first).to_be_visible()
    picture("percent")
    page.reload()
    kept = answer(page).get_by_role("grid")
    expect(kept.get_by_role("columnheader", name="share")).to_contain_text("percent")
    expect(kept.get_by_role("row").nth(1).get_by_text(PERCENT)).to_be_visible()


def test_rows_are_downloaded_as_files(served: str, page: Page) -> None:
    open_app(page, served)
    menu = ask_and_see(page, PRODUCTS).get_by_role("button", name="Download", exact=True)
    lines = list(csv.reader(io.StringIO(downloaded(page, menu, "CSV").decode())))
    assert lines[0] == ["note", "sku", "category", "list_price"]
    assert len(lines) == 61
    # A spreadsheet would run it else.
    assert all(line[0].startswith("'=") for line in lines[1:])
    told = json.loads(downloaded(page, menu, "JSON"))
    assert [len(told["rows"]), told["rows"][0][0][0]] == [60, "="]
    parquet = downloaded(page, menu, "Parquet")
    assert parquet[:4] == parquet[-4:] == b"PAR1"


def test_rows_are_copied_and_seen_large(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    said = ask_and_see(page, PRODUCTS)
    said.get_by_role("button", name="Copy table").click()
    expect(said.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert [len(copied), copied[1][:2]] == [61, "'="]
    said.get_by_role("button", name="Expand").click()
    large = page.get_by_role("dialog", name="Result")
    expect(large.get_by_role("grid")).to_be_visible()
    picture("expanded")
    page.keyboard.press("Escape")
    expect(large).to_be_hidden()


def test_a_chart_changes_its_type_and_is_saved(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    figure = ask_and_see(page, CHIP).get_by_role("figure")
    expect(figure.locator(".plot-container")).to_be_visible()
    figure.get_by_role("button", name="Chart type: Horizontal bars").click()
    picture("1-types")
    kinds = page.get_by_role("menuitemradio")
    names = [name.strip() for name in kinds.all_inner_texts()]
    other = next(name for name in names if name not in {"As drawn", "Horizontal bars"})
    kinds.get_by_text(other, exact=True).click()
    expect(figure.get_by_role("button", name=f"Chart type: {other}")).to_be_visible()
    picture("2-another-type")
    menu = figure.get_by_role("button", name="Download chart")
    assert downloaded(page, menu, "PNG")[:8] == b"\x89PNG\r\n\x1a\n"
    assert b"<svg" in downloaded(page, menu, "SVG")[:200]


def test_two_amounts_stay_side_by_side_in_another_type(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served)
    figure = ask_and_see(page, CHIP).get_by_role("figure")
    expect(figure.locator(".trace.bars")).to_have_count(2)
    figure.get_by_role("button", name="Chart type: Horizontal bars").click()
    page.get_by_role("menuitemradio", name="Bars", exact=True).click()
    expect(figure.get_by_role("button", name="Chart type: Bars")).to_be_visible()
    expect(figure.locator(".trace.bars")).to_have_count(2)
    expect(figure.get_by_role("list", name="Series").get_by_role("listitem")).to_have_count(2)
    picture("bars")


@pytest.fixture(scope="module")
def generous(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that gives many rows."""
    with serving(tmp_path_factory.mktemp("generous")) as start:
        yield start(MAX_ROWS="10000", MAX_RESULT_BYTES=str(64 << 20))


def test_a_quarter_million_cells_are_copied(generous: str, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    columns = ", ".join(f"unit_price * {n} AS price_{n}" for n in range(1, 24))
    open_app(page, generous)
    grid = ask_and_see(page, f"SELECT sku, category, {columns} FROM order_items LIMIT 10000").get_by_role(
        "grid"
    )
    expect(grid).to_have_attribute("aria-rowcount", "10001")
    grid.get_by_role("gridcell").first.click()
    page.keyboard.press("ControlOrMeta+a")
    page.wait_for_timeout(500)
    page.keyboard.press("ControlOrMeta+c")
    page.wait_for_function(
        "navigator.clipboard.readText().then((text) => text.split('\\n').length === 10000)"
    )
