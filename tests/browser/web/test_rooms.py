"""The pages beside the conversation: data, runs, one run, two runs compared."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.web.person import Picture, ask_and_see, details, open_app

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui")]


def run(page: Page, served: str, sql: str, **more: Any) -> str:
    body = {"dataset_id": "ecommerce", "sql": sql, "chart": True, **more}
    response = page.request.post(f"{served}/runs?wait=20", data=body)
    assert response.ok, response.text()
    return response.json()["run_id"]


def test_a_dataset_is_looked_at(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served, "/data")
    expect(page.get_by_role("article")).to_have_count(3)
    picture("1-datasets")
    page.get_by_role("link", name="E-commerce").click()
    orders = page.get_by_role("region", name="orders", exact=True)
    expect(orders.get_by_role("grid")).to_be_visible()
    picture("2-tables")
    total = orders.get_by_role("button", name=re.compile("^order_total decimal"))
    total.click()
    expect(total).to_have_attribute("aria-expanded", "true")
    expect(orders.get_by_text("Highest")).to_be_visible()
    region = orders.get_by_role("button", name=re.compile("^region text Sales"))
    region.click()
    expect(orders.get_by_role("list", name="Most frequent values")).to_be_visible()
    region.scroll_into_view_if_needed()
    picture("3-profile")
    page.get_by_role("searchbox", name="Search tables and columns").fill("discount")
    expect(page.get_by_role("region", name="order_items").get_by_text("discount_rate").first).to_be_visible()
    picture("4-search")
    page.get_by_role("tab", name="Relationships").click()
    expect(page.get_by_role("img", name=re.compile("Relationships of E-commerce"))).to_be_visible()
    picture("5-relationships")
    page.get_by_role("button", name="All columns").click()
    expect(page.get_by_role("button", name="Keys only")).to_be_visible()
    picture("6-all-columns")
    page.get_by_role("tab", name="Metrics").click()
    expect(page.get_by_text("return_rate", exact=True).first).to_be_visible()
    picture("7-metrics")
    page.get_by_role("tab", name="Version").click()
    expect(page.get_by_text(re.compile("sha256:[0-9a-f]{64}")).first).to_be_visible()
    picture("8-version")


def test_runs_are_found_and_two_of_them_compared(served: str, page: Page, picture: Picture) -> None:
    first = run(
        page, served, "SELECT category, count(*) AS kept FROM order_items GROUP BY category", question="Lines"
    )
    where = "WHERE order_date >= DATE '2025-01-01'"
    run(page, served, f"SELECT category, count(*) AS kept FROM order_items {where} GROUP BY category")
    run(page, served, "SELECT * FROM read_csv('/etc/passwd')")
    open_app(page, served, "/runs")
    runs = page.get_by_role("list", name="Runs").get_by_role("listitem")
    expect(runs.first).to_be_visible()
    picture("1-runs")
    page.get_by_role("combobox", name="State").select_option("rejected")
    expect(runs.first).to_contain_text("read_csv")
    expect(runs.locator("[data-status=succeeded]")).to_have_count(0)
    picture("2-rejected")
    page.get_by_role("combobox", name="State").select_option("")
    page.get_by_role("main").get_by_role("searchbox").fill("AS kept")
    expect(runs).to_have_count(2)
    expect(page).to_have_url(re.compile(r"q=AS\+kept"))
    for box in runs.get_by_role("checkbox").all():
        box.check()
    picture("3-chosen")
    page.get_by_role("region", name="Chosen runs").get_by_role("link", name="Compare").click()
    result = page.get_by_role("region", name="Result")
    expect(result).to_contain_text("9 rows changed")
    picture("4-compared")
    page.get_by_role("button", name="Swap").click()
    expect(page).to_have_url(re.compile(f"a={first}|b={first}"))
    open_app(page, served, "/runs?dataset=sensors&q=nothing-like-it")
    expect(page.get_by_text("No run fits these filters")).to_be_visible()
    picture("5-none")


def test_a_run_is_shared_and_run_again(served: str, page: Page, picture: Picture) -> None:
    run_id = run(page, served, "SELECT region, sum(order_total) AS revenue FROM orders GROUP BY region")
    open_app(page, served, f"/runs/{run_id}")
    expect(page.get_by_role("main").get_by_role("grid")).to_be_visible()
    page.get_by_role("button", name="Share").click()
    picture("1-share")
    with page.expect_download() as waiting:
        page.get_by_role("menuitem", name="Capsule file").click()
    assert run_id in waiting.value.suggested_filename
    page.get_by_role("button", name="Open details").click()
    expect(details(page)).to_be_visible()
    picture("2-details")
    page.get_by_role("main").get_by_role("button", name="Run again").click()
    expect(page).not_to_have_url(re.compile(run_id + "$"))
    expect(page.get_by_role("main").locator("[data-status=succeeded]")).to_be_visible()


def test_a_refused_run_is_put_right_from_its_own_page(served: str, page: Page, picture: Picture) -> None:
    run_id = run(page, served, "SELECT count(*) AS orders FROM oders")
    open_app(page, served, f"/runs/{run_id}")
    expect(page.get_by_role("main").locator("mark")).to_have_text("oders")
    picture("refused")
    main = page.get_by_role("main")
    expect(main.get_by_text("FROM oders")).to_have_count(1)
    # The same would be refused again.
    expect(main.get_by_role("button", name="Run again")).to_have_count(0)
    main.get_by_role("button", name="Edit", exact=True).click()
    expect(details(page).get_by_role("textbox", name="SQL")).to_be_visible()
    picture("edited")
    details(page).get_by_role("button", name="Close details").click()
    page.get_by_role("main").get_by_role("button", name=re.compile("orders")).click()
    expect(page.get_by_role("main").locator("[data-status=succeeded]")).to_be_visible()


def test_the_history_says_what_nobody_asked_for(served: str, page: Page, picture: Picture) -> None:
    open_app(page, served, "/data/sensors")
    expect(page.get_by_role("grid").first).to_be_visible()
    open_app(page, served)
    question = "Which channel has the highest return rate?"
    ask_and_see(page, question)
    open_app(page, served, "/runs")
    runs = page.get_by_role("list", name="Runs").get_by_role("listitem")
    asked = runs.filter(has_text=question)
    expect(asked).to_have_count(2)
    expect(asked.filter(has_text="overall value")).to_have_count(1)
    expect(runs.filter(has_text="Sample rows of")).to_have_count(0)
    picture("1-without-samples")
    page.get_by_role("checkbox", name="With sample rows").click()
    expect(page).to_have_url(re.compile("samples=1"))
    # The sample may be older than a page of runs: it is kept once an earlier visit took it.
    page.get_by_role("searchbox", name="Search runs").fill("Sample rows of readings")
    expect(
        runs.filter(has_text="Sample rows of readings").filter(has_text="sample rows").first
    ).to_be_visible()
    picture("2-with-samples")
