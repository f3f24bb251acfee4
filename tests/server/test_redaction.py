"""No secret reaches a log line, whatever the field, the form or the depth; what is no secret stays readable."""

from __future__ import annotations

import io
import json
import logging
from typing import Any

import pytest
import structlog
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import SecretStr

from sandtable.server import logs
from sandtable.server.redaction import HIDDEN, Redaction, secrets_of
from sandtable.settings import Settings
from tests.own_logs import own_logs

SECRET = "h4x-Zq9v_T0pS3cretValue"


def shown(*secrets: str, **line: Any) -> str:
    return json.dumps(Redaction(secrets)(None, "info", line), ensure_ascii=False, default=repr)


FIELDS = [
    "authorization", "Authorization", "proxy_authorization", "password", "db_password", "passwd", "pwd", "passphrase",
    "secret", "client_secret", "token", "access_token", "refresh-token", "id_token", "csrf_token", "api_key", "apikey",
    "API-Key", "x-api-key", "openai_api_key", "private_key", "signing_key", "session_key", "cookie", "set-cookie",
    "credentials", "aws_credential", "dsn", "database_url", "jwt", "signature", "sig", "code_verifier",
]  # fmt: skip


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_is_hidden_by_its_name(name: str) -> None:
    for value in (SECRET, [SECRET], {"inner": SECRET}, SECRET.encode()):
        line: dict[str, Any] = {name: value}
        assert SECRET not in shown(**line), value
    nested = {"headers": [{name: SECRET}], "deep": {"er": {name: SECRET}}}
    assert SECRET not in shown(event="x", **nested)


TEXTS = [
    f"postgresql://app:{SECRET}@db:5432/x",
    f"redis://:{SECRET}@cache",
    f"https://{SECRET}@example.com/repo.git",
    f"cannot connect to postgres://u:{SECRET}@h/db: timeout",
    f"GET /x?token={SECRET}&y=1",
    f"https://h/cb?code_verifier={SECRET}",
    f"https://bucket/x?X-Amz-Signature={SECRET}&X-Amz-Expires=5",
    f"/q?api_key={SECRET}#frag",
    f"Authorization: Bearer {SECRET}",
    f"authorization: Basic {SECRET}==",
    f"{{'Authorization': 'Bearer {SECRET}'}}",
    f'{{"authorization": "Token {SECRET}"}}',
    f"[(b'authorization', b'Bearer {SECRET}')]",
    f"headers=[('Cookie', 'a=1; session={SECRET}')]",
    f"Set-Cookie: sid={SECRET}; HttpOnly",
    f"X-Api-Key: {SECRET}",
    f"x-auth-token={SECRET}",
    f"bearer {SECRET} was refused",
    f"password={SECRET} host=db user=x",
    f"host=db password='{SECRET} with a space' user=x",
    f'{{"password": "{SECRET}"}}',
    f"password: {SECRET}",
    f"OPENAI_API_KEY={SECRET}",
    f"client_secret: '{SECRET}'",
    f"Settings(execd_token='{SECRET}')",
    f"-----BEGIN PRIVATE KEY-----\nMC4C{SECRET}\n-----END PRIVATE KEY-----",
    f"-----BEGIN OPENSSH PRIVATE KEY-----\n{SECRET}",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("field", ["event", "reason", "path", "exception"])
def test_a_text_is_cleaned_in_any_field(field: str, text: str) -> None:
    line: dict[str, Any] = {field: text}
    found = shown(**line)
    assert SECRET not in found and "h4x" not in found
    assert HIDDEN in found


ISSUED = [
    "sk-proj-abcdefghijklmnop1234", "sk-ant-api03-abcdefghijklmnop", "ghp_abcdefghijklmnop1234567890",
    "github_pat_11ABCDEFG0abcdefghij", "glpat-abcdefghijklmnop1234", "xoxb-1234567890-abcdef", "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyA1234567890abcdefghijklmnop", "hf_abcdefghijklmnopqrstuv", "npm_abcdefghijklmnopqrstuvwxyz",
    "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$aGFzaA",
]  # fmt: skip


@pytest.mark.parametrize("token", ISSUED)
def test_what_providers_issue_is_known_by_its_form(token: str) -> None:
    for text in (token, f"refused: {token}.", f"({token})", f"key `{token}`"):
        assert token not in shown(event=text), text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("run_id", "run_019a83f0c1d2000000a1b2c3d4e5f607"),
        ("request_id", "4f2a9c0d11e34b7a"),
        ("trace_id", "0af7651916cd43dd8448eb211c80319c"),
        ("path", "/datasets/ecommerce/schema"),
        ("event", "run_finished"),
        ("reason", "the token bucket is a table; its key column is `id`"),
        ("reason", "no dataset `shop`; did you mean `shops`?"),
        ("url", "http://127.0.0.1:8000/runs?limit=5"),
        ("tokens_in", 120),
        ("tokens_out", 7),
        ("keyid", "sha256:1234567890abcdef"),
        ("user", "ada@example.com"),
        ("status", 200),
        ("layers", ["namespaces", "seccomp"]),
        ("code", "SQL_POLICY_VIOLATION"),
        ("password", None),
        ("exec_time_ms", 1.5),
    ],
)
def test_what_is_no_secret_stays(name: str, value: Any) -> None:
    assert Redaction()(None, "info", {name: value}) == {name: value}


