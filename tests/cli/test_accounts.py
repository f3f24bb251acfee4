"""`sandtable user`, `team` and `token`: over the accounts in the home folder."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sandtable.accounts.passwords import Cost, Passwords
from sandtable.accounts.shares import Share, Thing
from sandtable.assemble.shares import shares_of
from sandtable.cli import main
from sandtable.settings import Settings
from tests.own_logs import own_logs

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "correct horse battery"
THREAD = Thing("thread", "t1", "ada")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("SANDTABLE_HOME", str(tmp_path))
    monkeypatch.setattr(
        "sandtable.accounts.accounts.Passwords", lambda: Passwords(Cost(1, 64, 1))
    )  # the parameters of a server take a tenth of a second
    with own_logs():
        yield tmp_path


def run(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(main, arguments, input=stdin, catch_exceptions=False)


def as_json(*arguments: str, stdin: str = "") -> Any:
    done = run(*arguments, "--json", stdin=stdin)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def add(name: str, *more: str) -> Any:
    return as_json("user", "add", name, "--password-stdin", *more, stdin=PASSWORD + "\n")


def test_the_life_of_a_user() -> None:
    assert "sandtable user add NAME --admin" in run("user", "list").stdout
    assert add("Ada", "--admin")["admin"] is True
    add("bob")
    shown = run("user", "list").stdout
    assert "administrator" in shown and "bob" in shown
    assert run("user", "disable", "bob").stdout == "bob can no longer sign in.\n"
    assert [user["disabled"] for user in as_json("user", "list")] == [False, True]
    run("user", "enable", "bob")
    run("user", "admin", "bob")
    run("user", "admin", "ada", "--off")
    assert [user["admin"] for user in as_json("user", "list")] == [False, True]
    last = run("user", "remove", "bob", "--json")
    assert last.exit_code == 2
    assert "only administrator" in json.loads(last.stdout)["error"]["message"]
    assert run("user", "remove", "ada").exit_code == 0
    assert [user["name"] for user in as_json("user", "list")] == ["bob"]
    again = run("user", "add", "ada", "--no-password")
    assert again.exit_code == 2 and "--restore" in again.stderr
    assert as_json("user", "add", "ada", "--no-password", "--restore")["signs_in_with"] is None


@pytest.mark.parametrize(
    ("stdin", "said"), [("short\n", "5 characters"), ("", "no password"), ("x" * 300, "300 characters")]
)
def test_a_password_that_cannot_be_used(stdin: str, said: str) -> None:
    done = run("user", "add", "ada", "--password-stdin", stdin=stdin)
    assert done.exit_code == 2 and said in done.stderr
    assert as_json("user", "list") == []


def test_without_a_terminal_stdin_must_be_asked_for() -> None:
    done = run("user", "add", "ada", stdin=PASSWORD)
    assert done.exit_code == 2 and "--password-stdin" in done.stderr


def test_passwords_are_no_arguments() -> None:
    for name in ("add", "passwd"):
        options = run("user", name, "--help").stdout
        assert "--password-stdin" in options and "--password " not in options


def test_a_terminal_is_asked_twice_and_shows_nothing(home: Path) -> None:
    ours, theirs = pty.openpty()
    program = (sys.executable, "-c", "from sandtable.cli import main; main(prog_name='sandtable')")
    environment = {**os.environ, "SANDTABLE_HOME": str(home), "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(
        [*program, "user", "add", "ada"],
        stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True,
    ) as process:  # fmt: skip
        os.close(theirs)
        shown = b""
        for prompt in (b"Password:", b"The same again:"):
            while prompt not in shown:
                shown += os.read(ours, 1024)
            os.write(ours, PASSWORD.encode() + b"\n")
        while b"Added" not in shown:
            shown += os.read(ours, 1024)
        assert process.wait(30) == 0
    os.close(ours)
    assert PASSWORD.encode() not in shown
    assert [user["signs_in_with"] for user in as_json("user", "list")] == ["password"]


def test_teams(home: Path) -> None:
    add("ada")
    run("team", "add", "Research")
    assert run("team", "join", "research", "ada").stdout == "ada is in the team research.\n"
    assert as_json("team", "list") == [{"name": "research", "members": ["ada"]}]
    assert "research" in run("user", "list").stdout and "ada" in run("team", "list").stdout
    assert run("team", "join", "research", "eve").exit_code == 2
    assert run("team", "join", "sales", "ada").exit_code == 2
    run("team", "leave", "research", "ada")
    assert as_json("team", "list") == [{"name": "research", "members": []}]
    asyncio.run(_share_with("research", home))
    run("team", "remove", "research")
    assert as_json("team", "list") == []
    assert asyncio.run(_shared(home)) == []


async def _share_with(team: str, home: Path) -> None:
    async with shares_of(Settings(home=home), None) as shares:
        await shares.put(THREAD, "team", team, "see", "ada")
        assert await shares.of(THREAD)


async def _shared(home: Path) -> list[Share]:
    async with shares_of(Settings(home=home), None) as shares:
        return await shares.of(THREAD)


def test_keys() -> None:
    add("ada")
    made = run("token", "add", "ada", "nightly report")
    token = made.stdout.strip()
    assert token.startswith("st_") and "cannot be shown again" in made.stderr
    other = as_json("token", "add", "ada", "all", "--scope", "read", "--scope", "data", "--never-expires")
    second, first = sorted(as_json("token", "list", "--user", "ada"), key=lambda key: key["name"])
    assert (first["name"], first["scopes"]) == ("nightly report", ["ask", "read"])
    assert first["expires_at"] - first["created_at"] == 90 * 86400
    assert (second["scopes"], second["expires_at"]) == (["data", "read"], None)
    listed = run("token", "list").stdout
    assert first["id"] in listed and token not in listed and other["token"] not in listed
    assert run("token", "revoke", first["id"]).exit_code == 0
    assert [key["id"] for key in as_json("token", "list")] == [second["id"]]
    assert run("token", "revoke", first["id"]).exit_code == 2
    assert run("token", "add", "eve", "x").exit_code == 2


def test_a_given_password_must_be_changed_but_not_the_operators_own() -> None:
    def must_change() -> dict[str, bool]:
        return {user["name"]: user["must_change_password"] for user in as_json("user", "list")}

    add("ada", "--admin")
    add("bob")
    add("carl", "--keep-password")
    assert run("user", "add", "eve", "--no-password").exit_code == 0
    assert must_change() == {"ada": False, "bob": True, "carl": False, "eve": False}
    shown = run("user", "passwd", "carl", "--password-stdin", stdin=PASSWORD + "\n").stdout
    assert shown == "carl has a new password, and must sign in with it, and change it.\n"
    shown = run("user", "passwd", "bob", "--password-stdin", "--keep-password", stdin=PASSWORD + "\n").stdout
    assert shown == "bob has a new password, and must sign in with it.\n"
    assert must_change() == {"ada": False, "bob": False, "carl": True, "eve": False}
