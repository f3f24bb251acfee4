"""The gate for Python: parse in a sandbox, judge here.

Invariant: code is parsed by Python's parser only inside a sealed sandbox without data, which never serves two people.
Whatever a text can cause there (too slow, too deep, a crash) is a refusal.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection
from functools import partial
from typing import Any

from sandtable.catalog.model import Dataset
from sandtable.errors import ErrorCode, RunnerBroken
from sandtable.observing import UNOBSERVED, Observer
from sandtable.policy.python import bound_names, judge_python
from sandtable.policy.verdict import Approved, Refused, Verdict
from sandtable.recent import Recent
from sandtable.sandbox.executor import Executor
from sandtable.sandbox.gate import MACHINERY, parse_id, parsed
from sandtable.sandbox.job import Job, JobResult, Limits

_LONG = 4 << 10
_LONGEST_REMEMBERED = 16 << 10
# A tree takes many times the bytes of its text.
_LIMITS = Limits(
    wall_ms=2000, cpu_s=60, memory_mb=256, tmp_mb=0, pids=4, rows=0, result_bytes=16 << 20, log_bytes=4096
)

_TREES_REMEMBERED = 16
_BOUND_REMEMBERED = 4096

_Known = tuple[str, str, frozenset[str]]


class PythonGate:
    def __init__(
        self,
        executor: Executor,
        *,
        max_bytes: int,
        one_person: bool = False,
        remembered: int = 256,
        observer: Observer = UNOBSERVED,
    ) -> None:
        """`one_person`: all texts come from the same person, so that a parser may serve several of them."""
        self._executor = executor
        self._max_bytes = max_bytes
        self._one_person = one_person
        self._observer = observer
        self._approved: Recent[_Known, Approved] = Recent(remembered)
        """Approvals by text, data version and names. Refusals are not remembered."""
        self._bound: Recent[bytes, frozenset[str]] = Recent(_BOUND_REMEMBERED)
        self._trees: Recent[str, dict[str, Any]] = Recent(_TREES_REMEMBERED)
        """Trees of recent approvals, for `bound`, which may be called after the run."""

    async def __call__(self, text: str, dataset: Dataset, names: Collection[str]) -> Verdict:
        """`names` are those that the code can use besides the tables: aliases, and variables of earlier cells."""
        refused = _too_long(text, self._max_bytes)
        if refused is not None:
            return refused
        key = (text, dataset.version, frozenset(names))
        known = self._approved.get(key)
        if known is not None:
            return known
        result = await self._parsed(text)
        if result.status != "succeeded":
            return _unparsed(result)
        judge = partial(judge_python, text, result.output, dataset, names=frozenset(names))
        # Judging a large tree would block the event loop.
        verdict = await asyncio.to_thread(judge) if len(text) > _LONG else judge()
        if isinstance(verdict, Approved) and len(text) <= _LONGEST_REMEMBERED:
            self._approved.put(key, verdict)
            self._trees.put(text, result.output)
        return verdict

    async def bound(self, text: str) -> frozenset[str]:
        """The names that code defines for later cells of its session; none for a text that cannot be parsed."""
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        known = self._bound.get(key)
        if known is not None:
            return known
        tree = self._trees.get(text)
        if tree is None:
            result = await self._parsed(text)
            tree = result.output if result.status == "succeeded" else {}
        found = bound_names(text, tree) if tree.get("ok") is True else frozenset[str]()
        self._bound.put(key, found)
        return found

    async def _parsed(self, text: str) -> JobResult:
        job = Job(
            id=parse_id(),
            mode="parse",
            text=text,
            limits=_LIMITS,
            options={"language": "python", "keep": self._one_person},
        )
        return await parsed(self._executor, job, self._observer)


def _too_long(text: str, most: int) -> Refused | None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size <= most:
        return None
    return Refused(
        ErrorCode.VALIDATION_ERROR,
        construct="length",
        message=f"The code has {size:,} bytes; at most {most:,} are looked at.",
        suggestion="Shorten it: data belongs into the dataset, not into the code",
        details={"bytes": size, "limit_bytes": most},
    )


def _unparsed(result: JobResult) -> Refused:
    error = result.error
    if error is not None and error.type in MACHINERY:
        raise RunnerBroken(f"the gate lost its sandbox: {error.message}", suggestion="Run it again")
    if error is not None and error.code in (ErrorCode.RUNNER_TIMEOUT, ErrorCode.RUNNER_RESOURCE_EXCEEDED):
        why = "the code takes too long or too much memory to read"
    else:
        why = f"the code could not be read: {error.message if error else result.status}"
    return Refused(
        code=ErrorCode.PYTHON_POLICY_VIOLATION,
        construct="code",
        message=why,
        suggestion="Write shorter code with less nesting",
    )