def test_secrets_of_the_settings_are_known_by_value() -> None:
    given: dict[str, Any] = {
        "database_url": SecretStr("postgresql://app:pass%2Fword-1@db/x"),
        "execd_token": SecretStr("A" * 40),
        "SANDTABLE_OPENAI_API_KEY": SecretStr("plainlookingword"),
    }
    secrets = secrets_of(Settings(**given))
    text = shown(
        *secrets, event="said plainlookingword", what=["A" * 40, {"x": "pass/word-1"}, "pass%2Fword-1"]
    )
    for secret in ("plainlookingword", "A" * 40, "pass/word-1", "pass%2Fword-1"):
        assert secret not in text
    assert text.count(HIDDEN) == 4


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=8, max_size=40))
def test_a_known_secret_is_in_no_line(secret: str) -> None:
    assume(secret not in HIDDEN)
    line = Redaction((secret,))(None, "info", {"event": f"a {secret} b", "deep": [{"x": (secret, {secret})}]})
    assert secret not in (line["event"], *line["deep"][0]["x"][:1], *line["deep"][0]["x"][1])
    assert line["event"] == f"a {HIDDEN} b"


class Odd:
    def __repr__(self) -> str:
        return f"Odd(token='{SECRET}')"


def test_other_objects_are_shown_as_text_without_secrets() -> None:
    assert SECRET not in shown(event="x", what=Odd(), many={Odd()}, bytes=f"password={SECRET}".encode())
    deep: Any = SECRET
    for _ in range(20):
        deep = [deep]
    assert SECRET not in shown(event="x", deep=deep)


@pytest.mark.parametrize("form", ["json", "text"])
def test_both_loggers_are_cleaned_tracebacks_included(form: Any) -> None:
    out = io.StringIO()
    with own_logs():
        logs.configure("info", out, form, secrets=("plainlookingword",))
        log = structlog.get_logger("x")
        try:
            raise ValueError(f"postgresql://u:{SECRET}@h/db and plainlookingword")
        except ValueError:
            log.exception("it_broke", authorization=f"Bearer {SECRET}")
            logging.getLogger("other").exception("broke with %s", f"token={SECRET}")
        log.warning(f"password={SECRET}", extra={"list": [f"Cookie: {SECRET}"]})
    written = out.getvalue()
    assert written.count("ValueError") >= 2
    assert SECRET not in written and "plainlookingword" not in written
