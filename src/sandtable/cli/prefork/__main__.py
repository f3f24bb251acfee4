"""The process that waits: loads what brief commands need, then forks for each command until none has come for a time.

A fork begins as the program does when it is called: with the caller's arguments, environment, folder, umask and
standard streams. It ends by itself, or by the signals that its caller passes on.

Invariant: a caller is served only if the kernel says that its rights are this process's, and lets it look into this
process. So no one gets by a fork what they may not do themselves.
"""

from __future__ import annotations

import gc
import hmac
import json
import os
import secrets
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandtable.cli.prefork import meeting
from sandtable_runner import kernel

_ORDER_S = 5.0
_LARGEST_ORDER = 4 << 20


@dataclass(slots=True)
class Child:
    pid: int
    ended: int
    """Readable when it has ended."""
    caller: socket.socket
    alone: bool = False
    """Whether its caller has gone."""


class Waiting:
    def __init__(self, listener: socket.socket, seconds: int, sources: dict[str, tuple[int, int]]) -> None:
        self._listener = listener
        self._proof = keep_proof()
        self._rights = meeting.rights_of(os.getpid())
        self._seconds = seconds
        self._sources = sources
        self._children: list[Child] = []

    def serve(self) -> Callable[[], None] | None:
        """In a fork: what it has to do. In the process that waits: None, when its time is over."""
        last = time.monotonic()
        outdated = False
        while True:
            left = self._seconds - (time.monotonic() - last)
            if (outdated or left <= 0) and not self._children:
                return None
            called = self._wait(max(left, 0.0) if not self._children else None)
            for child in self._gone():
                self._children.remove(child)
                last = time.monotonic()
            if not called:
                continue
            last = time.monotonic()
            outdated = outdated or stamps(self._sources) != self._sources
            work = self._fork(serves=not outdated)
            if work is not None:
                return work

    def _wait(self, seconds: float | None) -> bool:
        """Whether somebody calls. Returns early when a child or its caller has ended."""
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        for child in self._children:
            poll.register(child.ended, select.POLLIN)
            if not child.alone:
                poll.register(child.caller, select.POLLRDHUP)
        ready = poll.poll(None if seconds is None else seconds * 1000)
        return any(descriptor == self._listener.fileno() for descriptor, _ in ready)

    def _gone(self) -> Iterator[Child]:
        """Those that have ended, their callers informed. One whose caller has gone is asked to end."""
        for child in tuple(self._children):
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            if pid:
                with suppress(OSError):
                    child.caller.sendall(status.to_bytes(4))
                child.caller.close()
                os.close(child.ended)
                yield child
            elif not child.alone and _hung_up(child.caller):
                child.alone = True
                signal.pidfd_send_signal(child.ended, signal.SIGTERM)

    def _fork(self, *, serves: bool) -> Callable[[], None] | None:
        """Without `serves`, only those commands go on that have begun: they would end with this process."""
        caller, _ = self._listener.accept()
        if not serves or not self._may_be_served(caller):
            caller.close()
            return None
        waiting = os.getpid()
        pid = os.fork()
        if pid:
            self._children.append(Child(pid, os.pidfd_open(pid), caller))
            return None
        kernel.die_with_parent(waiting)
        self._listener.close()
        for child in self._children:
            os.close(child.ended)
            child.caller.close()
        os.close(meeting.PROOF_FD)
        return take_order(caller, self._proof)

    def _may_be_served(self, caller: socket.socket) -> bool:
        try:
            return meeting.rights_of(meeting.peer_of(caller)) == self._rights
        except OSError:
            return False


def keep_proof() -> bytes:
    """Random bytes that only those read who may look into this process."""
    proof = secrets.token_bytes(meeting.PROOF_BYTES)
    memory = os.memfd_create("prefork")
    os.write(memory, proof)
    os.dup2(memory, meeting.PROOF_FD, inheritable=False)
    os.close(memory)
    return proof


def _hung_up(caller: socket.socket) -> bool:
    poll = select.poll()
    poll.register(caller, select.POLLRDHUP)
    return bool(poll.poll(0))


def take_order(caller: socket.socket, proof: bytes) -> Callable[[], None]:
    """Becomes the process that the caller would have been. Ends if the caller has gone, or does not give `proof`."""
    caller.settimeout(_ORDER_S)
    try:
        head, descriptors, *_ = socket.recv_fds(caller, len(proof) + 4, 4)
        if not hmac.compare_digest(head[: len(proof)], proof):
            os._exit(1)
        order = json.loads(_exactly(caller, min(int.from_bytes(head[len(proof) :]), _LARGEST_ORDER)))
        caller.sendall(os.getpid().to_bytes(4))
        _exactly(caller, 1)
    except (OSError, ValueError):
        os._exit(1)
    caller.close()
    os.setsid()
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
    os.fchdir(descriptors[3])
    for descriptor in descriptors:
        os.close(descriptor)
    os.umask(order["umask"])
    os.environ.clear()
    os.environ.update(order["environment"])
    time.tzset()
    sys.argv = order["arguments"]
    _open_streams()
    return _command


def _exactly(caller: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        block = caller.recv(size - len(found))
        if not block:
            raise OSError("the caller has gone")
        found += block
    return found


def _open_streams() -> None:
    """As the interpreter does when it starts."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        old: Any = getattr(sys, name)
        at_once = 1 if number == 2 or (number == 1 and os.isatty(number)) else -1
        stream = open(number, mode, at_once, old.encoding, old.errors, closefd=False)  # noqa: SIM115 - open to the end
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _command() -> None:
    from sandtable.cli.group import main

    main(prog_name=Path(sys.argv[0]).name)


def stamps(files: dict[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """When each of these files was changed, and its size."""
    return {path: _stamp(path) for path in files}


def _stamp(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)  # noqa: PTH116 - for thousands of files, with a caller waiting
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def loaded_files() -> dict[str, tuple[int, int]]:
    paths = {getattr(module, "__file__", None) for module in tuple(sys.modules.values())}
    return {path: _stamp(path) for path in sorted(filter(None, paths))}


def wait(circumstances: str, seconds: int) -> Callable[[], None] | None:
    if meeting.lock(circumstances) is None:
        return None
    from sandtable.cli.prefork.loading import (
        load,  # imports all commands, which a second process does without
    )

    load()
    if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208 - counted only
        return None  # A fork would have their locks and not them.
    gc.collect()
    gc.freeze()
    address = meeting.folder() / circumstances
    address.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(address))
        listener.listen()
        waiting = os.getpid()
        try:
            return Waiting(listener, seconds, loaded_files()).serve()
        finally:
            if os.getpid() == waiting:
                address.unlink(missing_ok=True)


def main() -> None:
    work = wait(sys.argv[1], int(sys.argv[2]))
    if work is not None:
        work()


if __name__ == "__main__":
    main()
