"""A person asks a PostgreSQL where its rows are, then copies its tables: each answer has its own kind of proof."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.web.person import Picture, ask_and_see, open_app, open_details
from tests.browser.web.test_databases import at_every_size, connecting, is_clean
from tests.browser.web.test_own_data import tray
from tests.browser.web.test_proof import states
from tests.sources.conftest import SHOP, Database, database_of, started

pytestmark = [pytest.mark.needs("postgres", "userns", "chromium", "web_ui", "axe")]

QUESTION = "Number of orders by city"


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    cluster, port = started()
    with cluster as address:
        made = database_of(address, port)
        made.execute(SHOP)
        made.reader("reader", "shop")
        yield made


def verified(page: Page) -> Locator:
    proof = open_details(page, "Proof")
    proof.get_by_role("button", name="Verify").click()
    return proof.get_by_role("region", name="Capsule")


def test_each_kind_of_proof(
    serve: Callable[..., str], page: Page, picture: Picture, database: Database
) -> None:
    address = serve()
    open_app(page, address, "/data")
    dialog = connecting(page, database, "reader")
    expect(dialog.get_by_text("reader can only read.")).to_be_visible()
    dialog.get_by_role("checkbox", name=re.compile("shop.orders")).check()
    dialog.get_by_role("checkbox", name=re.compile("shop.customers")).check()
    picture("1-choosing")
    dialog.get_by_role("button", name="Ask the database itself").click()
    expect(page).to_have_url(re.compile("/data/shop$"))
    where = page.get_by_role("region", name="Where its rows are")
    expect(where).to_contain_text("The rows stay in postgres on 127.0.0.1")
    expect(where).to_contain_text("Not pinned")
    is_clean(page, "live")
    at_every_size(page, picture, "2-live")

    open_app(page, address, "/?dataset=shop")
    expect(ask_and_see(page, QUESTION)).to_contain_text("Berlin")
    report = verified(page)
    expect(report.get_by_text("The rows stay in the database shop and are not pinned")).to_be_visible()
    expect(report.get_by_text("Nothing is broken, and the data are not pinned")).to_be_visible()
    found = states(report)
    assert (found.pop("question"), found.pop("data")) == ("reading", "not_pinned")
    assert set(found.values()) == {"ok"}
    is_clean(page, "not pinned")
    at_every_size(page, picture, "3-not-pinned")

    open_app(page, address, "/data/shop")
    where.get_by_role("button", name="Copy the tables").click()
    expect(tray(page).get_by_text("shop is ready.")).to_be_visible()
    origin = page.get_by_role("region", name="Where it is copied from")
    expect(origin).to_contain_text("Copied from postgres")
    picture("4-copied")

    open_app(page, address, "/?dataset=shop")
    expect(ask_and_see(page, QUESTION)).to_contain_text("Berlin")
    report = verified(page)
    expect(report.get_by_text("Complete: everything that can be derived holds")).to_be_visible()
    assert states(report)["data"] == "ok"
    picture("5-pinned")
