"""A runner's log, line by line (whether it is ready, its report, and a tail of other lines), and the result it gives.

Invariant: a line counts only when it is JSON of the agreed form and, for the report, has the nonce of this very Job.
Nothing else in a log, however long, can become a result.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any

from sandtable.sandbox.job import Job, JobResult
from sandtable.sandbox.outcome import failed
from sandtable.sandbox.report import Ready, RunnerReport, Unavailable, result_of
from sandtable.sandbox.wire import parse_strictly

_LINE_SLACK = 2 << 20
_TAIL_LINES = 20
_TAIL_BYTES = 2_000


class LogLines:
    def __init__(self, nonce: str, most: int) -> None:
        """`most`: bytes of one line; a longer one is not read to its end."""
        self.ready: Ready | None = None
        self.report: RunnerReport | None = None
        self.unavailable: Unavailable | None = None
        self.overlong = False
        self.report_began = 0.0
        """When the first byte of the report came, on the monotonic clock."""
        self._began = 0.0
        self._nonce = nonce
        self._most = most
        self._parts: list[bytes] = []
        self._size = 0
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)

    def feed(self, chunk: bytes) -> None:
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._add(end)
            self._close()
        self._add(rest)

    def finish(self) -> None:
        """The log has ended, perhaps within a line."""
        self._close()

    def restart(self) -> None:
        """The log is read again from its beginning."""
        self._parts, self._size = [], 0
        self._tail.clear()

    @property
    def tail(self) -> str:
        return "\n".join(self._tail)[-_TAIL_BYTES:]

    def _add(self, part: bytes) -> None:
        if not self._size:
            self._began = time.monotonic()
        self._size += len(part)
        if self._size <= self._most:
            self._parts.append(part)
        else:
            self._parts.clear()

    def _close(self) -> None:
        line, size = b"".join(self._parts), self._size
        self._parts, self._size = [], 0
        if size > self._most:
            self.overlong = True
        elif line.strip() and not self._understood(line):
            self._tail.append(line[:_TAIL_BYTES].decode(errors="replace"))

    def _understood(self, line: bytes) -> bool:
        if not line.startswith(b"{"):
            return False
        try:
            message = parse_strictly(line)
            return isinstance(message, dict) and self._take(message)
        except (ValueError, RecursionError):
            # Not of the agreed form; pydantic's error is a ValueError.
            return False

    def _take(self, message: dict[str, Any]) -> bool:
        kind = message.get("kind")
        if kind == "ready":
            self.ready = self.ready or Ready.model_validate(message)
        elif kind == "report" and message.get("nonce") == self._nonce:
            self.report = self.report or RunnerReport.model_validate(message)
            self.report_began = self.report_began or self._began
        elif kind == "unavailable":
            self.unavailable = self.unavailable or Unavailable.model_validate(message)
        else:
            return False
        return True


def longest_line(job: Job) -> int:
    """Bound of a report's line in bytes. It is ASCII: a character of two bytes takes six."""
    return 3 * job.limits.result_bytes + 6 * job.limits.log_bytes + _LINE_SLACK


def result_from(job: Job, report: RunnerReport) -> JobResult:
    """As on every tier, except for data that the cluster does not have."""
    version = job.dataset_version.removeprefix("sha256:")
    folder = f"versions/{version}"
    if report.answer is None and version and folder in report.output and "No such file" in report.output:
        return failed(
            job,
            "SANDBOX_UNAVAILABLE",
            "DataMissing",
            f"the runner does not have version sha256:{version} of dataset {job.dataset_id!r}",
            "mount the server's data folder at /data of the runners, or build their image with this version",
        )
    return result_of(job, report)
