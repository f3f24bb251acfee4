"""A person says what data mean: units, other words, masks, joins, metrics; and earlier answers still verify."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.web.axe import violations
from tests.browser.web.conftest import Watch
from tests.browser.web.person import Picture, answer, ask_and_see, newest_run, open_app
from tests.browser.web.test_own_data import CUSTOMERS, drop, tray

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui")]

SALES = "\n".join(
    [
        "sold,shop,amt,contact_email,customer_id",
        *(
            f"2024-{1 + n % 12:02}-{1 + n % 27:02},{('North', 'South', 'West')[n % 3]},{n * 7}.50,"
            f"buyer{n}@example.com,{1 + n % 4}"
            for n in range(60)
        ),
    ]
)


def bring(page: Page, address: str) -> None:
    open_app(page, address)
    drop(page, "sales.csv", SALES)
    expect(tray(page).get_by_text("sales is ready.")).to_be_visible()


def table(page: Page) -> Locator:
    return page.get_by_role("region", name="Catalog of sales")


def column(page: Page, name: str) -> Locator:
    """Opened."""
    found = table(page).get_by_role("listitem").filter(has=page.get_by_role("button", name=name)).first
    found.get_by_role("button", name=re.compile(f"^{name}")).first.click()
    return found


def history(page: Page) -> Locator:
    return page.get_by_role("region", name="History of the catalog").get_by_role("listitem")


def save(page: Page, what: str) -> None:
    page.get_by_role("button", name=f"Save {what}").click()
    expect(page.get_by_role("button", name=f"Save {what}")).to_have_count(0)


def test_a_unit_a_word_and_a_mask_are_said_and_earlier_answers_verify(
    serve: Callable[..., str], page: Page, picture: Picture
) -> None:
    address = serve()
    bring(page, address)
    open_app(page, address, "/data/sales?view=catalog")
    expect(history(page)).to_have_count(1)
    picture("1-as-found")
    amount = column(page, "amt")
    amount.get_by_role("textbox", name="Unit of amt").fill("EUR")
    amount.get_by_role("textbox", name="Other words for it of amt").fill("turnover, takings")
    page.get_by_role("button", name="Mask it: contact_email").click()
    expect(table(page).get_by_text("masked", exact=True)).to_be_visible()
    picture("2-edited")
    page.get_by_role("textbox", name="Why the table sales is changed").fill("We sell in euros")
    save(page, "the table sales")
    expect(history(page)).to_have_count(2)
    expect(history(page).first).to_contain_text("We sell in euros")
    expect(history(page).first).to_contain_text("current")
    history(page).first.scroll_into_view_if_needed()
    picture("3-saved")
    said = page.request.get(f"{address}/datasets/sales/catalog").json()["stated"]["tables"]["sales"][
        "columns"
    ]
    assert said["amt"]["unit"] == "EUR" and said["contact_email"]["masked"] is True
    with page.expect_download() as file:
        page.get_by_role("link", name="Download it as a file").click()
    assert file.value.suggested_filename == "sales.yaml"
    assert "unit: EUR" in file.value.path().read_text()

    open_app(page, address, "/?dataset=sales")
    expect(ask_and_see(page, "Total amt by shop")).to_contain_text("EUR")
    first = newest_run(page, address)
    picture("4-asked")

    open_app(page, address, "/data/sales?view=catalog")
    column(page, "amt").get_by_role("textbox", name="Unit of amt").fill("CHF")
    save(page, "the table sales")
    expect(history(page)).to_have_count(3)
    open_app(page, address, "/?dataset=sales")
    expect(ask_and_see(page, "Total amt by shop")).to_contain_text("CHF")
    second = newest_run(page, address)
    assert first["dataset_version"] == second["dataset_version"]
    for run in (first, second):
        assert page.request.post(f"{address}/runs/{run['run_id']}/verify").json()["ok"]
    expect(answer(page)).not_to_contain_text("EUR")


def test_joins_metrics_and_earlier_editions(serve: Callable[..., str], page: Page, picture: Picture) -> None:
    address = serve()
    open_app(page, address, "/data")
    files = [
        {"name": "sales.csv", "mimeType": "text/csv", "buffer": SALES.encode()},
        {"name": "customers.csv", "mimeType": "text/csv", "buffer": CUSTOMERS.encode()},
    ]
    page.get_by_label("Files to add").set_input_files(files)  # pyright: ignore[reportArgumentType] - its own type
    expect(tray(page).get_by_text("sales is ready.")).to_be_visible()
    open_app(page, address, "/data/sales?view=catalog")
    page.get_by_role("button", name=re.compile("^Remove the join")).click()
    save(page, "the joins")
    page.get_by_role("combobox", name="Column that refers").select_option("sales.customer_id")
    page.get_by_role("combobox", name="Column that is referred to").select_option("customers.customer_id")
    page.get_by_role("button", name="Add the join").click()
    save(page, "the joins")
    page.get_by_role("button", name="Use it: total_amt").click()
    page.get_by_role("button", name="Add a metric").click()
    page.get_by_role("textbox", name="Name of the metric").fill("average_basket")
    page.get_by_role("combobox", name="Table of the metric").select_option("sales")
    page.get_by_role("combobox", name="Column of “What is computed”").select_option("amt")
    page.get_by_role("combobox", name="Divided by of the metric").select_option("count")
    picture("1-new-metric")
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_text("Sum of amt, divided by the number of rows")).to_be_visible()
    save(page, "the metrics")
    page.get_by_role("textbox", name="Title of the dataset").fill("Our sales")
    page.get_by_role("combobox", name="The fiscal year begins in of the dataset").select_option("april")
    save(page, "the dataset")
    expect(page.get_by_role("heading", name="Our sales")).to_be_visible()
    expect(history(page)).to_have_count(5)
    picture("2-said")
    found = violations(page)
    assert found == [], found
    open_app(page, address, "/?dataset=sales")
    ask_and_see(page, "average basket by segment")
    picture("3-asked")
    open_app(page, address, "/data/sales?view=catalog")
    history(page).last.get_by_role("button", name=re.compile("^Use again")).click()
    expect(history(page)).to_have_count(6)
    expect(page.get_by_role("textbox", name="Title of the dataset")).to_have_value("sales")
    assert page.request.post(f"{address}/runs/{newest_run(page, address)['run_id']}/verify").json()["ok"]


def test_what_the_data_suggest_is_used_or_not(
    serve: Callable[..., str], page: Page, picture: Picture
) -> None:
    address = serve()
    bring(page, address)
    open_app(page, address, "/data/sales?view=catalog")
    masks = page.get_by_role("list", name="Proposed masks of sales")
    expect(masks).to_contain_text("contact_email")
    picture("1-proposed")
    metrics = page.get_by_role("list", name="Proposed metrics")
    expect(metrics).to_contain_text("Sum of amt")
    metrics.scroll_into_view_if_needed()
    picture("2-metric")
    metrics.get_by_role("button", name="Not now: total_amt").click()
    expect(metrics).to_have_count(0)
    masks.get_by_role("button", name=re.compile("^Use it")).click()
    expect(masks).to_have_count(0)
    key = page.get_by_role("list", name="Proposed key of sales")
    expect(key).to_contain_text("sold is different in each of the 60 rows")
    key.scroll_into_view_if_needed()
    picture("3-key")
    key.get_by_role("button", name="Use it: key sold").click()
    save(page, "the table sales")
    open_app(page, address, "/data/sales?view=catalog")
    expect(table(page).get_by_role("button", name="Take sold out of the key")).to_be_visible()
    expect(table(page).get_by_text("masked", exact=True)).to_be_visible()
    expect(page.get_by_role("list", name=re.compile("^Proposed"))).to_have_count(0)


FILE = """
title: Takings
questions:
  - Total amt by shop
