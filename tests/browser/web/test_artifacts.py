"""What a stranger's code shows is seen, and does nothing else: it runs no script, loads nothing, leads nowhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from tests.browser.conftest import serving
from tests.browser.web.axe import violations
from tests.browser.web.elsewhere import elsewhere
from tests.browser.web.person import Picture, fetched, open_app
from tests.browser.web.strangers import MARK, code, hostile, hostile_page, html, ordinary

pytestmark = [pytest.mark.needs("userns", "chromium", "web_ui")]

_MARKS = "({ marked: window.marked ?? null, kept: localStorage.getItem('marked'), title: document.title })"


@pytest.fixture(scope="module")
def with_python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that runs Python."""
    with serving(tmp_path_factory.mktemp("python")) as start:
        yield start(PYTHON="on")


def run_of(page: Page, address: str, text: str) -> dict[str, Any]:
    """The run of this code, once it has ended."""
    response = page.request.post(
        f"{address}/runs",
        data=json.dumps({"dataset_id": "ecommerce", "python": text}),
        headers={"Content-Type": "application/json"},
        timeout=60_000,
    )
    assert response.ok, response.text()
    run_id = response.json()["run_id"]
    for _ in range(6):
        view = fetched(page, f"{address}/runs/{run_id}?wait=15")
        if view["status"] not in {"pending", "running"}:
            return view
    raise AssertionError("the run did not end")


def shown(page: Page, address: str, text: str) -> dict[str, Any]:
    view = run_of(page, address, text)
    assert view["status"] == "succeeded", (view["error"], view["stderr"])
    open_app(page, address, f"/runs/{view['run_id']}")
    expect(page.locator("[data-artifact]")).to_have_count(len(view["artifacts"]))
    for artifact in page.locator("[data-artifact]").all():
        artifact.scroll_into_view_if_needed()
    return view


def all_is_drawn(page: Page) -> None:
    # Plotly draws into what is near the part that is seen; Vega and Mermaid come as pictures.
    expect(page.locator(".plot-container")).to_be_visible()
    expect(page.get_by_role("img", name="Orders, Altair")).to_be_visible()
    expect(page.get_by_role("img", name="A circle")).to_be_visible()
    expect(page.get_by_role("img", name="How it flows")).to_be_visible()
    expect(page.frame_locator("iframe").get_by_role("heading", name="Orders")).to_be_visible()
    expect(page.get_by_role("grid")).to_contain_text("Electronics")
    expect(page.get_by_text("Method.", exact=True)).to_be_visible()
    expect(page.get_by_text("(docs.example)")).to_be_visible()


def pictures(page: Page, picture: Picture) -> None:
    for number, artifact in enumerate(page.locator("[data-artifact]").all()):
        artifact.scroll_into_view_if_needed()
        picture(f"{number}-{artifact.get_attribute('data-artifact')}")


@pytest.mark.parametrize(
    "look",
    [{"color_scheme": "dark"}, {"viewport": {"width": 380, "height": 760}, "has_touch": True}],
    ids=["dark", "phone"],
)
def test_every_kind_is_drawn(with_python: str, page: Page, picture: Picture) -> None:
    shown(page, with_python, f"print('Two lines\\nof output')\n{code(ordinary())}")
    all_is_drawn(page)
    expect(page.get_by_role("region", name="Output")).to_have_text("Two lines\nof output")
    page.get_by_text("Python", exact=True).click()
    expect(page.get_by_role("region", name="Python code")).to_contain_text("show_table")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page) == []
    pictures(page, picture)
    page.get_by_role("button", name="Expand Orders, as a page").click()
    dialog = page.get_by_role("dialog", name="Orders, as a page")
    expect(dialog.frame_locator("iframe").get_by_role("heading", name="Orders")).to_be_visible()
    picture("expanded")


