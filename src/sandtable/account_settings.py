"""The settings about people who sign in, as a part of `settings.Settings`.

Every field is `SANDTABLE_<NAME>`; this module reads no environment.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode


def listed(given: Any) -> list[Any]:
    return (
        [part.strip() for part in given.split(",") if part.strip()] if isinstance(given, str) else list(given)
    )


class AccountSettings(BaseSettings):
    accounts: Literal["auto", "on", "off"] = "auto"
    """Whether people sign in to `sandtable serve`. `auto` asks for it when other machines can reach the server, unless
    `SANDTABLE_TRUSTED_PROXIES` names a proxy that signs people in or `SANDTABLE_INSECURE` is set; `on` asks for it on a
    loopback address, too; see accounts.md."""

    proxy_names_users: bool | None = None
    """Whether a trusted proxy says who the user is, in `X-Sandtable-User`. When unset, only without accounts: a proxy
    that passes this header on from its clients would let them be any user."""

    admins: Annotated[tuple[str, ...], NoDecode] = ()
    """Users, separated by commas, that a trusted proxy names and that are administrators; of accounts,
    `sandtable user admin` says it."""

    sign_in_hours: float = Field(default=168.0, gt=0, le=8760)
    """Hours after which a person must sign in again."""

    sign_in_idle_hours: float = Field(default=24.0, gt=0, le=8760)
    """Hours without a request after which a person must sign in again."""

    oidc_issuer: str | None = None
    """Address of an OpenID Connect provider that people sign in with, such as `https://login.example.org/realms/main`.
    Needs `pip install 'sandtable[oidc]'`; see accounts.md."""

    oidc_client_id: str | None = None
    """The client that the provider knows this server as."""

    oidc_client_secret: SecretStr | None = None
    """The client's secret; a public client has none."""

    oidc_name: str = "single sign-on"
    """What the sign-in page calls the provider, in "Continue with …"."""

    oidc_scopes: Annotated[tuple[str, ...], NoDecode] = ("openid", "profile", "email")
    """Scopes that the provider is asked for, separated by commas; `openid` is among them."""

    oidc_groups_claim: str = "groups"
    """The claim of an ID token that lists a person's groups. They become teams of the same names."""

    oidc_allowed_groups: Annotated[tuple[str, ...], NoDecode] = ()
    """Groups, separated by commas, whose members may sign in; everybody whom the provider signs in when unset."""

    oidc_admin_groups: Annotated[tuple[str, ...], NoDecode] = ()
    """Groups, separated by commas, whose members are administrators. When set, the provider alone decides it for its
    people, at each sign-in."""

    public_url: str | None = None
    """Address under which people reach this server, such as `https://data.example.org`. Needed for OpenID Connect; an
    `https` one also makes cookies `Secure`."""

    @field_validator("admins", "oidc_scopes", "oidc_allowed_groups", "oidc_admin_groups", mode="before")
    @classmethod
    def _several(cls, given: Any) -> Any:
        return tuple(listed(given))
