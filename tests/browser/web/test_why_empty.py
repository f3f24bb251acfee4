"""The page of a run that found nothing: a click says why, and another runs the corrected query."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.web.person import Picture, open_app

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui")]

SQL = "SELECT sku, sum(quantity) AS units FROM order_items WHERE quantity > 0 AND category = 'Electonics' GROUP BY sku"
PLAN = {
    "dataset_id": "ecommerce",
    "table": "order_items",
    "select": [{"agg": "count", "as": "n"}],
    "filters": [{"column": "category", "op": "=", "value": "Electonics"}],
}


def run(page: Page, served: str, **query: Any) -> str:
    body = {"dataset_id": "ecommerce", **query}
    answered = page.request.post(f"{served}/runs?wait=20", data=body)
    assert answered.ok, answered.text()
    return answered.json()["run_id"]


@pytest.mark.parametrize(
    "query",
    [
        pytest.param({"sql": SQL}, id="sql"),
        pytest.param({"plan": PLAN}, id="plan"),
    ],
)
def test_an_empty_result_is_explained_and_corrected(
    served: str, page: Page, picture: Picture, query: dict[str, Any]
) -> None:
    run_id = run(page, served, **query)
    open_app(page, served, f"/runs/{run_id}")
    page.get_by_role("button", name="Why is there nothing?").click()
    why = page.get_by_role("region", name="Why there is nothing")
    expect(why).to_contain_text(re.compile("none (is left|of these) where"))
    expect(why).to_contain_text("No row has Electonics as category.")
    expect(why.get_by_role("link", name="a run")).to_have_attribute("href", re.compile("/runs/run_"))
    picture("1-why")
    why.get_by_role("button", name="Use Electronics for Electonics").click()
    expect(page).not_to_have_url(re.compile(run_id))
    expect(page.locator("[data-status=succeeded]").first).to_be_visible()
    expect(page.get_by_role("button", name="Why is there nothing?")).to_have_count(0)
    picture("2-corrected")


def test_a_run_with_rows_is_not_asked_about(served: str, page: Page) -> None:
    open_app(page, served, f"/runs/{run(page, served, sql='SELECT count(*) AS n FROM orders')}")
    expect(page.locator("[data-status=succeeded]").first).to_be_visible()
    expect(page.get_by_role("button", name="Why is there nothing?")).to_have_count(0)
