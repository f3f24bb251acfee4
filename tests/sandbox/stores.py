"""A data store made for tests: one small dataset, and a second one that no job of the first may see."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from sandtable.sandbox.job import DataRef, Job, Limits

VERSION = "a" * 64
OTHER_VERSION = "b" * 64
ROWS = 2_000


@dataclass(frozen=True, slots=True)
class Store:
    root: Path

    @property
    def version(self) -> str:
        return f"sha256:{VERSION}"

    @property
    def folder(self) -> Path:
        return self.root / "versions" / VERSION

    @property
    def other_folder(self) -> Path:
        return self.root / "versions" / OTHER_VERSION


def write_digests(folder: Path) -> None:
    """As publishing leaves them beside the files."""
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.parquet")}
    (folder / "digests.json").write_text(json.dumps(found), "utf-8")


def make_store(root: Path, *, rows: int = ROWS, canary: str = "nothing secret") -> Store:
    """`orders(id, region, amount)` in the dataset; the canary in the other dataset."""
    store = Store(root)
    for folder in (store.folder, store.other_folder, root / "incoming", root / "staging", root / "empty"):
        folder.mkdir(parents=True, exist_ok=True)
    root.chmod(0o755)
    (root / "staging").chmod(0o777)
    with duckdb.connect() as connection:
        query = (
            "SELECT x AS id, ['north', 'south', 'east'][1 + x % 3] AS region, (x % 100) * 1.5 AS amount "
            f"FROM range({rows}) AS r(x)"
        )
        connection.execute(f"COPY ({query}) TO '{store.folder}/orders.parquet' (FORMAT parquet)")
        connection.execute(
            f"COPY (SELECT '{canary}' AS secret) TO '{store.other_folder}/secrets.parquet' (FORMAT parquet)"
        )
    for folder in (store.folder, store.other_folder):
        write_digests(folder)
    return store


def sql_job(store: Store, job_id: str, text: str, *, mode: str = "sql", **given: Any) -> Job:
    """A job on the dataset; keywords that name a limit go into Limits."""
    limits = {name: given.pop(name) for name in list(given) if name in Limits.model_fields}
    limits.setdefault("wall_ms", 10_000)
    return Job.model_validate(
        {
            "id": job_id,
            "mode": mode,
            "dataset_version": store.version,
            "data": (DataRef(table="orders", path="orders.parquet"),),
            "text": text,
            "limits": limits,
            **given,
        }
    )
