"""The trips as a registry that a server is started with, and the settings of a server whose model is scripted."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from sandtable.catalog.model import Dataset
from sandtable.catalog.version import dataset_version
from tests.agent.analysis.trips import CSV
from tests.agent.models.scripted import KEY, Scripted

_COLUMNS = (
    ("city", "text", "VARCHAR"),
    ("vehicle", "text", "VARCHAR"),
    ("day", "date", "DATE"),
    ("revenue", "integer", "BIGINT"),
)


def declare_trips(folder: Path) -> Path:
    folder.mkdir()
    (folder / "trips.csv").write_text(CSV, "utf-8")
    table = {
        "name": "trips",
        "file": "trips.csv",
        "sha256": hashlib.sha256(CSV.encode()).hexdigest(),
        "rows": CSV.count("\n") - 1,
        "columns": [{"name": name, "type": kind, "sql_type": sql} for name, kind, sql in _COLUMNS],
    }
    entry = {"id": "trips", "title": "Trips", "tables": [table], "version": "sha256:" + "0" * 64}
    entry["version"] = dataset_version(Dataset.model_validate(entry).tables)
    (folder / "registry.json").write_text(json.dumps({"format": 1, "datasets": [entry]}), "utf-8")
    return folder


def settings_for(model: Scripted, folder: Path) -> dict[str, str]:
    """Names without their prefix."""
    return {
        "DATASETS": str(declare_trips(folder)),
        "PYTHON": "on",
        "MODEL": "openai:scripted",
        "MODEL_BASE_URL": model.base_url("openai"),
        "OPENAI_API_KEY": KEY,
    }
