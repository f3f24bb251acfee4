"""A person signs in: with a password, and with a real OpenID provider."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from scripts import node
from tests.browser.conftest import PROGRAM, ROOT, serving

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.needs("userns"),
    pytest.mark.needs("web_ui"),
    pytest.mark.needs("oidc_provider"),
]

PASSWORD = "correct horse battery"
PROVIDER = Path(__file__).parents[1] / "oidc_provider"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


@contextmanager
def _provider(port: int, url: str) -> Iterator[str]:
    program = node.find_node()
    command = [str(program), "provider.mjs", str(port), f"{url}/login/oidc/callback", "research,operators"]
    with subprocess.Popen(
        command, cwd=PROVIDER, env=node.environment(program), stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        assert process.stdout
        while not (line := process.stdout.readline()).startswith("http"):
            assert line, "the provider ended"
        try:
            yield line.strip()
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home, port, other = tmp_path_factory.mktemp("accounts"), _free_port(), _free_port()
    url = f"http://localhost:{port}"
    subprocess.run(
        [*PROGRAM, "user", "add", "ada", "--admin", "--password-stdin"],
        input=PASSWORD, text=True, check=True, stdout=subprocess.DEVNULL,
        env={"SANDTABLE_HOME": str(home), "PYTHONPATH": str(ROOT / "src"), "PATH": str(Path(sys.executable).parent)},
    )  # fmt: skip
    with _provider(other, url) as issuer, serving(home) as start:
        yield start(
            PORT=str(port), ACCOUNTS="on", PUBLIC_URL=url, OIDC_ISSUER=issuer, OIDC_CLIENT_ID="sandtable",
            OIDC_CLIENT_SECRET="a-secret-of-the-tests", OIDC_NAME="Example Login", OIDC_ADMIN_GROUPS="operators",
        )  # fmt: skip


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(60_000)
    yield opened
    context.close()


def test_a_person_signs_in_asks_makes_a_key_and_leaves(
    server: str, page: Page, picture: Callable[[str], None]
) -> None:
    page.goto(f"{server}/runs?status=failed")
    expect(page).to_have_url(re.compile("/login"))
    picture("sign-in")
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill("wrong password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("the name or the password is wrong")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{server}/runs?status=failed")

    page.get_by_role("button", name="New question").first.click()
    question = page.get_by_role("textbox").first
    question.fill("how many orders are there?")
    question.press("Enter")
    expect(page.get_by_text(re.compile(r"^There (are|were) [\d,]+ orders")).first).to_be_visible()

    page.get_by_role("button", name="Account of ada").click()
    expect(page.get_by_text("ada, administrator")).to_be_visible()
    page.get_by_role("menuitem", name="Your account").click()
    expect(page).to_have_url(f"{server}/account")
    page.get_by_label("What the key is for").fill("nightly")
    page.get_by_role("button", name="Make a key").click()
    key = page.get_by_role("status").locator("code").inner_text()
    picture("keys")
    assert key.startswith("st_")
    answer = page.context.browser.new_context().request.get(  # pyright: ignore[reportOptionalMemberAccess] - it is launched
        f"{server}/me", headers={"Authorization": f"Bearer {key}"}
    )
    assert answer.json()["proof"] == "key"
    page.get_by_role("button", name="Revoke nightly").click()
    expect(page.get_by_text("You have no keys.")).to_be_visible()

    page.get_by_role("button", name="Account of ada").click()
    page.get_by_role("menuitem", name="Sign out").click()
    expect(page).to_have_url(f"{server}/login")
    page.goto(f"{server}/data")
    expect(page).to_have_url(re.compile("/login"))


def test_a_person_signs_in_with_a_provider(server: str, page: Page, picture: Callable[[str], None]) -> None:
    page.goto(f"{server}/data")
    page.get_by_role("link", name="Continue with Example Login").click()
    page.get_by_placeholder("Enter any login").fill("grace")
    page.get_by_placeholder("and password").fill("anything")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()
    expect(page).to_have_url(f"{server}/data")
    me = page.request.get(f"{server}/me").json()
    assert (me["name"], me["proof"], me["admin"]) == ("grace", "session", True)
    assert me["teams"] == ["operators", "research"] and not me["has_password"]
    expect(page.get_by_role("button", name="Account of grace")).to_be_visible()
    picture("signed-in")
    # The same answer of the provider, brought a second time, proves nothing.
    page.goto(f"{server}/login/oidc/callback?code=guessed&state=guessed")
    expect(page.get_by_role("alert")).to_contain_text("did not work")
