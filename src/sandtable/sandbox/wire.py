"""A job as the runner reads it, and what a sandbox writes: JSON read strictly, and an answer checked.

Invariant: an answer is untrusted. It becomes a JobResult only when it has the agreed form and keeps the job's limits.
What `parse_strictly` returns can be written again within the bounds of the standard: no NaN and no infinity, no integer
beyond 64 bits, no name twice in one object, no lone surrogate. Reading takes a bounded multiple of the text's size.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection
from typing import Any

from pydantic import ValidationError

from sandtable.sandbox.artifact import ARTIFACTS, TableArtifact
from sandtable.sandbox.bounds import NOTE_BYTES, RUNNERS_CODES, breach_of
from sandtable.sandbox.host_paths import hide_host_paths
from sandtable.sandbox.job import CODE, WRITES, Job, JobResult
from sandtable.sandbox.outcome import failed

_SESSION_CPU_S = 7 * 24 * 3600
"""For a whole session; the wall clock limits each cell."""
MOST_CONTAINERS = 1_000_000
"""Lists and objects in one text. An empty one takes two bytes of text and about 60 of memory."""
_LONGEST_NUMBER = 400
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_LARGE_NUMBER = re.compile(rb"(?<![.0-9])[0-9]{16}|[eE]\+?[0-9]{3}")
"""May be beyond 64 bits, or beyond a double. Texts without a match are parsed without a callback for each number."""


def order_of(job: Job) -> dict[str, Any]:
    """The job's JSON, plus where its data lies in the store."""
    limits = job.limits
    writing = job.mode in WRITES
    folder = f"versions/{job.dataset_version.removeprefix('sha256:')}" if job.dataset_version else None
    cell = {
        "folder": job.options["folder"] if writing else folder,
        "staging": job.options["staging"] if writing else None,
        "memory_mb": limits.memory_mb,
        "tmp_mb": limits.tmp_mb,
        "file_mb": job.options["file_mb"] if writing else limits.tmp_mb,
        "cpu_s": _SESSION_CPU_S if job.mode == "session" else limits.cpu_s,
        "pids": limits.pids,
    }
    return {**job.model_dump(mode="json"), "cell": cell, "presealed": False}


def read_answer(
    job: Job, answer: dict[str, Any], output: str, codes: Collection[str] = RUNNERS_CODES
) -> JobResult:
    """`output`: what the process itself wrote to its standard streams; `codes`: the error codes it may report."""
    result, breach = None, breach_of(job, answer, codes)
    if breach is None:
        try:
            result = _built(job, answer, output)
            breach = _breach(job, result)
        except ValidationError as error:
            breach = f"{error.error_count()} errors"
    if result is not None and breach is None:
        return hide_host_paths(job, result)
    message = f"the sandbox's answer does not have the agreed form: {breach}"
    return failed(
        job, "RUNNER_INTERNAL_ERROR", "BadAnswer", message, "run it again; if it fails again, report the run"
    )


def _built(job: Job, answer: dict[str, Any], output: str) -> JobResult:
    if job.mode in CODE:
        return _of_code(job, answer, output)
    return JobResult.model_validate({**answer, "job_id": job.id, "stderr": output[: job.limits.log_bytes]})


def _of_code(job: Job, answer: dict[str, Any], output: str) -> JobResult:
    """The last table that was shown becomes the result, as if a query had returned it."""
    result = JobResult.model_validate({**answer, "job_id": job.id})
    artifacts = ARTIFACTS.validate_python(result.output.get("artifacts", ()))
    table = next((a for a in reversed(artifacts) if isinstance(a, TableArtifact)), None)
    changes: dict[str, Any] = {
        "columns": (), "rows": (), "row_count": 0, "truncated": False,
        "stderr": (result.stderr + output)[: job.limits.log_bytes + NOTE_BYTES],
    }  # fmt: skip
    if table is not None and result.status == "succeeded":
        changes |= {name: getattr(table, name) for name in ("columns", "rows", "row_count", "truncated")}
    return result.model_copy(update=changes)


def _breach(job: Job, result: JobResult) -> str | None:
    """What the runner never does, but a compromised sandbox might."""
    if result.status == "cancelled":
        return "only the server cancels"
    if (result.status == "failed") != (result.error is not None) or (
        result.error is not None and result.rows
    ):
        return "its status and its error contradict each other"
    if job.mode in CODE and (breach := _breach_of_code(job, result)):
        return breach
    return None if result.row_count == len(result.rows) else "a number of rows that is not that of its rows"


def _breach_of_code(job: Job, result: JobResult) -> str | None:
    artifacts = ARTIFACTS.validate_python(result.output.get("artifacts", ()))
    ids = [artifact.id for artifact in artifacts]
    if len(set(ids)) != len(ids):
        return "two artifacts with one id"
    if any(not artifact.id.startswith(f"{artifact.kind}-") for artifact in artifacts):
        return "an artifact with the id of another kind"
    if result.output.get("displayed") not in (None, *ids):
        return "an artifact displayed that is not there"
    if not _is_loaded(result.output.get("loaded", {}), {ref.table for ref in job.data}):
        return "tables that the job does not have"
    for artifact in artifacts:
        if isinstance(artifact, TableArtifact) and artifact.row_count != len(artifact.rows):
            return "a table whose number of rows is not that of its rows"
    return None


def _is_loaded(loaded: Any, tables: set[str]) -> bool:
    if not isinstance(loaded, dict) or not loaded.keys() <= tables:
        return False
    return all(
        columns == "all" or (isinstance(columns, list) and all(isinstance(column, str) for column in columns))
        for columns in loaded.values()
    )


def parse_strictly(body: bytes) -> Any:
    """Raises ValueError and RecursionError."""
    if body.count(b"[") + body.count(b"{") > MOST_CONTAINERS:
        bare = _STRING.sub(b"", body)
        if bare.count(b"[") + bare.count(b"{") > MOST_CONTAINERS:
            raise ValueError(f"it has more than {MOST_CONTAINERS} lists and objects")
    decoder = _CAREFUL if _LARGE_NUMBER.search(body) else _STRICT
    message = decoder.decode(body.decode())
    if b"\\ud" in body or b"\\uD" in body:
        json.dumps(message, ensure_ascii=False).encode()
    return message


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _integer(digits: str) -> int:
    # Length first: converting very long ones takes time that grows with the square of their length.
    value = int(digits) if len(digits) <= 20 else 1 << 64
    if not -(1 << 63) <= value < 1 << 64:
        raise ValueError("an integer is beyond 64 bits")
    return value


def _float(digits: str) -> float:
    value = float(digits) if len(digits) <= _LONGEST_NUMBER else math.inf
    if math.isinf(value):
        raise ValueError("a number is beyond what a double holds")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("an object has one name twice")
    return made


_STRICT = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unique)
_CAREFUL = json.JSONDecoder(
    parse_constant=_refuse_constant, object_pairs_hook=_unique, parse_int=_integer, parse_float=_float
)
