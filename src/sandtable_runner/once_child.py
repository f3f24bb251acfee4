"""The supervisor's side of its one child: fork it, send it the order, enforce the timeout, report how it ended.

Invariant: the child's messages are untrusted. They are bounded before they are read, must be JSON, and go into one
field of the report.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import struct
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandtable_runner import engine, kernel
from sandtable_runner.child import JOB_FD, Template, budget_of, live
from sandtable_runner.once_order import Abandoned

_LENGTH = struct.Struct(">I")
_READY_BYTES = 4096
_READY_S = 30.0
_ANSWER_SLACK = 1 << 20
_OUTPUT_KEPT = 64 << 10
_END_GRACE_S = 1.0
_OUT_OF_MEMORY = "the container ran out of memory\n"
_COUNTERS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")


class _Garbled(Exception):
    """The child closed its channel early, or sent a malformed message."""


@dataclass(frozen=True, slots=True)
class ChildReport:
    answer: dict[str, Any] | None = None
    trouble: str = ""
    timed_out: bool = False
    status: int | None = None
    peak_kb: int = 0
    cpu_ms: float = 0.0
    output: str = ""

    def message(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


class OutOfMemory:
    """How often the kernel killed a process of this container for lack of memory. Opened while the file is visible."""

    def __init__(self) -> None:
        self._fd = -1
        for path in _COUNTERS:
            with contextlib.suppress(OSError):
                self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                break
        self._before = self._count()

    def happened(self) -> bool:
        return self._count() > self._before

    def _count(self) -> int:
        if self._fd < 0:
            return 0
        try:
            text = os.pread(self._fd, 4096, 0).decode()
        except OSError:
            return 0
        fields = dict(line.split(None, 1) for line in text.splitlines() if " " in line)
        return int(fields.get("oom_kill", "0"))


class Child:
    def __init__(self, pid: int, channel: int, output: int, out_of_memory: OutOfMemory) -> None:
        self._pid = pid
        self._channel = channel
        self._output = output
        self._kept = bytearray()
        self._out_of_memory = out_of_memory
        self._reaped = False

    @classmethod
    def fork(cls, template: Template, ready: dict[str, Any], out_of_memory: OutOfMemory) -> Child:
        """`ready`: how it gets ready, see `child.live`."""
        engine.set_budget(template.connection, *budget_of(template, ready))
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        read, write = os.pipe2(os.O_CLOEXEC)
        if template.isolation.namespaces:
            kernel.unshare(kernel.CLONE_NEWPID)
        pid = os.fork()
        if pid == 0:
            _become_child(template, ready, theirs.fileno(), write)
        theirs.close()
        os.close(write)
        if not template.isolation.namespaces:
            # Without a pid namespace, the child could otherwise open this process's memory.
            kernel.hide_memory()
        os.set_blocking(read, False)
        return cls(pid, ours.detach(), read, out_of_memory)

    @property
    def output(self) -> str:
        self._drain()
        return self._kept.decode(errors="replace")

    def await_ready(self) -> str:
        """Empty, or what went wrong."""
        try:
            self._receive(_READY_BYTES, time.monotonic() + _READY_S, None)
        except (_Garbled, TimeoutError) as error:
            return str(error) or f"it sent nothing for {_READY_S:g} s"
        return ""

    def serve(
        self, order: dict[str, Any], deadline: float, leash: int | None, *, is_ready: bool
    ) -> ChildReport:
        """Raises Abandoned when the leash closes."""
        try:
            if not is_ready:
                self._receive(_READY_BYTES, deadline, leash)
            self._hand_over(order)
            answer = self._receive(order["limits"]["result_bytes"] + _ANSWER_SLACK, deadline, leash)
        except TimeoutError:
            return self._ended(trouble="", timed_out=True, grace_s=0.0)
        except _Garbled as error:
            return self._ended(trouble=str(error), timed_out=False, grace_s=_END_GRACE_S)
        return ChildReport(answer=answer, output=self.output)

    def _hand_over(self, order: dict[str, Any]) -> None:
        """Sends every character unchanged, valid or not: the child reports invalid ones to the author."""
        body = json.dumps(order).encode()
        view = memoryview(_LENGTH.pack(len(body)) + body)
        with contextlib.suppress(ConnectionError):
            # The next read notices that the child is gone, and reports how it ended.
            while view:
                view = view[os.write(self._channel, view) :]

    def _ended(self, *, trouble: str, timed_out: bool, grace_s: float) -> ChildReport:
        """Kills it after the grace period; the exit status is reported only if it ended by itself."""
        latest = time.monotonic() + grace_s
        status, usage = None, None
        while True:
            pid, found, used = os.wait4(self._pid, os.WNOHANG)
            if pid:
                self._reaped = True
                status, usage = found, used
                break
            if time.monotonic() >= latest:
                break
            time.sleep(0.002)
        self.end()
        output = self.output
        if status is not None and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            output += _OUT_OF_MEMORY if self._out_of_memory.happened() else ""
        return ChildReport(
            trouble=trouble,
            timed_out=timed_out,
            status=status,
            peak_kb=usage.ru_maxrss if usage else 0,
            cpu_ms=(usage.ru_utime + usage.ru_stime) * 1e3 if usage else 0.0,
            output=output,
        )

    def end(self) -> None:
        if not self._reaped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def _receive(self, limit: int, deadline: float, leash: int | None) -> dict[str, Any]:
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size, deadline, leash))
        if length > limit:
            raise _Garbled(f"an answer of {length} bytes is over the limit of {limit}")
        body = self._read(length, deadline, leash)
        try:
            message = json.loads(body, parse_constant=_refuse_constant)
            # Python also accepts lone surrogates, which could not be encoded again.
            if b"\\ud" in body or b"\\uD" in body:
                json.dumps(message, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise _Garbled(f"the answer is not JSON: {error}") from error
        if not isinstance(message, dict):
            raise _Garbled("the answer is not a JSON object")
        return message

    def _read(self, count: int, deadline: float, leash: int | None) -> bytes:
        parts: list[bytes] = []
        while count:
            self._await_word(deadline, leash)
            try:
                part = os.read(self._channel, min(count, 1 << 20))
            except ConnectionError:
                part = b""
            if not part:
                raise _Garbled("the sandbox ended before it answered")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _await_word(self, deadline: float, leash: int | None) -> None:
        """Wait until the channel can be read. Meanwhile keep the child's output, and watch the leash."""
        poll = select.poll()
        poll.register(self._channel, select.POLLIN)
        for fd in (self._output, leash):
            if fd is not None and fd >= 0:
                poll.register(fd, select.POLLIN)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            for fd, _ in poll.poll(left * 1e3):
                if fd == self._channel:
                    return
                if fd == self._output:
                    if not self._drain():
                        poll.unregister(fd)
                elif not _holds(fd):
                    raise Abandoned

    def _drain(self) -> bool:
        """False at the end of the child's output."""
        while self._output >= 0:
            try:
                part = os.read(self._output, 1 << 16)
            except BlockingIOError:
                return True
            if not part:
                os.close(self._output)
                self._output = -1
            self._kept += part[: max(0, _OUTPUT_KEPT - len(self._kept))]
        return False


def _become_child(template: Template, ready: dict[str, Any], job: int, output: int) -> None:
    """Never returns."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # When memory runs out, the kernel should kill this process, not the one that reports it.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(job, JOB_FD)
    live(template, ready)


def _holds(leash: int) -> bool:
    """Whether the leash is still open. Other input is discarded."""
    try:
        return bool(os.read(leash, 1 << 16))
    except ConnectionError:
        return False


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")
