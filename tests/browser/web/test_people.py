"""An administrator manages users and teams in the browser, and a person their own account."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import PATIENCE_MS, PROGRAM, ROOT, serving
from tests.browser.web.axe import violations
from tests.browser.web.conftest import WIDE, Watch

pytestmark = [pytest.mark.needs("chromium", "userns", "web_ui", "axe")]

PASSWORD = "correct horse battery"
BETTER = "another good one"
PHONE = {"width": 390, "height": 844}
_TOO_WIDE = """() => [document.documentElement, ...document.querySelectorAll("main > div, [role=dialog] > div")]
  .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent.slice(0, 80))"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """With an administrator, `ada`; each test adds others, whom no other test uses."""
    home = tmp_path_factory.mktemp("people")
    subprocess.run(
        [*PROGRAM, "user", "add", "ada", "--admin", "--password-stdin"],
        input=PASSWORD, text=True, check=True, stdout=subprocess.DEVNULL,
        env={"SANDTABLE_HOME": str(home), "PYTHONPATH": str(ROOT / "src"), "PATH": str(Path(sys.executable).parent)},
    )  # fmt: skip
    with serving(home) as start:
        yield start(ACCOUNTS="on")


@pytest.fixture
def other(browser: Browser, watch: Watch) -> Iterator[Page]:
    """The browser of another person."""
    context = browser.new_context(viewport=WIDE, locale="en-GB")  # pyright: ignore[reportArgumentType] - a size
    watch.over(context)
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE_MS)
    yield opened
    context.close()


def _sign_in(
    page: Page, server: str, name: str, password: str = PASSWORD, place: str = "/people", changed: str = ""
) -> None:
    """`changed`: what the password that an administrator made is changed to."""
    page.goto(f"{server}{place}")
    expect(page).to_have_url(re.compile("/login"))
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    if changed:
        _change(page, server, password, changed, place)
    expect(page).to_have_url(f"{server}{place}")


def _change(page: Page, server: str, given: str, password: str, place: str) -> None:
    """On the page that asks for another password, after the one that an administrator made."""
    expect(page).to_have_url(re.compile(r"/login/password\?next="))
    expect(page.get_by_text("An administrator made your password.")).to_be_visible()
    page.get_by_label("Password until now").fill(given)
    page.get_by_label("New password", exact=True).fill(password)
    again = page.get_by_label("The new password again")
    again.fill("another one")
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_role("alert")).to_have_text("The new passwords are not the same.")
    again.fill(password)
    again.press("Enter")
    expect(page).to_have_url(f"{server}{place}")


def _add(page: Page, server: str, name: str) -> None:
    """`page` is of an administrator."""
    answer = page.request.post(
        f"{server}/users",
        data={"name": name, "password": PASSWORD, "keep_password": True},
        headers={"Origin": server, "X-Sandtable-CSRF": "1"},
    )
    assert answer.status == 201, answer.text()
    page.reload()


def _user(page: Page, name: str) -> Locator:
    actions = page.get_by_role("button", name=f"Actions for {name}")
    return page.get_by_role("list", name="Users").get_by_role("listitem").filter(has=actions)


def _act(page: Page, name: str, act: str) -> Locator:
    """The dialog that asks before the act."""
    page.get_by_role("button", name=f"Actions for {name}").click()
    page.get_by_role("menuitem", name=act, exact=True).click()
    return page.get_by_role("dialog")


def _done(page: Page, dialog: Locator, button: str, said: str) -> None:
    dialog.get_by_role("button", name=button, exact=True).click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("status").filter(has_text=said)).to_be_visible()


def test_an_administrator_adds_a_user_who_signs_in_and_is_kept_out(
    server: str, page: Page, other: Page, watch: Watch, picture: Callable[[str], None]
) -> None:
    watch.expects("status of 4(01|22)")
    _sign_in(page, server, "ada")
    _add(page, server, "bob")
    page.get_by_role("button", name="Add a user").click()
    dialog = page.get_by_role("dialog")
    name = dialog.get_by_label("Name")
    expect(name).to_be_focused()
    name.fill("bob")
    name.press("Enter")
    expect(name).to_have_attribute("aria-invalid", "true")
    expect(name).to_have_accessible_description(re.compile("The user bob exists already"))
    picture("taken")
    name.fill("Eve")
    dialog.get_by_role("button", name="Add the user").click()
    password = dialog.locator("code").inner_text()
    picture("password")
    dialog.get_by_role("button", name="Done").click()
    expect(_user(page, "eve")).to_contain_text("Never signed in")

    expect(_user(page, "eve")).to_contain_text("Must change the password")

    _sign_in(other, server, "eve", password, changed=PASSWORD)
    expect(other.get_by_text("Only administrators see users and teams")).to_be_visible()
    _done(page, _act(page, "eve", "Make administrator"), "Make administrator", "eve is an administrator.")
    expect(_user(page, "eve")).to_contain_text("Administrator")
    other.reload()
    expect(_user(other, "eve")).to_contain_text("you")

    _done(page, _act(page, "eve", "End sessions"), "End sessions", "The sessions of eve ended.")
    other.reload()
    expect(other).to_have_url(re.compile("/login"))
    reset = _act(page, "eve", "New password")
    reset.get_by_role("button", name="Make a password").click()
    second = reset.locator("code").inner_text()
    reset.get_by_role("button", name="Done").click()
    assert second != password
    _sign_in(other, server, "eve", second, changed=BETTER)
    _done(page, _act(page, "eve", "Disable"), "Disable", "eve is disabled.")
    picture("disabled")
    other.reload()
    expect(other).to_have_url(re.compile("/login"))
    _done(page, _act(page, "eve", "Enable"), "Enable", "eve can sign in again.")
    _done(page, _act(page, "eve", "Remove"), "Remove", "eve was removed.")
    expect(_user(page, "eve")).to_have_count(0)
    page.get_by_role("button", name="Add a user").click()
    name.fill("eve")
    name.press("Enter")
    dialog.get_by_role("button", name="Restore this account").click()
    expect(dialog.get_by_text("eve was added.")).to_be_visible()
    dialog.get_by_role("button", name="Done").click()
    expect(_user(page, "eve")).to_be_visible()

    last = _act(page, "ada", "Make ordinary user")
    last.get_by_role("button", name="Make ordinary user").click()
    expect(last.get_by_role("alert")).to_contain_text("ada is the only administrator")
    picture("last-administrator")


def test_an_administrator_makes_a_team(
    server: str, page: Page, watch: Watch, picture: Callable[[str], None]
) -> None:
    watch.expects("status of 4(01|22)")
    _sign_in(page, server, "ada")
    _add(page, server, "cyd")
    page.get_by_role("tab", name="Teams").click()
    name = page.get_by_label("Name of a new team")
    name.fill("Not a name")
    name.press("Enter")
    expect(name).to_have_accessible_description(re.compile("cannot be the name of a team"))
    name.fill("Research")
    name.press("Enter")
    team = page.get_by_role("region", name="Team research")
    for member in ("cyd", "ada"):
        team.get_by_label("User to add to research").select_option(member)
        team.get_by_role("button", name="Add to the team").click()
        expect(team.get_by_role("listitem").filter(has_text=member)).to_be_visible()
    picture("team")
    team.get_by_role("button", name="Take ada out of research").click()
    expect(team.get_by_role("listitem")).to_have_text(["cyd"])
    page.get_by_role("tab", name="Users").click()
    expect(_user(page, "cyd")).to_contain_text("In research")
    page.get_by_role("tab", name="Teams").click()
    team.get_by_role("button", name="Remove the team research").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove it").click()
    expect(team).to_have_count(0)


def test_a_person_changes_the_password_and_ends_sessions(
    server: str, page: Page, other: Page, watch: Watch
) -> None:
    watch.expects("status of 4(01|22)")
    _sign_in(other, server, "ada")
    _add(other, server, "dan")
    other.context.clear_cookies()
    _sign_in(page, server, "dan", place="/")
    _sign_in(other, server, "dan", place="/account")
    page.get_by_role("button", name="Account of dan").click()
    expect(page.get_by_role("menuitem", name="Users and teams")).to_have_count(0)
    page.get_by_role("menuitem", name="Your account").click()
    sessions = page.get_by_role("list", name="Sessions").get_by_role("listitem")
    expect(sessions).to_have_count(2)
    page.get_by_role("button", name="Sign out everywhere else").click()
    expect(sessions).to_have_text([re.compile("this one")])
    other.reload()
    expect(other).to_have_url(re.compile("/login"))

    old, new, again = (page.get_by_label(label, exact=True) for label in (
        "Old password", "New password", "New password, again",
    ))  # fmt: skip
    for given, wrong, why in (
        (("wrong password", BETTER, BETTER), old, "The old password is wrong"),
        ((PASSWORD, "short", "short"), new, "The password has 5 characters"),
        ((PASSWORD, BETTER, "something else"), again, "The two differ"),
    ):
        for field, text in zip((old, new, again), given, strict=True):
            field.fill(text)
        again.press("Enter")
        expect(wrong).to_have_accessible_description(re.compile(why))
    expect(page).to_have_url(f"{server}/account")
    again.fill(BETTER)
    again.press("Enter")
    expect(page.get_by_text("Your password is changed.")).to_be_visible()
    _sign_in(other, server, "dan", BETTER, place="/account")


@pytest.mark.parametrize("look", [{"viewport": WIDE}, {"viewport": PHONE}], ids=["1280", "390"])
def test_axe_finds_nothing(
    server: str, page: Page, look: dict[str, Any], watch: Watch, picture: Callable[[str], None]
) -> None:
    watch.expects("status of 4(01|22)")
    found: list[str] = []

    def at(place: str, besides: str = "") -> None:
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)  # pyright: ignore[reportArgumentType] - one of two
            expect(page.locator("html")).to_have_attribute("data-theme", theme)
            picture(f"{place}-{theme}")
            wrong = [one for one in violations(page) if one["rule"] != besides]
            found.extend(f"{place}, {theme}: {one['rule']} {one['what']}" for one in wrong)
            found.extend(f"{place}: wider than its place: {text}" for text in page.evaluate(_TOO_WIDE))

    user = f"user-{look['viewport']['width']}"
    team = f"team-{look['viewport']['width']}"
    _sign_in(page, server, "ada")
    _add(page, server, user)
    _done(page, _act(page, user, "Disable"), "Disable", f"{user} is disabled.")
    # What opens over a page is in no landmark of it: menus, and the label of a button that has the focus.
    at("users", besides="region")
    page.get_by_role("button", name=f"Actions for {user}").click()
    at("menu", besides="region")
    page.get_by_role("menuitem", name="Keys and sessions").click()
    expect(page.get_by_text("There are no keys.")).to_be_visible()
    at("keys")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name=f"Actions for {user}")).to_be_focused()
    _act(page, user, "Remove")
    at("remove")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Add a user").click()
    name = page.get_by_role("dialog").get_by_label("Name")
    name.fill(user)
    name.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    at("add")
    name.fill(f"{user}.with.a.rather.long.name@department.example.org")
    name.press("Enter")
    expect(page.get_by_text("It is shown this once")).to_be_visible()
    at("password")
    page.get_by_role("button", name="Done").click()
    _act(page, f"{user}.with", "Disable")
    at("long name")
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Teams").click()
    page.get_by_label("Name of a new team").fill(team)
    page.get_by_label("Name of a new team").press("Enter")
    card = page.get_by_role("region", name=f"Team {team}")
    card.get_by_label("User to add to").select_option(user)
    card.get_by_role("button", name="Add to the team").click()
    expect(card.get_by_role("listitem")).to_have_text([user])
    at("teams")
    page.goto(f"{server}/account")
    page.get_by_label("What the key is for").fill("nightly")
    page.get_by_role("button", name="Make a key").click()
    expect(page.get_by_text("It is shown this once")).to_be_visible()
    expect(page.get_by_role("list", name="Keys")).to_be_visible()
    at("account")
    assert found == [], "\n".join(found)


def test_without_accounts_there_is_no_page_and_no_link(served: str, page: Page) -> None:
    for place in ("/people", "/account"):
        page.goto(f"{served}{place}")
        expect(page.get_by_text("There is no page at this address.")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Account of"))).to_have_count(0)
    page.keyboard.press("ControlOrMeta+k")
    expect(page.get_by_role("option", name="Go to data")).to_be_visible()
    expect(page.get_by_role("option", name=re.compile("account|teams"))).to_have_count(0)
