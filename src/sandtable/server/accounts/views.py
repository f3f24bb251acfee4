"""What the routes of accounts take and give. Times are seconds since 1970."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from sandtable.accounts.model import ApiKey, Person, Session, Team
from sandtable.accounts.passwords import LONGEST
from sandtable.accounts.principal import Principal, Proof, Scope

Name = Annotated[str, Field(max_length=64, examples=["ada"])]
Password = Annotated[str, Field(max_length=4 * LONGEST, examples=["correct horse battery"])]


class _Given(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _View(BaseModel):
    model_config = ConfigDict(frozen=True)


class SignInBody(_Given):
    name: Name
    password: Password


class PasswordBody(_Given):
    old: Password
    new: Password


class KeyBody(_Given):
    name: Annotated[str, Field(max_length=200, examples=["nightly report"])]
    scopes: Annotated[tuple[Scope, ...], Field(max_length=16)] = ("ask", "read")
    days: Annotated[int | None, Field(ge=1, le=3650)] = 90
    """Days until it expires; null: never."""


class UserBody(_Given):
    name: Name
    password: Password | None = None
    make_password: bool = False
    """Let the server make the password, and answer with it."""
    keep_password: bool = False
    """The user need not change the password at the first sign-in."""
    admin: bool = False
    restore: bool = False
    """Give a removed user the account back."""


class UserChanges(_Given):
    password: Password | None = None
    make_password: bool = False
    """Let the server make a new password, and answer with it."""
    keep_password: bool = False
    """The user need not change the new password at the next sign-in."""
    admin: bool | None = None
    disabled: bool | None = None


class TeamBody(_Given):
    name: Name


class Me(_View):
    name: str
    """An address, with `@` before it, where no one signs in."""
    proof: Proof
    admin: bool
    teams: tuple[str, ...]
    scopes: tuple[Scope, ...]
    signs_in: bool
    """Whether people sign in to this server."""
    has_password: bool
    must_change_password: bool
    """An administrator made the password: all else is refused until it is changed with `PUT /me/password`."""

    @classmethod
    def of(cls, principal: Principal, *, signs_in: bool, has_password: bool) -> Self:
        return cls(
            name=principal.user,
            proof=principal.proof,
            admin=principal.is_admin,
            teams=tuple(sorted(principal.teams)),
            scopes=tuple(sorted(principal.scopes)),
            signs_in=signs_in,
            has_password=has_password,
            must_change_password=principal.must_change,
        )


class KeyView(_View):
    id: str
    name: str
    scopes: tuple[Scope, ...]
    created_at: int
    expires_at: int | None
    used_at: int | None

    @classmethod
    def of(cls, key: ApiKey) -> Self:
        return cls(
            id=key.id,
            name=key.name,
            scopes=tuple(sorted(key.scopes)),
            created_at=key.created_at,
            expires_at=key.expires_at,
            used_at=key.used_at,
        )


class NewKey(_View):
    key: KeyView
    token: str
    """What to send as `Authorization: Bearer …`; it cannot be shown again."""


class KeyList(_View):
    keys: tuple[KeyView, ...]


class SessionView(_View):
    id: str
    created_at: int
    seen_at: int
    address: str
    client: str
    current: bool

    @classmethod
    def of(cls, session: Session, current: str) -> Self:
        return cls(
            id=session.id,
            created_at=session.created_at,
            seen_at=session.seen_at,
            address=session.address,
            client=session.client,
            current=session.id == current,
        )


class SessionList(_View):
    sessions: tuple[SessionView, ...]


class UserView(_View):
    name: str
    admin: bool
    disabled: bool
    has_password: bool
    must_change_password: bool
    """An administrator made the password, and the user has not changed it yet."""
    issuer: str | None
    """The identity provider that the user signs in with, if any."""
    teams: tuple[str, ...]
    created_at: int
    signed_in_at: int | None
    keys: int
    """How many API keys the user has."""

    @classmethod
    def of(cls, person: Person, keys: int) -> Self:
        return cls(
            name=person.name,
            admin=person.is_admin,
            disabled=person.disabled,
            has_password=person.has_password,
            must_change_password=person.must_change,
            issuer=person.issuer,
            teams=tuple(sorted(person.teams)),
            created_at=person.created_at,
            signed_in_at=person.signed_in_at,
            keys=keys,
        )


class ChangedUser(UserView):
    password: str | None = None
    """Only where the server made one; it cannot be shown again."""

    @classmethod
    def with_password(cls, user: UserView, password: str | None) -> Self:
        return cls(**user.model_dump(), password=password)


class UserList(_View):
    users: tuple[UserView, ...]


class TeamView(_View):
    name: str
    members: tuple[str, ...]

    @classmethod
    def of(cls, team: Team) -> Self:
        return cls(name=team.name, members=team.members)


class TeamList(_View):
    teams: tuple[TeamView, ...]
