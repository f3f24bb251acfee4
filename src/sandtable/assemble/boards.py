"""Where kept questions and boards are stored: a file of the home folder, or a Postgres database that servers share."""

from __future__ import annotations

from typing import Any

from sandtable.boards.schema import FILE, MIGRATIONS, VERSIONS
from sandtable.boards.store import Boards
from sandtable.settings import Settings
from sandtable.store.sqlite.file import SqliteFile


def boards_of(settings: Settings, database: Any) -> Boards:
    """Opens nothing. `database` is the `Postgres` of the settings, if they name one."""
    if database is None:
        return Boards(SqliteFile(settings.home / FILE, MIGRATIONS, synchronous="FULL"))
    # The driver is an optional dependency.
    from sandtable.store.postgres.tables import PostgresTables

    return Boards(PostgresTables(database, VERSIONS, MIGRATIONS))
