"""Every route of the application is in the table of permissions, and nothing else is."""

from __future__ import annotations

import re
from typing import Any

import pytest

from sandtable.accounts.principal import SCOPES, Principal
from sandtable.server.app import create_app
from sandtable.server.permissions import NEEDS, allows, need_of
from tests.server.access.all_routes import routes as all_routes
from tests.server.house import House

# Pages and files of the web interface: a middleware answers them.
PAGES = {
    "GET /assets/*",
    "GET /*.*",
    *(
        f"GET {path}{end}"
        for path in ("/t/*", "/data", "/data/*", "/compare", "/account", "/people")
        for end in ("", "/")
    ),
}


def _without_names(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "*", path)


@pytest.fixture
def routes(house: House) -> set[tuple[str, str]]:
    app = create_app(house)  # pyright: ignore[reportArgumentType] - a double of Parts
    lines = (line.partition(" ") for line in all_routes(app))
    return {(method, _without_names(path)) for method, _, path in lines}


async def test_every_route_says_what_it_needs(routes: set[tuple[str, str]]) -> None:
    assert len(routes) > 90 and ("WS", "/v2/stream/*") in routes
    known = {(method, _without_names(path)) for method, path in _lines()}
    missing = sorted(f"{method} {path}" for method, path in routes - known)
    assert not missing, f"add to NEEDS in server/permissions.py: {missing}"


async def test_nothing_else_is_in_the_table(routes: set[tuple[str, str]]) -> None:
    lines = [f"{method} {_without_names(path)}" for method, path in _lines()]
    assert sorted(set(lines)) == sorted(lines), "each once"
    assert set(lines) - {f"{method} {path}" for method, path in routes} == PAGES


def _lines() -> list[tuple[str, str]]:
    return [(line.partition(" ")[0], line.partition(" ")[2]) for lines in NEEDS.values() for line in lines]


async def test_what_changes_something_needs_more_than_to_read() -> None:
    """Each exception is here by name."""
    harmless = {need: lines for need, lines in NEEDS.items() if need in ("open", "any", "metrics", "read")}
    unsafe = {
        line for lines in harmless.values() for line in lines if not line.startswith(("GET ", "OPTIONS "))
    }
    assert unsafe == {
        "POST /login",
        "POST /verify",
        "POST /runs/{run_id}/verify",
        "POST /langgraph/assistants/search",
        "POST /langgraph/assistants/count",
        "POST /langgraph/threads/search",
        "POST /langgraph/threads/count",
        "POST /langgraph/threads/{thread_id}/history",
        "POST /langgraph/threads/{thread_id}/state/checkpoint",
        "POST /langgraph/ui/{assistant_id}",
    }


@pytest.mark.parametrize(
    ("method", "path", "need"),
    [
        ("GET", "/runs", "read"),
        ("HEAD", "/runs", "read"),
        ("POST", "/runs", "ask"),
        ("DELETE", "/runs", None),
        ("GET", "/runs/run_1", "read"),
        ("GET", "/runs/run_1/anything", None),
        ("GET", "/langgraph/threads/t/state", "read"),
        ("GET", "/chat", "ask"),
        ("GET", "/chat/", "ask"),
        ("GET", "/chat/assets/x.js", "any"),
        ("GET", "/openapi.json", "any"),
        ("GET", "/favicon.svg", "open"),
        ("GET", "/login", "open"),
        ("GET", "/assets/../users", "open"),
        ("GET", "/users", "admin"),
        ("GET", "/users/", None),
        ("GET", "/users/a.b", None),
        ("POST", "/users/ada", None),
        ("GET", "/runs\n", None),
        ("GET", "", None),
        ("WS", "/v2/stream/s", "ask"),
        ("WS", "/runs", None),
        ("GET", "/v2/stream/s", None),
    ],
)
async def test_paths_find_their_line(method: str, path: str, need: str | None) -> None:
    assert need_of(method, path) == need


@pytest.mark.parametrize("scope", sorted(SCOPES))
async def test_a_key_may_do_what_its_scopes_say(scope: Any) -> None:
    key = Principal("ada", proof="key", scopes=frozenset([scope]))
    assert {each for each in SCOPES if allows(each, key)} == {scope} - {"admin"}
    admins = Principal("ada", proof="key", scopes=frozenset([scope]), is_admin=True)
    assert {each for each in SCOPES if allows(each, admins)} == {scope}
    assert not allows("person", admins) and allows("metrics", key) and allows("any", key)


async def test_a_person_may_do_all_but_what_administrators_do() -> None:
    person = Principal("ada", proof="session")
    assert {each for each in SCOPES if not allows(each, person)} == {"admin"}
    assert allows("person", person) and not allows("metrics", person)
    admin = Principal("ada", proof="session", is_admin=True)
    assert all(allows(need, admin) for need in NEEDS)
