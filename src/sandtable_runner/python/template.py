"""The `py` template's part: libraries in memory, nothing left to load, one thread."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

from sandtable_runner.engine import Connection, literal, quote
from sandtable_runner.python import libraries, modes, rehearsal, shelf
from sandtable_runner.python.tables import fetch
from sandtable_runner.python.threads import shed_threads
from sandtable_runner.python.workspace import Workspace
from sandtable_runner.python.zones import keep_zones

_WARM_UP = """
sample.groupby('t')['v'].sum()
rows = sql("SELECT x AS i, (x % 5)::VARCHAR AS t, x * 1.5 AS v FROM range(60000) AS r(x)")
rows.groupby('t')['v'].sum().sort_values(ascending=False)
rows[rows['v'] > 9].sort_values('v').head(3)
"""
_LARGE = 16 << 20
_REHEARSALS = 4
_LIMITS = {"rows": 10, "cell_bytes": 64, "result_bytes": 4096, "log_bytes": 4096}


class _Python:
    """Implements `child.Interpreter`."""

    def __init__(self) -> None:
        self.version = libraries.versions()
        self.environment = {"TZ": "UTC", "POLARS_MAX_THREADS": "1", "POLARS_TEMP_DIR": "/scratch"}
        """Variables that libraries read on first use."""

    def run(self, connection: Connection, job: dict[str, Any]) -> dict[str, Any]:
        return modes.run_python(connection, job)

    def serve(self, connection: Connection, job: dict[str, Any], channel: int) -> None:
        modes.serve_session(connection, job, channel)

    def warm_up(self, connection: Connection, sample: str | None, tables: Sequence[str] = ()) -> None:
        """Touch the memory that most code needs: a table read, grouped, shown."""
        for table in tables:
            fetch(connection, f"SELECT * FROM {quote(table)} LIMIT 1")
        if sample is None:
            connection.execute(
                "CREATE VIEW sample AS SELECT x % 7 AS t, x * 1.5 AS v FROM range(3000) AS r(x)"
            )
        else:
            connection.execute(f"CREATE VIEW sample AS SELECT * FROM read_parquet({literal(sample)})")
        outcome = Workspace(connection, ["sample"], checked=True).run(
            _WARM_UP, seed=0, limits=_LIMITS, names={}
        )
        connection.execute("DROP VIEW sample")
        if outcome["status"] != "succeeded":
            raise RuntimeError(f"the rehearsal failed: {outcome['error']}")

    def rehearse(self, connection: Connection) -> None:
        """Repeats until Python has specialised the bytecode, so that children need not write to those pages."""
        for _ in range(_REHEARSALS):
            self.warm_up(connection, None)


def prepare() -> _Python:
    """Returns in a process with one thread, which may be a fork of the caller."""
    # Imported objects stay alive: the collector need not scan them to find the rehearsal's garbage.
    gc.freeze()
    gc.enable()
    libraries.settle()
    rehearsal.rehearse()
    shelf.stock(libraries.PACKAGES)
    # Freeing a large block raises the allocator's threshold, so that it keeps such blocks for reuse.
    bytearray(_LARGE)
    keep_zones()
    shed_threads()
    return _Python()
