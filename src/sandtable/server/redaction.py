"""Takes secrets out of log lines, whatever field they are in.

Invariant: a value is hidden by the name of its field, by the form of a secret, and by being a secret of this server's
settings; what cannot be told from a secret is hidden, too. Keys, tokens and passwords reach no log.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from sandtable.settings import Settings

HIDDEN = "[redacted]"
SHORTEST = 8
"""Characters of a secret of the settings that is looked for: a shorter one is a part of ordinary words."""
_DEEPEST = 6

_NAME = (
    r"(?:[\w-]*(?:password|passwd|passphrase|secret|credentials?|authorization|cookie|bearer|signature)[\w-]*"
    r"|(?:[\w-]*[_-])?(?:token|pwd|jwt|sig|dsn|assertion)|[\w-]*(?:api|access|private|signing|session|client)[_-]?key"
    r"|x-amz-[\w-]*|database_url|code_verifier)"
)
_FIELD = re.compile(_NAME, re.IGNORECASE)
_COUNTED = re.compile(r"tokens(?:_in|_out)?|keyid|key_id", re.IGNORECASE)

_FORMS: tuple[tuple[re.Pattern[str], str], ...] = (
    # A private key.
    (
        re.compile(
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
        ),
        HIDDEN,
    ),
    # An address with a user, with a password or with a token in its place.
    (re.compile(r"(?<=://)[^/\s\"'<>?#]*@"), f"{HIDDEN}@"),
    # A header, in any notation: its whole value.
    (
        re.compile(
            r"(?i)(?<![\w-])((?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]*(?:key|token|auth|signature)[\w-]*)"
            r"(b?[\"']?\s*[:=,]\s*b?)(\"[^\"\n]*\"?|'[^'\n]*'?|[^\n]+)"
        ),
        rf"\1\2{HIDDEN}",
    ),
    (re.compile(r"(?i)\b(bearer|basic|digest|dpop|negotiate)\s+(?!auth)[\w+/=.~:-]{6,}"), rf"\1 {HIDDEN}"),
    # A name and its value: in a query, a form, JSON, a Python dict, a connection string.
    (
        re.compile(
            rf"(?i)(?<![\w-])({_NAME})(b?[\"']?\s*(?:=|:)\s*b?)(\"[^\"\n]*\"?|'[^'\n]*'?|[^\s&,;\"'}}\])]+)"
        ),
        rf"\1\2{HIDDEN}",
    ),
    # What providers issue, by its form alone.
    (
        re.compile(
            r"\b(?:sk|pk|rk)[-_][\w-]{12,}|\bgh[pousr]_\w{16,}|\bgithub_pat_\w{16,}|\bglpat-[\w-]{16,}"
            r"|\bxox[abeprs]-[\w-]{8,}|\b(?:AKIA|ASIA)[0-9A-Z]{12,}|\bAIza[\w-]{20,}|\bhf_\w{16,}|\bya29\.[\w.-]{10,}"
            r"|\beyJ[\w-]{6,}\.[\w-]{4,}\.[\w-]*|\bnpm_\w{20,}|\bpypi-\w{16,}|\bst[ks]?_[\w-]{20,}|\bsandtable_[\w-]{20,}"
            r"|\$argon2(?:id|i|d)\$[^\s\"']+"
        ),
        HIDDEN,
    ),
)
_SUSPICIOUS = re.compile(
    r"@|key|token|secret|passw|passphrase|pwd|credential|auth|cookie|bearer|basic|digest|dpop|negotiate|sig|dsn|jwt"
    r"|assertion|verifier|database_url|x-amz|argon2|eyj|(?:sk|pk|rk)[-_]|gh[pousr]_|glpat|github_pat|xox|akia|asia|aiza"
    r"|hf_|ya29|npm_|pypi-|\bst[ks]?_|sandtable_",
    re.IGNORECASE,
)
"""What every form above contains; most texts contain none of it."""


class Redaction:
    """A processor for structlog: the same line without secrets. Comes after exceptions were made into text."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {form for secret in secrets for form in (secret, unquote(secret)) if len(form) >= SHORTEST}
        found = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
        self._known = re.compile(found) if found else None

    def __call__(
        self, logger: object, method: str, line: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        return {name: self._field(name, value, 0) for name, value in line.items()}

    def text(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        if _SUSPICIOUS.search(text):
            for form, instead in _FORMS:
                text = form.sub(instead, text)
        return text

    def _field(self, name: str, value: Any, depth: int) -> Any:
        if _FIELD.fullmatch(name) and not _COUNTED.fullmatch(name) and value not in (None, "", False, True):
            return HIDDEN
        return self._value(value, depth)

    def _value(self, value: Any, depth: int) -> Any:
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, str):
            return self.text(value)
        if depth >= _DEEPEST:
            return HIDDEN
        if isinstance(value, Mapping):
            return {
                self.text(str(name)): self._field(str(name), each, depth + 1) for name, each in value.items()
            }
        if isinstance(value, list | tuple | set | frozenset):
            return [self._value(each, depth + 1) for each in value]
        if isinstance(value, bytes | bytearray):
            return self.text(bytes(value).decode(errors="replace"))
        # Whatever the renderer would write of it.
        return self.text(repr(value))


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """Every secret value of the settings, and the password in an address."""
    values = [getattr(settings, name) for name in type(settings).model_fields]
    texts = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
    return (*texts, *filter(None, map(_password_in, texts)))


def _password_in(address: str) -> str | None:
    try:
        return urlsplit(address).password
    except ValueError:
        return None
