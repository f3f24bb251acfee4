"""The rules by which DuckDB's queries are judged."""

from __future__ import annotations

import re

from sandtable.engines.duckdb.dialect import SPELLINGS
from sandtable.engines.duckdb.functions import FUNCTIONS
from sandtable.engines.duckdb.grammar import GRAMMAR
from sandtable.engines.rules import Rules, SystemNames

RULES = Rules(
    grammar=GRAMMAR,
    functions=FUNCTIONS,
    system=SystemNames(
        schemas=frozenset({"system", "main", "temp", "memory", "pg_catalog", "information_schema"}),
        tables=re.compile(
            r"^(information_schema|pg_|sqlite_|duckdb_|pragma_|main$|system$|temp$)", re.IGNORECASE
        ),
        session_words=frozenset(
            "user current_user session_user current_role current_schema current_catalog".split()
        ),
    ),
    spellings=SPELLINGS,
)
