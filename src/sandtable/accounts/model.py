"""What is known of people, teams, API keys and sessions. No record holds a password, a key or a session's token."""

from __future__ import annotations

from dataclasses import dataclass

from sandtable.accounts.principal import Scope


@dataclass(frozen=True, slots=True)
class Person:
    name: str
    created_at: int
    """Times are seconds since 1970."""
    is_admin: bool = False
    disabled: bool = False
    has_password: bool = False
    issuer: str | None = None
    """The identity provider that this person signs in with, if any."""
    subject: str | None = None
    signed_in_at: int | None = None
    teams: frozenset[str] = frozenset()
    must_change: bool = False
    """The password is one that an administrator made, and lets its user do nothing but change it."""


@dataclass(frozen=True, slots=True)
class Team:
    name: str
    created_at: int
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ApiKey:
    id: str
    """Public: names the key in lists and logs."""
    user: str
    name: str
    scopes: frozenset[Scope]
    created_at: int
    expires_at: int | None = None
    used_at: int | None = None


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    """Public: names the session in lists and logs."""
    user: str
    created_at: int
    seen_at: int
    address: str = ""
    client: str = ""
    """What the browser calls itself."""
    by_provider: bool = False
    """The identity provider proved who it is, and no password."""
