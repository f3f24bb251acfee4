"""Where it is stored what is shared: in a file of the home folder, or in a Postgres database that servers share."""

from __future__ import annotations

from typing import Any

from sandtable.accounts.shares import FILE, MIGRATIONS, VERSIONS, Shares
from sandtable.settings import Settings
from sandtable.store.sqlite.file import SqliteFile


def shares_of(settings: Settings, database: Any) -> Shares:
    """Opens nothing. `database` is the `Postgres` of the settings, if they name one."""
    if database is None:
        return Shares(SqliteFile(settings.home / FILE, MIGRATIONS, synchronous="FULL"))
    # The driver is an optional dependency.
    from sandtable.store.postgres.tables import PostgresTables

    return Shares(PostgresTables(database, VERSIONS, MIGRATIONS))
