"""The address of a database as a person writes it: read once, and its password taken out.

Invariant: no error of this module quotes the address.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import parse_qsl, unquote, urlsplit

from sandtable.errors import InvalidInput

SSL_MODES = ("disable", "require", "verify-ca", "verify-full")
_SCHEMES = ("postgresql", "postgres")
_PORT = 5432
_FORM = "Write it as postgresql://ROLE@HOST:5432/DATABASE."
_LONGEST = 255


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    host: str
    """A name or number; with a `/` in front, the folder of a Unix socket."""
    port: int
    database: str
    role: str
    sslmode: str
    roots: str = ""
    """File with the certificates that sign the server's; those of this machine when empty."""
    password: str | None = field(default=None, repr=False)


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
    if parts.scheme not in _SCHEMES:
        raise InvalidInput("the address is not one of a PostgreSQL database", suggestion=_FORM)
    options = dict(pairs)
    known = {"host", "port", "user", "password", "dbname", "sslmode", "sslrootcert"}
    # The texts below are not quoted: where a password is not escaped, they may be a part of it.
    if not options.keys() <= known:
        raise InvalidInput(
            "the address has an option that is not supported",
            suggestion="Use host, port, user, dbname, sslmode and sslrootcert only. Write %3F for a `?` and %26 for a"
            " `&` in a password.",
        )
    if "@" in parts.path or "/" in parts.path[1:]:
        raise InvalidInput(
            "the path of the address is no name of a database",
            suggestion=f"{_FORM} Write %2F for a `/` and %40 for an `@` in a password.",
        )
    host = options.get("host") or unquote(parts.hostname or "")
    role = options.get("user") or unquote(parts.username or "")
    database = options.get("dbname") or unquote(parts.path.removeprefix("/")) or role
    secret = options.get("password") or (None if parts.password is None else unquote(parts.password))
    for what, value in (("host", host), ("role", role), ("database", database)):
        _require_plain(what, value)
    return DatabaseAddress(
        host=host,
        port=_port(options.get("port"), port),
        database=database,
        role=role,
        sslmode=_mode(options.get("sslmode"), host),
        roots=options.get("sslrootcert", ""),
        password=secret or None,
    )


def _require_plain(what: str, value: str) -> None:
    if not value or len(value) > _LONGEST or any(ord(letter) < 32 for letter in value):
        raise InvalidInput(f"the address names no {what} that can be used", suggestion=_FORM)
    if what == "host" and not value.startswith("/") and any(mark in value for mark in ",/@ "):
        raise InvalidInput("the address must name one host", suggestion=_FORM)


def _port(option: str | None, given: int | None) -> int:
    if option is not None and not (option.isascii() and option.isdecimal() and 0 < int(option) < 65536):
        raise InvalidInput("the port of the address is no number of a port", suggestion=_FORM)
    return int(option) if option else given or _PORT


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
