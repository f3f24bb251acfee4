"""What is specific to a run of Python: its seed, its job, its names for tables.

Invariant: the same code with the same names on the same data version is the same job, so that it gives the same result
whenever its capsule is verified.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from sandtable.capsule.model import Earlier
from sandtable.catalog.model import Dataset
from sandtable.errors import ErrorCode, InvalidInput, NotFound
from sandtable.policy.verdict import Refused
from sandtable.quoting import quote


def switched_off() -> InvalidInput:
    return InvalidInput(
        "Python is switched off on this server",
        suggestion="Set SANDTABLE_PYTHON=on where the server is started, or ask with a plan or SQL.",
        field="python",
    )


def seed_of(code: str, version: str) -> int:
    """Seed for random numbers, computable from the code and the data version alone."""
    seen = hashlib.sha256(f"{version}\n{code}".encode("utf-8", "replace")).digest()
    return int.from_bytes(seen[:4])


def options_of(
    code: str, version: str, names: Mapping[str, str], *, check: bool, before: Sequence[Earlier] = ()
) -> dict[str, Any]:
    made: dict[str, Any] = {"names": dict(names), "seed": seed_of(code, version), "check": check}
    if before:
        made["before"] = [{"code": cell.python, "seed": seed_of(cell.python, version)} for cell in before]
    return made


def without_files(dataset: Dataset) -> Refused | None:
    """The refusal of code about rows that stay in a database: code reads files."""
    if dataset.live is None:
        return None
    return Refused(
        code=ErrorCode.VALIDATION_ERROR,
        construct="Python",
        message=f"the rows of {quote(dataset.id)} stay in a database, and Python reads copied tables",
        suggestion=f"Copy its tables: sandtable data snapshot {dataset.id}.",
    )


def require_tables(names: Mapping[str, str], dataset: Dataset) -> None:
    """Raises NotFound for a name whose table is not in the dataset."""
    tables = [table.name for table in dataset.tables]
    for name, table in names.items():
        if table not in tables:
            near = get_close_matches(table, tables, n=1, cutoff=0.5) or tables[:1]
            raise NotFound(
                f"{quote(name)} is to stand for the table {quote(table)}, which is not in {dataset.id}",
                suggestion=f"Did you mean {quote(near[0])}?" if near else "The dataset has no tables.",
                field="names",
            )
