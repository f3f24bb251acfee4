"""The host names of this server, and the web origins that may use it: pure functions of a request's headers.

Invariant: a browser request with a foreign host name (DNS rebinding), or for a page of another origin, is refused
whatever else it holds. Programs send no origin; for them only the host name is checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Self

from starlette.datastructures import Headers

from sandtable.errors import ErrorCode, Problem

_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*\]|[A-Za-z0-9_.-]{1,254})(?::([0-9]{0,5}))?")
_WEB_ADDRESS = re.compile(r"(https?)://([^/?#]*)(?:[/?#].*)?", re.IGNORECASE)
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused, and with which status."""

    status: int
    problem: Problem
    page: str | None = None
    """The page that a browser is sent to in place of the error."""


@dataclass(frozen=True, slots=True)
class Authority:
    """Host and port as in a Host header: a name in lower case without a final dot, or an address in canonical
    form."""

    host: str
    port: int | None

    @classmethod
    def read(cls, text: str) -> Self | None:
        """None for anything but a host and port: user names, paths, characters that DNS does not allow."""
        found = _AUTHORITY.fullmatch(text)
        if found is None or int(found[2] or 0) > 65535:
            return None
        host = _address_text(found[1][1:-1]) if found[1].startswith("[") else _name(found[1])
        return cls(host, int(found[2]) if found[2] else None) if host else None

    def is_origin(self, scheme: str, other: Authority) -> bool:
        default = _DEFAULT_PORTS[scheme]
        return self.host == other.host and (self.port or default) == (other.port or default)


def read_address(text: str) -> IPv4Address | IPv6Address | None:
    """An address without its zone; an IPv4-mapped IPv6 address becomes the IPv4 address."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def _address_text(text: str) -> str | None:
    address = read_address(text)
    return str(address) if address else None


def _name(text: str) -> str | None:
    name = text.lower().removesuffix(".")
    return None if "" in name.split(".") else _address_text(name) or name


class OwnNames:
    """`localhost`, the loopback addresses, the address that a connection was made to, and what the settings add."""

    def __init__(self, allowed: Iterable[str], bound: str = "") -> None:
        given = [*allowed, *([bound.lower()] if bound else [])]
        self._all = "*" in given
        self._exactly = frozenset(["localhost", *given])
        self._below = tuple(name.removeprefix("*") for name in given if name.startswith(("*.", ".")))

    def have(self, host: str, reached_at: str | None) -> bool:
        address = read_address(host)
        if address is not None and (address.is_loopback or address == read_address(reached_at or "")):
            return True
        # DNS labels: the suffix `.example.org` must not match `.example.org` itself, which is no host name.
        below = any(host.endswith(name) and len(host) > len(name) for name in self._below)
        return self._all or below or host in self._exactly


def judge_host(
    target: str, given: Sequence[str], names: OwnNames, reached_at: str | None = None
) -> Authority | Refusal:
    """`target` is the request's, as sent; `given` its Host headers; `reached_at` the server's end of the connection."""
    if not target.startswith("/"):
        return _unreadable(
            "the request's target is not a path", "Begin the target with `/`, as in `GET /runs`."
        )
    if len(given) != 1:
        how_many = "several Host headers" if given else "no Host header"
        return _unreadable(f"the request has {how_many}", "Send one Host header.")
    authority = Authority.read(given[0])
    if authority is None:
        return _unreadable("the Host header holds no host", "Send `Host: NAME` or `Host: NAME:PORT`.")
    if names.have(authority.host, reached_at):
        return authority
    problem = Problem(
        code=ErrorCode.UNAUTHORIZED,
        message=f"this server does not answer to the name `{authority.host}`",
        suggestion=(
            f"If it is one of its names, add it: SANDTABLE_ALLOWED_HOSTS={authority.host}"
            " (several with commas between them)."
        ),
    )
    return Refusal(421, problem)


def of_another_origin(headers: Headers, own: Authority, *, opens_page: bool, https: bool = False) -> bool:
    """Whether a browser sends this request for a page of another origin.

    `own` is the host that the browser requested; `opens_page`, whether a link may lead here; `https`, whether the
    browser is known to use TLS. `Sec-Fetch-Site` is checked first; browsers send it only to `https` and to
    `localhost`, and old ones never.
    """
    site = headers.get("sec-fetch-site", "")
    if site == "same-origin":
        return False
    if site not in ("", "none"):
        return not (opens_page and _navigates(headers))
    origins = headers.getlist("origin")
    if origins:
        return len(origins) > 1 or not is_own_page(origins[0], own, https)
    referers = headers.getlist("referer")
    # A followed link and a request by a script of the same page have the same referer.
    return bool(referers) and not (site or opens_page or is_own_page(referers[0], own, https))


def _navigates(headers: Headers) -> bool:
    """A top-level navigation: no frame, no image, no script, no prefetch."""
    return (
        headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
        and not headers.get("sec-purpose", headers.get("purpose", ""))
    )


def is_own_page(page: str, own: Authority, https: bool) -> bool:
    """False for `null`, the origin of pages without an origin."""
    found = _WEB_ADDRESS.fullmatch(page)
    authority = Authority.read(found[2]) if found else None
    if found is None or authority is None:
        return False
    scheme = found[1].lower()
    # An `https` origin with `https` unknown is accepted: a proxy may terminate TLS without saying so.
    return authority.is_origin(scheme, own) and (scheme == "https" or not https)


def _unreadable(message: str, suggestion: str) -> Refusal:
    return Refusal(400, Problem(code=ErrorCode.VALIDATION_ERROR, message=message, suggestion=suggestion))
