"""The answer card in Chromium, in a page that speaks MCP Apps, over a real server: shown, verified, nothing fetched."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import FrameLocator, Page, Route, expect

from tests.browser.conftest import PATIENCE_MS

pytestmark = [pytest.mark.needs("chromium", "landlock")]

HOST = "http://host.test/"
HOST_PAGE = Path(__file__).with_name("mcp_host.html")
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
QUESTION = {"dataset_id": "ecommerce", "question": "Total revenue by category"}

Call = Callable[[str, dict[str, Any]], dict[str, Any]]


@pytest.fixture(scope="module")
def request_of(served: str) -> Iterator[Call]:
    """A request to the server's `/mcp`, as the host of a card makes it."""
    with httpx.Client(base_url=served, timeout=PATIENCE_MS / 1000) as client:

        def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            answer = client.post("/mcp", json=body, headers=HEADERS)
            assert answer.status_code == 200, answer.text
            data = [line[6:] for line in answer.text.splitlines() if line.startswith("data: {")]
            said = json.loads(data[-1] if data else answer.text)
            return said["result"]

        yield ask


@pytest.fixture(scope="module")
def card(request_of: Call) -> str:
    tools = {tool["name"]: tool for tool in request_of("tools/list", {})["tools"]}
    uri = tools["ask"]["_meta"]["ui"]["resourceUri"]
    [page] = request_of("resources/read", {"uri": uri})["contents"]
    return page["text"]


@pytest.fixture
def fetched(page: Page) -> list[str]:
    """Every address that anything on the page asked for, but the host's own page."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url != HOST else None)
    return asked


@pytest.fixture
def show(page: Page, request_of: Call, card: str, fetched: list[str]) -> Callable[..., FrameLocator]:
    def answer(route: Route) -> None:
        if route.request.url == HOST:
            route.fulfill(path=HOST_PAGE, content_type="text/html")
        else:
            route.abort()

    def shown(result: dict[str, Any], theme: str = "light") -> FrameLocator:
        page.route("**/*", answer)
        page.expose_function(
            "callTool", lambda name, given: request_of("tools/call", {"name": name, "arguments": given})
        )
        page.goto(HOST)
        page.evaluate(
            "given => showCard(given)", {"html": card, "input": QUESTION, "result": result, "theme": theme}
        )
        return page.frame_locator("iframe")

    return shown


def test_an_answer_is_shown_and_verified(
    page: Page,
    request_of: Call,
    show: Callable[..., FrameLocator],
    fetched: list[str],
    picture: Callable[[str], None],
) -> None:
    result = request_of("tools/call", {"name": "ask", "arguments": QUESTION})
    answer = result["structuredContent"]
    frame = show(result)
    expect(frame.locator("[data-part=sentence]")).to_contain_text("Read as:")
    expect(frame.locator("[data-part=sentence]")).not_to_contain_text("|")
    assert len(answer["run"]["rows"]) > 1
    expect(frame.locator("[data-part=table] tbody tr")).to_have_count(len(answer["run"]["rows"]))
    assert frame.locator("[data-part=chart] rect").count() >= len(answer["run"]["rows"])
    picture("answer")
    frame.get_by_text("How it came about").click()
    expect(frame.locator("[data-part=evidence]")).to_contain_text("SELECT")
    frame.get_by_role("button", name="Verify").click()
    expect(frame.locator("[data-part=report]")).to_contain_text("Verified: nothing is broken.")
    expect(frame.locator("[data-part=report] li")).not_to_have_count(0)
    picture("verified")
    assert page.evaluate("heard").count("tools/call") == 1
    # The frame grew with what it shows.
    assert page.locator("iframe").bounding_box()["height"] > 400  # pyright: ignore[reportOptionalSubscript] - it is shown
    assert fetched == [] or set(fetched) == {"about:srcdoc"}
    assert page.complaints == []  # pyright: ignore[reportAttributeAccessIssue] - of the fixture


def test_data_are_put_in_as_text(
    page: Page, show: Callable[..., FrameLocator], fetched: list[str], picture: Callable[[str], None]
) -> None:
    evil = "<img src=http://evil.test/x onerror=\"parent.postMessage('broken','*')\"></script><b>bold</b>"
    run = {
        "run_id": "run_0",
        "status": "succeeded",
        "dataset_id": evil,
        "dataset_version": "v",
        "sql": evil,
        "columns": [{"name": evil, "type": "VARCHAR", "kind": "text", "unit": ""}],
        "rows": [[evil], [None]],
        "row_count": 2,
        "capsule_uri": "sandtable://runs/run_0/capsule",
    }
    bar = {"type": "bar", "x": [evil, "b"], "y": [1, 2]}
    result = {
        "structuredContent": {"thread_id": "t", "outcome": "answered", "message": evil, "run": run},
        "_meta": {"sandtable/figure": {"data": [bar], "layout": {"title": evil}}},
    }
    frame = show(result, "dark")
    expect(frame.locator("[data-part=table] td").first).to_have_text(evil)
    expect(frame.locator("figure title").first).to_contain_text("<img")
    assert frame.locator("img, b").count() == 0
    frame.get_by_role("button", name="Verify").click()
    # There is no such run: the tool says so, and the card shows it.
    expect(frame.locator("[data-part=proof]")).to_contain_text("NOT_FOUND")
    picture("dark")
    assert not any("evil" in url for url in fetched)


@pytest.mark.parametrize(
    ("result", "says"),
    [
        pytest.param({"content": [{"type": "text", "text": "Only words"}]}, "Only words", id="words"),
        pytest.param(
            {
                "isError": True,
                "structuredContent": {
                    "run_id": "run_0",
                    "status": "rejected",
                    "error": {"code": "SQL_POLICY_VIOLATION", "message": "no", "suggestion": "Use a table."},
                },
            },
            "SQL_POLICY_VIOLATION: no Use a table.",
            id="refused",
        ),
        pytest.param(
            {
                "structuredContent": {
                    "thread_id": "t",
                    "outcome": "asked",
                    "message": "**Which**, `a*b` or a\\_b\\*?",
                    "choices": ["Total", "Average"],
                }
            },
            "Average",
            id="choices",
        ),
    ],
)
def test_what_is_no_answer_is_shown_too(
    page: Page, show: Callable[..., FrameLocator], result: dict[str, Any], says: str
) -> None:
    frame = show(result)
    expect(frame.locator("main")).to_contain_text(says)
    if says == "Average":
        expect(frame.locator(".sentence")).to_have_text("Which, a*b or a_b*?")
        assert frame.locator("strong, code").all_text_contents() == ["Which", "a*b"]
    assert page.complaints == []  # pyright: ignore[reportAttributeAccessIssue] - of the fixture
