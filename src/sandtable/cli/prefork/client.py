"""The command's side: hands it over to the process that waits, and passes signals on until it has ended.

Only the standard library is imported here: all of this takes place before the command could load anything.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from sandtable.cli.prefork import meeting

SECONDS = "SANDTABLE_PREFORK_S"
_DEFAULT_S, _LONGEST_S = 300, 3600
"""As in `settings.Settings.prefork_s`."""
_ANSWER_S = 5.0
"""A process that does not answer within this time is left alone."""
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_LOST = "The process that carried the command out was killed. Run the command again."


def carried_out() -> int | None:
    """The command's exit code, if a process that waits has carried it out."""
    if not (_may_be_handed_over() and _in_foreground()):
        return None
    try:
        connection, proof = _met()
    except OSError:
        return None
    with connection:
        child = _forked(connection, proof)
        return None if child is None else _ended(connection, child)


@contextmanager
def leaving_one_to_wait() -> Iterator[None]:
    """Starts a process that waits for the next command, after this one has ended."""
    try:
        yield
    finally:
        if _may_be_handed_over() and "CI" not in os.environ:
            with suppress(OSError):
                _leave_one(meeting.circumstances())


def _may_be_handed_over() -> bool:
    return (
        sys.platform.startswith("linux")
        and len(sys.argv) > 1
        and sys.argv[1] in meeting.BRIEF
        and seconds() > 0
    )


def _in_foreground() -> bool:
    """A command in the background of its terminal is stopped when it reads from it. A fork would not be."""
    try:
        return not os.isatty(0) or os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def seconds() -> int:
    """How long a process waits for a command; 0 for a value that the settings will refuse."""
    given = os.environ.get(SECONDS) or str(_DEFAULT_S)
    known = given.isascii() and given.isdecimal() and int(given) <= _LONGEST_S
    return int(given) if known else 0


def _met() -> tuple[socket.socket, bytes]:
    """A connection to the process that waits, and what it wants to see from a caller."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(_ANSWER_S)
        connection.connect(str(meeting.folder() / meeting.circumstances()))
        return connection, meeting.proof_of(meeting.peer_of(connection))
    except OSError:
        connection.close()
        raise


def _forked(connection: socket.socket, proof: bytes) -> int | None:
    """A descriptor of the process that will carry the command out; it has done nothing yet."""
    order = {"arguments": sys.argv, "environment": dict(os.environ), "umask": _umask()}
    body = json.dumps(order).encode()
    try:
        here = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            socket.send_fds(connection, [proof + len(body).to_bytes(4)], [0, 1, 2, here])
        finally:
            os.close(here)
        connection.sendall(body)
        answer = connection.recv(4)
        # No answer: the files that it was loaded from have changed, or its time was over.
        return os.pidfd_open(int.from_bytes(answer)) if len(answer) == 4 else None
    except OSError:
        return None


def _umask() -> int:
    now = os.umask(0o077)
    os.umask(now)
    return now


def _ended(connection: socket.socket, child: int) -> int:
    def pass_on(number: int, _: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(child, number)

    def pause(_: int, __: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(child, signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGSTOP)
            signal.pidfd_send_signal(child, signal.SIGCONT)

    for number in _PASSED_ON:
        signal.signal(number, pass_on)
    signal.signal(signal.SIGTSTP, pause)
    try:
        connection.settimeout(None)
        connection.sendall(b"\1")  # Until it has this, it waits.
        status = connection.recv(4)
    except OSError:
        status = b""
    if len(status) < 4:
        os.write(2, f"{_LOST}\n".encode())
        return 1
    code = os.waitstatus_to_exitcode(int.from_bytes(status))
    if code < 0:
        # As a command that is killed itself: its shell sees the signal.
        with suppress(OSError):  # That of SIGKILL cannot be set.
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _leave_one(circumstances: str) -> None:
    if meeting.is_there(circumstances):
        return
    import subprocess  # loads more than everything above

    subprocess.Popen(
        [sys.executable, "-P", "-m", "sandtable.cli.prefork", circumstances, str(seconds())],
        cwd="/",
        env={"PATH": os.defpath, **meeting.read_while_loading()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