def test_hostile_artifacts_do_nothing(with_python: str, page: Page, picture: Picture) -> None:
    """`watch` holds as well: no complaint of the page, no load that its policy had to block, no other host."""
    dialogs: list[Dialog] = []

    def dismissed(dialog: Dialog) -> None:
        dialogs.append(dialog)
        dialog.dismiss()

    page.on("dialog", dismissed)
    with elsewhere() as (host, heard):
        view = shown(page, with_python, code(hostile(host)))
        before, before_title = page.url, page.title()
        frame = page.frame_locator("iframe[title='A hostile page']")
        expect(frame.get_by_text("Words of the page")).to_be_visible()
        expect(page.locator(".plot-container")).to_be_visible()
        expect(page.get_by_text("Left out, because it is not drawn here")).to_be_visible()
        expect(page.get_by_text("cannot be drawn").first).to_be_visible()
        # A person clicks on everything that is offered.
        frame.get_by_text("Click here").click()
        frame.get_by_text("And here").click()
        frame.get_by_role("button", name="Send").click()
        for label in page.locator(".plot-container text").all()[:6]:
            label.click(force=True)
        page.wait_for_timeout(1500)
        pictures(page, picture)
        assert heard == []
        assert dialogs == []
        assert page.url == before
        assert page.evaluate(_MARKS) == {"marked": None, "kept": None, "title": before_title}
        assert page.locator("a[href^='javascript'], a[href^='data:'], a[href*='/anchor']").count() == 0
        assert len(page.context.pages) == 1
        assert len(view["artifacts"]) == len(hostile(host))


def test_the_frame_holds_what_was_not_cleaned(with_python: str, page: Page, watch: Any) -> None:
    """The wall alone: the same page put into our frame as it is."""
    watch.expects(
        "blocked by policy|Content Security Policy|sandboxed|Blocked|Refused|Unsafe attempt|ERR_BLOCKED_BY_CSP|net::ERR"
    )
    with elsewhere() as (host, heard):
        shown(page, with_python, code([html(1, "<p>quiet</p>", "A page")]))
        assert page.locator("iframe").get_attribute("sandbox") == ""
        before = page.url
        page.locator("iframe").evaluate("(frame, text) => { frame.srcdoc = text }", hostile_page(host))
        frame = page.frame_locator("iframe")
        expect(frame.get_by_text("Words of the page")).to_be_visible()
        page.wait_for_timeout(1500)
        assert page.evaluate(_MARKS)["marked"] is None
        assert page.url == before
        # A browser that connects ahead of time asks for nothing.
        assert heard == []
        frame.get_by_text("Click here").click()
        page.wait_for_timeout(1000)
        assert heard == []
        assert page.url == before
        assert len(page.context.pages) == 1
        # The browser tells of a request before it blocks it. That host has heard of none.
        watch.hosts.discard(host.removeprefix("http://"))


def test_a_frame_has_an_origin_of_its_own(with_python: str, browser: Browser, page: Page) -> None:
    shown(page, with_python, code([html(1, f"<p>quiet</p><script>{MARK}</script>", "A page")]))
    page.evaluate("localStorage.setItem('secret', '1'); document.cookie = 'secret=1'")
    inside = page.frames[1]
    assert inside.evaluate("self.origin") == "null"
    for reach in ("parent.document.title", "localStorage.secret", "document.cookie", "top.location.href"):
        said = inside.evaluate(f"() => {{ try {{ return String({reach}) }} catch (e) {{ return e.name }} }}")
        assert said == "SecurityError", reach


def test_refused_code_is_underlined(with_python: str, page: Page, picture: Picture) -> None:
    view = run_of(page, with_python, "total = 1\nopen('/etc/passwd').read()")
    assert view["status"] == "rejected"
    open_app(page, with_python, f"/runs/{view['run_id']}")
    expect(page.locator("mark")).to_have_text("open")
    assert violations(page) == []
    picture("refused")


def test_code_that_fails_says_where(with_python: str, page: Page, picture: Picture) -> None:
    view = run_of(page, with_python, "total = 1\norders['amount'].sum()")
    assert view["status"] == "failed"
    open_app(page, with_python, f"/runs/{view['run_id']}")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("region", name="Python code")).to_contain_text("orders['amount']")
    assert violations(page) == []
    picture("failed")
