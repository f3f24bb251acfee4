"""The address of a database as a person writes it: read once, and its password taken out.

Invariant: no error of this module quotes the address.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import parse_qsl, unquote, urlsplit

from sandtable.catalog.recipe import DatabaseKind
from sandtable.errors import InvalidInput
from sandtable.sources.kinds import FORMS, Kind, kind_of_scheme

SSL_MODES = ("disable", "require", "verify-ca", "verify-full")
_OPTIONS = ("host", "port", "user", "password", "dbname", "sslmode", "sslrootcert")
_FORM = f"Write it as {FORMS}."
_LONGEST = 255


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    host: str
    """A name or number; with a `/` in front, the path of a Unix socket, or of its folder in PostgreSQL."""
    port: int
    database: str
    role: str
    sslmode: str
    roots: str = ""
    """File with the certificates that sign the server's; those of this machine when empty."""
    password: str | None = field(default=None, repr=False)
    kind: DatabaseKind = "postgresql"


def read_address(text: str) -> DatabaseAddress:
    """Raises InvalidInput."""
    try:
        parts = urlsplit(text)
        port, pairs = (
            parts.port,
            parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)),
        )
    except ValueError:
        # The cause may quote the address.
        raise InvalidInput("the address cannot be read", suggestion=_FORM) from None
    kind = kind_of_scheme(parts.scheme)
    if kind is None:
        raise InvalidInput(
            "the address is not one of a PostgreSQL, MariaDB or MySQL database", suggestion=_FORM
        )
    options = _options(pairs, kind)
    if "@" in parts.path or "/" in parts.path[1:]:
        raise InvalidInput(
            "the path of the address is no name of a database",
            suggestion=f"{_FORM} Write %2F for a `/` and %40 for an `@` in a password.",
        )
    host = options.get("socket") or options.get("host") or unquote(parts.hostname or "")
    role = options.get("user") or unquote(parts.username or "")
    database = options.get("dbname") or unquote(parts.path.removeprefix("/"))
    if not database and not kind.one_schema:
        database = role
    secret = options.get("password") or (None if parts.password is None else unquote(parts.password))
    for what, value in (("host", host), (kind.account, role), ("database", database)):
        _require_plain(what, value)
    return DatabaseAddress(
        host=host,
        port=_port(options.get("port"), port, kind),
        database=database,
        role=role,
        sslmode=_mode(options.get("sslmode"), host),
        roots=options.get("sslrootcert", ""),
        password=secret or None,
        kind=kind.name,
    )


def _options(pairs: list[tuple[str, str]], kind: Kind) -> dict[str, str]:
    options = dict(pairs)
    known = (*_OPTIONS, *sorted(kind.options))
    # The texts below are not quoted: where a password is not escaped, they may be a part of it.
    if not options.keys() <= set(known):
        raise InvalidInput(
            "the address has an option that is not supported",
            suggestion=f"Use {', '.join(known)} only. Write %3F for a `?` and %26 for a `&` in a password.",
        )
    return options


def _require_plain(what: str, value: str) -> None:
    if not value or len(value) > _LONGEST or any(ord(letter) < 32 for letter in value):
        raise InvalidInput(f"the address names no {what} that can be used", suggestion=_FORM)
    if what == "host" and not value.startswith("/") and any(mark in value for mark in ",/@ "):
        raise InvalidInput("the address must name one host", suggestion=_FORM)


def _port(option: str | None, given: int | None, kind: Kind) -> int:
    if option is not None and not (option.isascii() and option.isdecimal() and 0 < int(option) < 65536):
        raise InvalidInput("the port of the address is no number of a port", suggestion=_FORM)
    return int(option) if option else given or kind.port


def _mode(given: str | None, host: str) -> str:
    if given is None:
        return "disable" if is_here(host) else "verify-full"
    if given not in SSL_MODES:
        raise InvalidInput(
            "this sslmode is not supported",
            suggestion=f"Use one of {', '.join(SSL_MODES)}. `prefer` and `allow` protect from nothing.",
        )
    return given


def is_here(host: str) -> bool:
    """Whether it is this machine, to which nothing is sent over a network."""
    if host.startswith("/") or host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