tables:
  sales:
    columns:
      amt: {unit: EUR}
"""


def choose(page: Page, text: str) -> Locator:
    given = {"name": "sales.yaml", "mimeType": "text/yaml", "buffer": text.encode()}
    page.get_by_label("A catalog file").set_input_files(given)  # pyright: ignore[reportArgumentType] - its own type
    return page.get_by_role("region", name="The catalog as a file")


def test_a_file_is_looked_at_before_it_is_used(
    serve: Callable[..., str], page: Page, picture: Picture, watch: Watch
) -> None:
    watch.expects("422")
    address = serve()
    bring(page, address)
    open_app(page, address, "/data/sales?view=catalog")
    page.get_by_role("textbox", name="Questions to begin with of the dataset").fill(
        "Average amt\nHow many rows?"
    )
    save(page, "the dataset")
    expect(history(page)).to_have_count(2)
    part = choose(page, "tables: {sales: {columns: {amount: {unit: EUR}}}}")
    expect(part.get_by_role("alert")).to_contain_text("amount")
    part = choose(page, FILE)
    changed = part.get_by_role("list", name="What the file changes").get_by_role("listitem")
    expect(changed.filter(has_text="tables.sales.columns.amt.unit")).to_contain_text("EUR")
    part.scroll_into_view_if_needed()
    picture("1-changes")
    expect(history(page)).to_have_count(2)
    part.get_by_role("button", name="Use this file").click()
    expect(history(page)).to_have_count(3)
    expect(page.get_by_role("textbox", name="Title of the dataset")).to_have_value("Takings")
    expect(page.get_by_role("textbox", name="Questions to begin with")).to_have_value("Total amt by shop")
    found = violations(page)
    assert found == [], found
    picture("2-used")


def test_what_another_person_saved_meanwhile_is_not_lost(
    serve: Callable[..., str], page: Page, picture: Picture, watch: Watch
) -> None:
    watch.expects("422")
    address = serve()
    bring(page, address)
    open_app(page, address, "/data/sales?view=catalog")
    page.get_by_role("textbox", name="Title of the dataset").fill("Mine")
    before = page.request.get(f"{address}/datasets/sales/catalog").json()["catalog_version"]
    metric = {"table": "sales", "numerator": {"agg": "count"}}
    theirs = {"before": before, "changes": {"description": "Theirs", "metrics": {"orders": metric}}}
    page.get_by_role("button", name="Use it: total_amt").click()
    assert page.request.patch(f"{address}/datasets/sales/catalog", data=theirs).ok
    page.get_by_role("button", name="Save the dataset").click()
    expect(page.get_by_role("alert")).to_contain_text("changed meanwhile")
    picture("1-refused")
    # What is typed stays while other tabs are looked at.
    page.get_by_role("tab", name="Tables").click()
    page.get_by_role("tab", name="Catalog").click()
    expect(page.get_by_role("textbox", name="Title of the dataset")).to_have_value("Mine")
    page.get_by_role("button", name="Save the dataset").click()
    page.get_by_role("button", name="Load it again").click()
    expect(page.get_by_role("textbox", name="Description of the dataset")).to_have_value("Theirs")
    save(page, "the dataset")
    save(page, "the metrics")
    semantics = page.request.get(f"{address}/datasets/sales/catalog").json()["semantics"]
    assert (semantics["title"], semantics["description"]) == ("Mine", "Theirs")
    assert sorted(semantics["metrics"]) == ["orders", "total_amt"]


@pytest.mark.parametrize(
    "look",
    [
        pytest.param({"viewport": {"width": 390, "height": 844}}, id="small"),
        pytest.param({"color_scheme": "dark"}, id="dark"),
    ],
)
def test_the_catalog_can_be_read_by_everyone(
    serve: Callable[..., str], page: Page, picture: Picture, look: dict[str, object]
) -> None:
    address = serve()
    bring(page, address)
    open_app(page, address, "/data/sales?view=catalog")
    expect(history(page)).to_have_count(1)
    column(page, "amt").get_by_role("textbox", name="Unit of amt").fill("EUR")
    page.get_by_role("button", name="Add a metric").click()
    found = violations(page)
    assert found == [], found
    for number, name in enumerate(("Title of the dataset", "Unit of amt", "Name of the metric"), 1):
        page.get_by_role("textbox", name=name).scroll_into_view_if_needed()
        picture(f"{number}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
