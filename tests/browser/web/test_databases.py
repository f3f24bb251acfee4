"""A person connects a PostgreSQL, sees what its role can do, copies tables, asks, and copies them again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.web.axe import violations
from tests.browser.web.person import Picture, ask_and_see, open_app
from tests.browser.web.test_own_data import tray
from tests.sources.conftest import SECRET, SHOP, Database, database_of, started

pytestmark = [pytest.mark.needs("postgres", "userns", "chromium", "web_ui", "axe")]

SIZES = {"phone": (390, 844), "tablet": (820, 1180), "desk": (1280, 900), "wide": (1920, 1080)}


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    cluster, port = started()
    with cluster as address:
        made = database_of(address, port)
        made.execute(SHOP)
        for number in range(12):
            made.execute(f"CREATE TABLE shop.archive_{number:02} AS SELECT 1 AS n")
        made.execute(
            "CREATE VIEW shop.sums AS SELECT buyer, sum(amount) AS amount FROM shop.orders GROUP BY buyer"
        )
        made.execute("ANALYZE")
        made.reader("reader", "shop")
        made.execute(f"CREATE ROLE writer LOGIN PASSWORD '{SECRET}'")
        made.execute("GRANT USAGE ON SCHEMA shop TO writer")
        made.execute("GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA shop TO writer")
        yield made


def connecting(page: Page, database: Database, role: str, name: str = "shop") -> Locator:
    """The dialog, after the first attempt."""
    page.get_by_role("button", name="Connect a database").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Address").fill(f"postgresql://{role}@127.0.0.1:{database.port}/postgres")
    dialog.get_by_label("Password").fill(SECRET)
    dialog.get_by_label("Name here").fill(name)
    dialog.get_by_role("button", name="Connect", exact=True).click()
    return dialog


def is_clean(page: Page, place: str) -> None:
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        found = [f"{place}, {theme}: {one['rule']} {one['where']} {one['what']}" for one in violations(page)]
        assert found == []
    page.emulate_media(color_scheme="light")


def at_every_size(page: Page, picture: Picture, name: str) -> None:
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, size)
        picture(f"{name}-{size}")
    page.set_viewport_size({"width": 1280, "height": 900})


def test_tables_are_copied_asked_about_and_copied_again(
    serve: Callable[..., str], page: Page, picture: Picture, database: Database, tmp_path: Path
) -> None:
    address = serve()
    open_app(page, address, "/data")
    dialog = connecting(page, database, "reader")
    expect(dialog.get_by_text("reader can only read.")).to_be_visible()
    expect(dialog.get_by_role("checkbox")).to_have_count(16)
    is_clean(page, "choosing")
    at_every_size(page, picture, "1-choosing")
    dialog.get_by_role("searchbox", name="Find a table").fill("orders")
    expect(dialog.get_by_text("about 1,000 rows")).to_be_visible()
    dialog.get_by_role("checkbox", name=re.compile("shop.orders")).check()
    dialog.get_by_role("searchbox", name="Find a table").fill("custom")
    dialog.get_by_role("checkbox", name=re.compile("shop.customers")).check()
    dialog.get_by_role("button", name="Copy 2 tables").click()
    # The dataset opens by itself.
    expect(page).to_have_url(re.compile("/data/shop$"))
    origin = page.get_by_role("region", name="Where it is copied from")
    expect(origin).to_contain_text(f"Copied from postgres on 127.0.0.1:{database.port}, just now")
    expect(page.get_by_role("button", name="Add a table")).to_have_count(0)
    is_clean(page, "copied")
    tray(page).get_by_role("button", name="Close").click()
    at_every_size(page, picture, "2-copied")
    version = page.request.get(f"{address}/datasets/shop").json()["version"]

    open_app(page, address, "/?dataset=shop")
    answer = ask_and_see(page, "Number of orders by city")
    expect(answer).to_contain_text("Berlin")
    picture("3-answered")

    database.execute("INSERT INTO shop.orders VALUES (9000, 2, 10, now())")
    open_app(page, address, "/data/shop")
    origin.get_by_role("button", name="Refresh").click()
    expect(tray(page).get_by_text("shop is ready.")).to_be_visible()
    newer = page.request.get(f"{address}/datasets/shop").json()
    assert newer["version"] != version
    expect(page.get_by_text("1,041 rows")).to_be_visible()
    picture("4-refreshed")
    tray(page).get_by_role("button", name="Close").click()
    origin.get_by_role("button", name="Choose other tables").click()
    chosen = page.get_by_role("dialog").get_by_role("checkbox", checked=True)
    expect(chosen).to_have_count(2)
    picture("5-other-tables")
    page.keyboard.press("Escape")
    origin.get_by_role("button", name="Disconnect").click()
    page.get_by_role("button", name="Disconnect it").click()
    expect(page.get_by_text("Copied from a database.")).to_be_visible()
    picture("6-disconnected")
    log = (tmp_path / "server.log").read_text()
    assert "/database" in log and SECRET not in log


@pytest.mark.parametrize("look", [{"color_scheme": "dark"}], ids=["dark"])
def test_a_role_that_can_write_is_refused_and_overruled_by_its_name(
    serve: Callable[..., str], page: Page, picture: Picture, database: Database, watch: object
) -> None:
    watch.expects("422")  # type: ignore[attr-defined]  # the fixture of this folder
    address = serve()
    open_app(page, address, "/data")
    dialog = connecting(page, database, "writer", "writers_shop")
    expect(dialog.get_by_role("alert")).to_contain_text("writer can do more than read")
    expect(dialog.get_by_label("the statements", exact=True)).to_contain_text("GRANT SELECT")
    is_clean(page, "refused")
    page.emulate_media(color_scheme="dark")
    use = dialog.get_by_role("button", name="Use a role that can write")
    expect(use).to_be_disabled()
    use.scroll_into_view_if_needed()
    at_every_size(page, picture, "1-refused")
    dialog.get_by_label(re.compile("type its name")).fill("writer")
    # By keys alone from here.
    page.keyboard.press("Enter")
    expect(dialog.get_by_text("writer can do more than read, and was allowed all the same.")).to_be_visible()
    is_clean(page, "overruled")
    page.emulate_media(color_scheme="dark")
    picture("2-overruled")
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name=re.compile("no table was chosen"))).to_be_visible()
    at_every_size(page, picture, "3-waiting")
    page.get_by_role("button", name="Choose tables").click()
    page.get_by_role("dialog").get_by_role("checkbox", name=re.compile("shop.orders")).check()
    page.get_by_role("dialog").get_by_role("button", name="Copy 1 table").click()
    expect(page).to_have_url(re.compile("/data/writers_shop$"))


def test_a_copy_is_cancelled(
    serve: Callable[..., str], page: Page, picture: Picture, database: Database
) -> None:
    database.execute(
        "CREATE TABLE shop.endless AS SELECT i, md5(i::text) AS text FROM generate_series(1, 3000000) i"
    )
    database.execute("GRANT SELECT ON shop.endless TO reader")
    address = serve()
    open_app(page, address, "/data")
    dialog = connecting(page, database, "reader")
    dialog.get_by_role("checkbox", name=re.compile("shop.endless")).check()
    dialog.get_by_role("button", name="Copy 1 table").click()
    expect(tray(page).get_by_text(re.compile(r"Copying, \d"))).to_be_visible()
    picture("1-copying")
    with page.expect_response(
        lambda answer: answer.request.method == "DELETE" and "/imports/" in answer.url
    ) as deleted:
        tray(page).get_by_role("button", name="Cancel").click()
    expect(tray(page)).to_be_hidden()
    assert deleted.value.status == 204
    page.get_by_role("button", name="Disconnect").click()
    page.get_by_role("button", name="Disconnect it").click()
    expect(page.get_by_role("heading", name=re.compile("no table was chosen"))).to_be_hidden()
    assert page.request.get(f"{address}/datasets/shop").status == 404
    assert page.request.get(f"{address}/imports").json()[0]["state"] == "cancelled"
