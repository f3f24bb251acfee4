"""The parts of a server as routes get them, in `app.state.parts`."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from sandtable.assemble import Parts
from sandtable.assemble.sources import sources_of
from sandtable.server.access.boards import SeenBoards
from sandtable.server.access.datasets import SeenDatasets
from sandtable.server.access.files import SeenImports, SeenUploads
from sandtable.server.access.runs import Named, SeenRuns
from sandtable.server.access.sources import SeenSources


class SeenParts:
    """Has what routes use of `Parts`: views of what belongs to people, and the rest as it is."""

    _AS_THEY_ARE = frozenset(
        {
            "check",
            "key",
            "python",
            "quotas",
            "read_sql",
            "rules_of",
            "sessions",
            "settings",
            "shares",
            "telemetry",
            "tiers",
            "verify",
        }
    )

    def __init__(self, every: Parts, named: Named) -> None:
        self._every = every
        self.datasets = SeenDatasets(every.datasets)
        self.boards = SeenBoards(every.boards)
        self.runs = SeenRuns(every.runs, self.datasets, named, every.boards)
        self.uploads = SeenUploads(every.uploads)
        self.imports = SeenImports(every.imports, self.uploads, self.datasets)

    @cached_property
    def sources(self) -> SeenSources:
        every = self._every
        return SeenSources(sources_of(every), every.imports, every.datasets, every.settings.database_hosts)

    def __getattr__(self, name: str) -> Any:
        if name in self._AS_THEY_ARE:
            return getattr(self._every, name)
        raise AttributeError(f"routes do not use `{name}` of the parts; see server/access")
