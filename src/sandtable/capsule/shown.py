"""What code showed, as a capsule keeps it: every artifact by its digest, and as many whole as there is room for.

Invariant: the digest of an artifact depends only on what it shows. A table's rows are hashed like a result's rows, so
the noise of floating-point addition does not change it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from sandtable.capsule.canonical import digest, plain
from sandtable.capsule.compare import agree, same_figure
from sandtable.capsule.result_digest import result_digest
from sandtable.sandbox.artifact import Artifact

ROOM_BYTES = 512 << 10
"""Bytes for artifacts that are kept whole."""
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")


class ArtifactRecord(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    id: str
    kind: str
    title: str
    digest: str
    artifact: dict[str, Any] | None
    """The whole artifact; None if it was too large to keep here."""


def records_of(artifacts: Sequence[Artifact], room: int = ROOM_BYTES) -> list[dict[str, Any]]:
    """In JSON form, in the order in which they were shown. `room`: bytes for those that are kept whole."""
    made: list[dict[str, Any]] = []
    for artifact in artifacts:
        whole = as_json(artifact)
        size = len(json.dumps(whole))
        kept = size <= room
        room -= size if kept else 0
        record = {"id": artifact.id, "kind": artifact.kind, "title": plain(artifact.title)}
        made.append({**record, "digest": artifact_digest(whole), "artifact": whole if kept else None})
    return made


def as_json(artifact: Artifact) -> dict[str, Any]:
    # Not in JSON mode, which turns an infinity into null.
    return plain(artifact.model_dump())


def artifact_digest(artifact: Mapping[str, Any]) -> str:
    """Digest of an artifact in JSON form. Raises ValueError, KeyError or TypeError for anything else."""
    if artifact["kind"] != "table":
        return digest(artifact)
    rest = {name: value for name, value in artifact.items() if name not in ("columns", "rows")}
    return digest({**rest, "rows": result_digest(_columns(artifact), artifact["rows"])})


def artifacts_digest(records: Sequence[Mapping[str, Any]]) -> str:
    """Over all records; whole artifacts are hashed again. Raises ValueError for an invalid record."""
    try:
        return digest([[r["id"], r["kind"], r["title"], _digest_in(r)] for r in records])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("a recorded artifact is none") from error


def _digest_in(record: Mapping[str, Any]) -> str:
    whole = record["artifact"]
    if whole is None:
        return record["digest"]
    found = artifact_digest(whole)
    same = [whole["id"], whole["kind"], whole["title"], found] == [
        record[name] for name in ("id", "kind", "title", "digest")
    ]
    return found if same else "inconsistent"


def differing(then: Sequence[ArtifactRecord], now: Sequence[Artifact]) -> list[str]:
    """The ids of artifacts that differ, up to the noise of floating-point addition."""
    found = {artifact.id: as_json(artifact) for artifact in now}
    wrong = [record.id for record in then if not _same(record, found.get(record.id))]
    known = {record.id for record in then}
    return [*wrong, *(name for name in found if name not in known)]


def _same(record: ArtifactRecord, now: dict[str, Any] | None) -> bool:
    if now is None or record.artifact is None:
        return now is not None and artifact_digest(now) == record.digest
    if artifact_digest(now) == record.digest:
        return True
    then = record.artifact
    if then["kind"] == now["kind"] == "plot":
        return same_figure(then, now)
    if then["kind"] != "table" or now["kind"] != "table":
        return False
    names = ("title", "columns", "row_count", "truncated")
    alike = all(then[name] == now[name] for name in names)
    return alike and agree(_columns(now), then["rows"], now["rows"])


def same_text(then: str, now: str) -> bool:
    """Whether the texts are equal except for memory addresses, which the repr of many objects contains."""
    return _ADDRESS.sub("0x", then) == _ADDRESS.sub("0x", now)


def _columns(table: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(column["name"], column["type"]) for column in table["columns"]]
