"""Two sandboxes of one template, both with code of one author, try to pass a message from one to the other.

Each way has a sender and a receiver. A way is closed when the receiver sees the same, whether the sender sends or not.
An error in either of them is fine.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest
import pytest_asyncio

from tests.sandbox.python.conftest import Bench

_TOOLS = """
import ctypes, fcntl, mmap, os, struct, threading, time
libc = ctypes.CDLL(None, use_errno=True)
ARM = os.uname().machine == "aarch64"

def attempt(action):
    try:
        return action()
    except (OSError, ValueError) as error:
        return type(error).__name__

def futex(address, operation, value, seconds=None):
    number = 98 if ARM else 202
    limit = None if seconds is None else struct.pack("qq", 0, int(seconds * 1e9))
    done = libc.syscall(number, ctypes.c_void_p(address), operation, value, limit, None, 0)
    return done if done >= 0 else -ctypes.get_errno()

def record(command, kind, at, target):
    return struct.unpack("hhqqi4x", fcntl.fcntl(target, command, struct.pack("hhqqi4x", kind, 0, at, 1, 0)))[0]

def mapped():
    # Of a file that all sandboxes on this dataset share. A private mapping has the same page behind it.
    with open("orders.parquet", "rb") as file:
        block = mmap.mmap(file.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
    kept.append(block)
    view = memoryview(block)
    import numpy
    return numpy.frombuffer(view, dtype="uint8").ctypes.data

kept = []
code_page = ctypes.cast(libc.getpid, ctypes.c_void_p).value & ~4095
"""


@dataclass(frozen=True, slots=True)
class Way:
    send: str
    """With `message`, 0 or 1."""
    receive: str
    """An expression."""
    at_once: bool = False
    """The receiver must be waiting while the sender sends."""


def _locks(command_set: int, command_get: int, target: str) -> Way:
    return Way(
        f"target = {target}\nfor at in range(8):\n"
        f"    if message: attempt(lambda: record({command_set}, 0, at, target))",
        f"[attempt(lambda: record({command_get}, 1, at, {target})) for at in range(8)]",
    )


def _woken(address: str) -> Way:
    """A lock of the kernel that is known by the file and the place behind an address."""
    return Way(
        f"address = {address}\nfor _ in range(40):\n"
        "    if message: futex(address, 1, 100)\n    time.sleep(0.01)",
        f"(lambda address: futex(address, 0, ctypes.c_int.from_address(address).value, 0.6))({address})",
        at_once=True,
    )


_DATA = "os.open('orders.parquet', os.O_RDONLY)"
_WAYS = {
    "record locks on the data": _locks(6, 5, _DATA),
    "record locks of an open file on the data": _locks(37, 36, _DATA),
    "record locks on a device": _locks(6, 5, "0"),
    "record locks of an open file on a device": _locks(37, 36, "0"),
    "a lock on a whole file": Way(
        f"message and attempt(lambda: fcntl.flock({_DATA}, 2 | 4))",
        f"attempt(lambda: fcntl.flock({_DATA}, 1 | 4))",
    ),
    "flags of the standard input": Way(
        "message and attempt(lambda: fcntl.fcntl(0, 4, os.O_NONBLOCK | os.O_APPEND))",
        "attempt(lambda: fcntl.fcntl(0, 3))",
    ),
    "place in the standard input": Way(
        "message and attempt(lambda: os.lseek(0, 77, 0))", "attempt(lambda: os.lseek(0, 0, 1))"
    ),
    "times of a device": Way(
        "for name in ('null', 'zero', 'urandom'):\n    message and attempt(lambda: os.utime(f'/dev/{name}'))",
        "[attempt(lambda: os.stat(f'/dev/{name}').st_mtime_ns) for name in ('null', 'zero', 'urandom')]",
    ),
    "times of the standard input": Way(
        "message and attempt(lambda: os.utime(0))", "attempt(lambda: os.fstat(0).st_mtime_ns)"
    ),
    "times of the data": Way(
        "message and open('orders.parquet', 'rb').read()",
        "[(s.st_atime_ns, s.st_mtime_ns) for s in [os.stat('orders.parquet')]]",
    ),
    "waiting on a page of the data": _woken("mapped()"),
    "waiting on a page of the program": _woken("code_page"),
    "processor affinity": Way(
        "message and attempt(lambda: os.sched_setaffinity(0, {max(os.sched_getaffinity(0))}))",
        "attempt(lambda: os.sched_getaffinity(peer))",
    ),
    "scheduling policy": Way(
        "message and attempt(lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)))",
        "attempt(lambda: os.sched_getscheduler(peer))",
    ),
    "priority": Way(
        "message and attempt(lambda: os.setpriority(0, 0, 19))", "attempt(lambda: os.getpriority(0, peer))"
    ),
}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def received(bench: Bench) -> dict[str, tuple[str, str]]:
    """What the receiver sees for each way: of a sender that is silent, and of one that sends."""
    silent, sent = [await _received(bench, message) for message in (0, 1)]
    return {name: (silent[name], sent[name]) for name in _WAYS}


async def _received(bench: Bench, message: int) -> dict[str, str]:
    sender, receiver = await bench.open(check=False), await bench.open(check=False)
    try:
        peer = (await sender.cell(f"{_TOOLS}\nprint(os.getpid())")).stdout.strip()
        assert (await receiver.cell(f"{_TOOLS}\npeer = {peer}")).status == "succeeded"
        found: dict[str, str] = {}
        for name, way in _WAYS.items():
            sending = sender.cell(f"message = {message}\n{way.send}")
            receiving = receiver.cell(f"print({way.receive})")
            if way.at_once:
                result, _ = await asyncio.gather(receiving, sending)
            else:
                await sending
                result = await receiving
            found[name] = result.stdout or (result.error.type if result.error else "")
        return found
    finally:
        await sender.aclose()
        await receiver.aclose()


@pytest.mark.parametrize("name", _WAYS)
def test_no_message_passes(received: dict[str, tuple[str, str]], name: str) -> None:
    silent, sent = received[name]
    assert silent, "the receiver must have looked"
    assert sent == silent
