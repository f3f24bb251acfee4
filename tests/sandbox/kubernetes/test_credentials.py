"""A credential is asked for renew when the server no longer takes it; a program that makes one may fail in words."""

from __future__ import annotations

import json
import ssl
from pathlib import Path

import httpx2
import pytest

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.kubernetes.credentials import Plugin, SignedIn, TokenFile


class Counted:
    def __init__(self) -> None:
        self.asked: list[bool] = []

    async def authorization(self, *, renew: bool) -> str | None:
        self.asked.append(renew)
        return f"Bearer {'second' if renew else 'first'}"


def _server(accepted: str) -> httpx2.MockTransport:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200 if request.headers.get("Authorization") == accepted else 401)

    return httpx2.MockTransport(answer)


@pytest.mark.parametrize(
    ("accepted", "status", "asked"),
    [("Bearer first", 200, [False]), ("Bearer second", 200, [False, True]), ("none", 401, [False, True])],
    ids=["at once", "after a renewal", "never"],
)
async def test_one_renewal(accepted: str, status: int, asked: list[bool]) -> None:
    source = Counted()
    async with httpx2.AsyncClient(auth=SignedIn(source), transport=_server(accepted)) as client:
        assert (await client.get("http://api.test/")).status_code == status
    assert source.asked == asked


async def test_a_token_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SandboxUnavailable, match="token cannot be read"):
        await TokenFile(tmp_path / "token").authorization(renew=False)


def _plugin(folder: Path, script: str, **environment: str) -> Plugin:
    program = folder / "login"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    tls = ssl.create_default_context()
    return Plugin(str(program), ("a b", "c"), environment, "client.authentication.k8s.io/v1", tls)


def _credential(token: str, ends: str) -> str:
    return json.dumps({"kind": "ExecCredential", "status": {"token": token, "expirationTimestamp": ends}})


async def test_a_program_is_asked_once_as_long_as_its_answer_holds(tmp_path: Path) -> None:
    count = tmp_path / "count"
    plugin = _plugin(tmp_path, f"echo x >>{count}\necho '{_credential('t', '2126-01-01T00:00:00Z')}'")
    for renew in (False, False, True):
        assert await plugin.authorization(renew=renew) == "Bearer t"
    assert count.read_text().count("x") == 2


async def test_an_answer_that_has_ended_is_asked_for_again(tmp_path: Path) -> None:
    count = tmp_path / "count"
    plugin = _plugin(tmp_path, f"echo x >>{count}\necho '{_credential('t', '2020-01-01T00:00:00Z')}'")
    for _ in range(2):
        await plugin.authorization(renew=False)
    assert count.read_text().count("x") == 2


async def test_a_program_gets_its_words_and_its_environment(tmp_path: Path) -> None:
    script = """case "$KUBERNETES_EXEC_INFO" in *client.authentication.k8s.io/v1*) ;; *) exit 3 ;; esac
test -n "$PATH" || exit 4
printf '{"status": {"token": "%s|%s|%s"}}' "$1" "$2" "$ROLE"
"""
    plugin = _plugin(tmp_path, script, ROLE="a=b c")
    assert await plugin.authorization(renew=False) == "Bearer a b|c|a=b c"


@pytest.mark.parametrize(
    ("script", "told"),
    [("echo not signed in >&2; exit 1", "not signed in"), ("echo hello", "credential as JSON")],
    ids=["fails", "says something else"],
)
async def test_a_program_that_fails_is_named(tmp_path: Path, script: str, told: str) -> None:
    with pytest.raises(SandboxUnavailable, match=told) as caught:
        await _plugin(tmp_path, script).authorization(renew=False)
    assert "login" in caught.value.message
    assert "login" in caught.value.suggestion


async def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    plugin = _plugin(tmp_path, "exit 0")
    plugin.command = "no-such-login-program"
    with pytest.raises(SandboxUnavailable, match="no-such-login-program"):
        await plugin.authorization(renew=False)
