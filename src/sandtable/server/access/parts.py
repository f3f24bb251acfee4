"""The parts of a server as routes get them, in `app.state.parts`."""

from __future__ import annotations

from typing import Any

from sandtable.assemble import Parts
from sandtable.server.access.datasets import SeenDatasets
from sandtable.server.access.files import SeenImports, SeenUploads
from sandtable.server.access.runs import Named, SeenRuns


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
        self.runs = SeenRuns(every.runs, self.datasets, named)
        self.uploads = SeenUploads(every.uploads)
        self.imports = SeenImports(every.imports, self.uploads, self.datasets)

    def __getattr__(self, name: str) -> Any:
        if name in self._AS_THEY_ARE:
            return getattr(self._every, name)
        raise AttributeError(f"routes do not use `{name}` of the parts; see server/access")
