"""Settings → accounts: whether a server has any, and where they are kept."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.oidc.attempt import AttemptCookies
from sandtable.accounts.oidc.flow import OidcFlow
from sandtable.accounts.oidc.linking import GroupRules
from sandtable.accounts.oidc.provider import Client, Provider
from sandtable.accounts.schema import FILE, MIGRATIONS, VERSIONS
from sandtable.accounts.sessions import Lifetime
from sandtable.capsule.keys import SigningKey
from sandtable.errors import InvalidInput
from sandtable.settings import Settings
from sandtable.state import state_of
from sandtable.store.sqlite.file import SqliteFile
from sandtable.store.tables import Tables


def accounts_are_on(settings: Settings, *, reachable: bool) -> bool:
    """`reachable`: other machines can reach the server. Raises InvalidInput for settings that contradict each other."""
    if settings.accounts == "on" and settings.insecure:
        raise InvalidInput(
            "SANDTABLE_ACCOUNTS=on asks everyone to sign in; SANDTABLE_INSECURE=true asks no one",
            suggestion="Remove one of them.",
        )
    if settings.accounts != "auto":
        return settings.accounts == "on"
    return reachable and not settings.insecure and not settings.trusted_proxies


def accounts_of(settings: Settings, database: Any = None) -> Accounts:
    """Opens nothing. `database` is a `Postgres` that exists already."""
    lifetime = Lifetime(
        idle_s=int(settings.sign_in_idle_hours * 3600), whole_s=int(settings.sign_in_hours * 3600)
    )
    return Accounts(_tables_of(settings, database), lifetime)


def oidc_of(settings: Settings, key: SigningKey) -> OidcFlow | None:
    """None without a provider. Raises InvalidInput for settings that are not complete."""
    if settings.oidc_issuer is None:
        return None
    if settings.oidc_client_id is None or settings.public_url is None:
        missing = "SANDTABLE_PUBLIC_URL" if settings.oidc_client_id else "SANDTABLE_OIDC_CLIENT_ID"
        raise InvalidInput(
            f"SANDTABLE_OIDC_ISSUER names an identity provider, and {missing} is not set",
            suggestion="Set it; docs/accounts.md has an example.",
        )
    if find_spec("joserfc") is None:
        raise InvalidInput(
            "SANDTABLE_OIDC_ISSUER names an identity provider, and what reads its tokens is not installed",
            suggestion="Install it with `pip install 'sandtable[oidc]'`.",
        )
    secret = settings.oidc_client_secret
    client = Client(
        settings.oidc_issuer, settings.oidc_client_id, None if secret is None else secret.get_secret_value()
    )
    return OidcFlow(
        Provider(client),
        AttemptCookies(key.derive("sandtable attempts to sign in with a provider")),
        GroupRules(
            settings.oidc_groups_claim,
            frozenset(settings.oidc_allowed_groups),
            frozenset(settings.oidc_admin_groups),
        ),
        settings.public_url,
        settings.oidc_scopes,
    )


def _tables_of(settings: Settings, database: Any) -> Tables:
    if settings.database_url is None:
        return SqliteFile(settings.home / FILE, MIGRATIONS, synchronous="FULL")
    database = database or state_of(settings).database
    # The driver is an optional dependency.
    from sandtable.store.postgres.tables import PostgresTables

    return PostgresTables(database, VERSIONS, MIGRATIONS)
