"""An identical run on the same copy of a data version is answered from the first one's stored result.

Invariant: a result is reused only if it matches its own signed capsule, so changes to the database are never signed
again; and only if it was made from the files that are there now, which were whole before and after that run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import structlog
from cryptography.exceptions import InvalidSignature

from sandtable.capsule.canonical import digest, loads
from sandtable.capsule.keys import SigningKey
from sandtable.capsule.model import digest_of_rows
from sandtable.capsule.query import CodeQuery
from sandtable.capsule.seal import PAYLOAD_TYPE, pre_authentication, unpack
from sandtable.capsule.shown import artifacts_digest, records_of
from sandtable.errors import InvalidInput
from sandtable.runs.model import Run, RunRequest, run_of
from sandtable.sandbox.job import JobResult, Limits
from sandtable.store.run_store import RunStore

log = structlog.get_logger(__name__)

HIDDEN = "hidden"
"""In place of the id of the run that holds a result, for those who may not see that run."""


def cache_key(
    request: RunRequest, version: str, copy_id: str, executed: str, limits: Limits, engine: str
) -> str:
    """`copy_id` identifies the files that are read: it changes when they are damaged or replaced, and differs between
    homes, so results from other copies are not reused. The id of the dataset is part of the key because another
    dataset may have the same data and belong to a person whose runs are not to be noticed."""
    key = {
        "dataset_id": request.dataset_id,
        "dataset_version": version,
        "copy_id": copy_id,
        "executed_sql": executed,
        "mode": request.mode,
        "limits": [limits.rows, limits.cell_bytes, limits.result_bytes],
        "engine": engine,
    }
    if isinstance(query := request.query, CodeQuery):
        key |= {"names": dict(query.names), "check": query.check, "log_bytes": limits.log_bytes}
    return digest(key)


@dataclass(frozen=True, slots=True)
class Cached:
    run_id: str
    user: str
    """Who asked for that run."""
    result: JobResult

    def named_for(self, user: str) -> str:
        return self.run_id if user == self.user else HIDDEN


@dataclass(frozen=True, slots=True)
class Cache:
    store: RunStore
    key: SigningKey

    async def find(self, cache_key: str) -> Cached | None:
        record = await self.store.cached(cache_key)
        envelope = await self.store.capsule(record.id) if record else None
        if record is None or envelope is None:
            return None
        run = run_of(record)
        if run.rows is None or not self._vouched(run, envelope):
            log.warning("cache_entry_refused", run_id=run.id, reason="does not fit its capsule")
            return None
        return Cached(run.id, run.request.user, _result_of(run))

    def _vouched(self, run: Run, envelope: dict[str, object]) -> bool:
        try:
            payload, keyid, signature = unpack(envelope)
            self.key.private.public_key().verify(signature, pre_authentication(PAYLOAD_TYPE, payload))
            # Signed by this installation: it has our form, so its canonical form need not be checked.
            predicate = loads(payload)["predicate"]
        except (InvalidInput, InvalidSignature):
            return False
        assert run.rows is not None
        return (
            keyid == self.key.keyid
            and predicate["run_id"] == run.id
            and predicate["executed_sql"] == run.executed_sql
            and predicate["dataset_version"] == run.dataset_version
            and predicate["digests"]["result"] == digest_of_rows(run.columns, run.rows)
            and _code_vouched(run, predicate)
        )


def _code_vouched(run: Run, predicate: dict[str, Any]) -> bool:
    query, digests = run.request.query, predicate["digests"]
    return not isinstance(query, CodeQuery) or (
        predicate["python"] == query.code
        and predicate["names"] == query.names
        and digests["artifacts"] == artifacts_digest(records_of(run.artifacts))
        and digests["stdout"] == digest(run.stdout)
    )


def _result_of(run: Run) -> JobResult:
    rows = run.rows or ()
    of_code = isinstance(run.request.query, CodeQuery)
    return JobResult(
        job_id=run.id,
        status="succeeded",
        columns=run.columns,
        rows=rows,
        row_count=len(rows),
        truncated=run.truncated,
        stdout=run.stdout,
        stderr=run.stderr,
        output={"artifacts": list(run.artifacts)} if of_code else run.output,
    )
