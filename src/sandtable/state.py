"""Where runs are stored: in a SQLite file of the home folder, or in a Postgres database that servers share.

A module of its own, beside `assemble`: reading what is stored needs no other part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sandtable.errors import InvalidInput
from sandtable.runs.liveness import HomeLiveness, Liveness
from sandtable.settings import Settings
from sandtable.store.run_store import RunStore
from sandtable.store.sqlite.run_store import SqliteStore

RUNS = "sandtable.db"


@dataclass(frozen=True, slots=True)
class State:
    runs: RunStore
    instance: Liveness
    database: Any = None
    """The `Postgres`, which also stores conversations; None when everything is stored in the home folder."""


def state_of(settings: Settings) -> State:
    """Opens nothing. Raises InvalidInput for an unusable address."""
    if settings.database_url is None:
        return State(SqliteStore(settings.home / RUNS), HomeLiveness(settings.home))
    try:
        # The driver is an optional dependency.
        from sandtable.store.postgres.pool import Postgres, PostgresLiveness
        from sandtable.store.postgres.run_store import PostgresStore
    except ImportError as error:
        raise InvalidInput(
            "SANDTABLE_DATABASE_URL names a Postgres database, and its driver is not installed",
            suggestion="Install it with `pip install 'sandtable[postgres]'`.",
        ) from error
    database = Postgres(settings.database_url.get_secret_value())
    return State(PostgresStore(database), PostgresLiveness(database), database)
