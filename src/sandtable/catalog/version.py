"""The version of a dataset: a digest over the bytes and the schema of every table.

Invariant: it depends on table names, source digests, column names, their order and SQL types, on how the file was read
where that is not plain, and on nothing else. The order of the tables, descriptions, metrics and row counts do not
change it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from sandtable.catalog.model import Table
from sandtable.catalog.recipe import Recipe


def dataset_version(tables: Iterable[Table]) -> str:
    subject = {
        table.name: {
            "sha256": table.sha256,
            "columns": [[column.name, column.sql_type] for column in table.columns],
            **_reading(table.recipe),
        }
        for table in tables
    }
    return f"sha256:{canonical_digest(subject)}"


def _reading(recipe: Recipe | None) -> dict[str, object]:
    return {} if recipe is None or recipe.plain else {"recipe": recipe.subject()}


def canonical_digest(value: object) -> str:
    """SHA-256, in hex, of the value as JSON with sorted keys and no spaces."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
