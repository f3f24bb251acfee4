"""The unmodified stock chat UI on a server that people sign in to: the session's cookie is all that it has."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PROGRAM, ROOT, serving
from tests.browser.test_stock_chat import Picture, answers, ask, complaints, open_chat

pytestmark = [pytest.mark.needs("userns", "chromium", "chat_ui")]

PASSWORD = "correct horse battery"
HERE = {"PYTHONPATH": str(ROOT / "src"), "PATH": str(Path(sys.executable).parent)}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("signed-in")
    for name, more in (("ada", "--admin"), ("bob", "--keep-password")):
        subprocess.run(
            [*PROGRAM, "user", "add", name, more, "--password-stdin"],
            input=PASSWORD, text=True, check=True, stdout=subprocess.DEVNULL,
            env={**HERE, "SANDTABLE_HOME": str(home)},
        )  # fmt: skip
    with serving(home) as start:
        yield start(ACCOUNTS="on")


def sign_in(page: Page, name: str) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def test_a_person_signs_in_asks_goes_on_and_comes_back(server: str, page: Page, picture: Picture) -> None:
    page.goto(f"{server}/chat/")
    expect(page).to_have_url(re.compile("/login"))
    sign_in(page, "bob")
    expect(page).to_have_url(re.compile("/chat/"))
    open_chat(page, server)
    page.locator("[data-part=prompts] button").first.click()
    answers(page, 1)
    expect(page.locator("[data-part=chart] rect").first).to_be_visible()
    ask(page, "now only for Electronics")
    answers(page, 2)
    picture("answered")
    address = page.url
    page.goto(address)
    answers(page, 2)
    assert complaints(page) == []

    # The conversation is that of the person who signed in.
    thread = re.search(r"threadId=([0-9a-f-]{36})", address)
    assert thread is not None, address
    state = page.request.get(f"{server}/langgraph/threads/{thread[1]}/state")
    assert state.status == 200 and len(state.json()["values"]["messages"]) >= 4
    page.context.clear_cookies()
    refused = page.request.get(f"{server}/langgraph/threads/{thread[1]}/state")
    assert refused.status == 401
    page.goto(f"{server}/login")
    sign_in(page, "ada")
    expect(page).to_have_url(f"{server}/")
