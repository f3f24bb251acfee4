"""The system call filter, asked call by call, for both machines."""

from __future__ import annotations

import errno
from dataclasses import dataclass

import pytest

from sandtable_runner import seccomp, syscalls
from tests.runner.bpf import ALLOW, ERRNO, KILL, decide

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_EPERM, _ENOSYS, _DONE = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS, ERRNO
_ME = 4242


@dataclass(frozen=True, slots=True)
class Filter:
    machine: str
    program: bytes
    numbers: dict[str, int]

    def __call__(self, name: str, *arguments: int) -> int:
        return decide(self.program, _ARCHITECTURES[self.machine], self.numbers[name], arguments)


def _build(machine: str, monkeypatch: pytest.MonkeyPatch, *, private_files: bool) -> Filter:
    monkeypatch.setattr(syscalls, "MACHINE", machine)
    numbers = syscalls._numbers()
    monkeypatch.setattr(seccomp, "MACHINE", machine)
    monkeypatch.setattr(seccomp, "NUMBER", numbers)
    program = seccomp.build_filter.__wrapped__(_ME, private_files=private_files)
    return Filter(machine, program, numbers)


@pytest.fixture(params=list(_ARCHITECTURES))
def rules(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Filter:
    return _build(request.param, monkeypatch, private_files=True)


_MAP_PRIVATE, _MAP_SHARED, _MAP_ANONYMOUS = 2, 1, 0x20
_READ_WRITE, _EXECUTE = 3, 4
_THREAD = 0x3D0F00
_DECISIONS: dict[str, tuple[str, tuple[int, ...], int]] = {
    "read": ("read", (0,), ALLOW),
    "open": ("openat", (-100,), ALLOW),
    "wait": ("futex", (0, 0x80, 0), ALLOW),
    "exit": ("exit_group", (), ALLOW),
    "a thread": ("clone", (_THREAD,), ALLOW),
    "a process": ("clone", (17,), _EPERM),
    "a process, new way": ("clone3", (), _ENOSYS),
    "private memory": ("mmap", (0, 4096, _READ_WRITE, _MAP_PRIVATE | _MAP_ANONYMOUS), ALLOW),
    "shared anonymous memory": ("mmap", (0, 4096, _READ_WRITE, _MAP_SHARED | _MAP_ANONYMOUS), _EPERM),
    "shared file": ("mmap", (0, 4096, 1, _MAP_SHARED), ALLOW),
    "executable memory": ("mmap", (0, 4096, 1 | _EXECUTE, _MAP_PRIVATE | _MAP_ANONYMOUS), _EPERM),
    "memory made executable": ("mprotect", (0, 4096, 1 | _EXECUTE), _EPERM),
    "memory made writable": ("mprotect", (0, 4096, _READ_WRITE), ALLOW),
    "signal itself": ("kill", (_ME, 6), ALLOW),
    "signal another": ("kill", (1, 0), _EPERM),
    "signal all": ("kill", (-1, 9), _EPERM),
    "signal its own thread": ("tgkill", (_ME, _ME, 6), ALLOW),
    "signal another's thread": ("tgkill", (1, 1, 6), _EPERM),
    "read its own limits": ("prlimit64", (0, 7, 0, 1), ALLOW),
    "set its own limits": ("prlimit64", (0, 7, 0x1000, 0), _EPERM),
    "set its own limits, high address": ("prlimit64", (0, 7, 0x7F00_0000_0000, 0), _EPERM),
    "read another's limits": ("prlimit64", (1, 7, 0, 1), _EPERM),
    "name a thread": ("prctl", (15,), ALLOW),
    "become dumpable": ("prctl", (4, 1), _EPERM),
    "live on without the parent": ("prctl", (1, 0), _EPERM),
    "window size": ("ioctl", (1, 0x5413), ALLOW),
    "type into a terminal": ("ioctl", (0, 0x5412), _EPERM),
    "duplicate a descriptor": ("fcntl", (1, 1030, 3), ALLOW),
    "set flags": ("fcntl", (1, 4, 0), ALLOW),
    "signal by descriptor": ("fcntl", (1, 8, 1), _EPERM),
    "choose that signal": ("fcntl", (1, 10, 9), _EPERM),
    "pin itself": ("sched_setaffinity", (0, 8, 0), _DONE),
    "pin another": ("sched_setaffinity", (1, 8, 0), _EPERM),
    "another scheduling": ("sched_setscheduler", (0, 3), _DONE),
    "look for a lock": ("fcntl", (1, 5, 0), _EPERM),
    "set a lock": ("fcntl", (1, 6, 0), _DONE),
    "wait for a lock": ("fcntl", (1, 7, 0), _DONE),
    "look for a lock of an open file": ("fcntl", (1, 36, 0), _EPERM),
    "set a lock of an open file": ("fcntl", (1, 37, 0), _DONE),
    "wait for a lock of an open file": ("fcntl", (1, 38, 0), _DONE),
    "a lease": ("fcntl", (1, 1024, 0), _EPERM),
    "see a lease": ("fcntl", (1, 1025, 0), _EPERM),
    "watch a folder": ("fcntl", (1, 1026, 0), _EPERM),
    "lock a whole file": ("flock", (1, 2), _EPERM),
    "wake a thread of its own": ("futex", (0, 0x81, 1), ALLOW),
    "wait for the end of a thread": ("futex", (0, 0x109, 1), ALLOW),
    "wake by a page of a file": ("futex", (0, 1, 1), _EPERM),
    "wake some by a page of a file": ("futex", (0, 10, 1), _EPERM),
    "move those who wait on a page of a file": ("futex", (0, 4, 1), _EPERM),
    "more system calls, io_uring": ("io_uring_setup", (), _ENOSYS),
    "another filter": ("seccomp", (1,), _EPERM),
    "another Landlock": ("landlock_restrict_self", (), _EPERM),
    "capabilities": ("capset", (), _EPERM),
    "root": ("pivot_root", (), _EPERM),
    "a mount": ("mount_setattr", (), _EPERM),
}


@pytest.mark.parametrize(("name", "arguments", "decision"), _DECISIONS.values(), ids=list(_DECISIONS))
def test_decisions(rules: Filter, name: str, arguments: tuple[int, ...], decision: int) -> None:
    assert rules(name, *arguments) == decision


def test_what_is_not_named_is_refused(rules: Filter) -> None:
    named = set(rules.numbers.values())
    for number in set(range(600)) - named:
        assert decide(rules.program, _ARCHITECTURES[rules.machine], number) == _EPERM


def test_another_architecture_is_killed(rules: Filter) -> None:
    for architecture in (
        0x40000003,
        0x40000028,
        *(set(_ARCHITECTURES.values()) - {_ARCHITECTURES[rules.machine]}),
    ):
        assert decide(rules.program, architecture, rules.numbers["read"]) == KILL


def test_x32_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = _build("x86_64", monkeypatch, private_files=True)
    for number in (0, 1, 39, 257):
        assert decide(rules.program, _ARCHITECTURES["x86_64"], 0x40000000 | number) == _EPERM


@pytest.mark.parametrize("name", ["fchmod", "fchmodat", "utimensat"])
@pytest.mark.parametrize("private_files", [True, False], ids=["private tree", "shared tree"])
def test_metadata_may_change_in_a_private_tree_only(
    monkeypatch: pytest.MonkeyPatch, name: str, private_files: bool
) -> None:
    rules = _build("x86_64", monkeypatch, private_files=private_files)
    assert rules(name) == (ALLOW if private_files else _EPERM)


def test_the_filter_fits_the_kernel(rules: Filter) -> None:
    assert len(rules.program) // 8 <= 4096


_INET, _UNIX, _NETLINK, _TCP, _UDP, _FLAGS = 2, 1, 16, 1, 2, 0x80800


@pytest.mark.parametrize("machine", _ARCHITECTURES)
@pytest.mark.parametrize(
    ("name", "arguments", "decision"),
    [
        ("socket", (_INET, _TCP | _FLAGS, 0), ALLOW),
        ("socket", (_INET, _UDP, 0), _EPERM),
        ("socket", (_UNIX, _TCP, 0), _EPERM),
        ("socket", (_NETLINK, 3, 0), _EPERM),
        ("connect", (5, 0x1000, 16), ALLOW),
        ("sendto", (5, 0x1000, 9, 0, 0, 0), ALLOW),
        ("sendto", (5, 0x1000, 9, 0, 0x2000, 16), _EPERM),
        ("accept4", (5, 0, 0, 0), _EPERM),
        ("socketpair", (_UNIX, _TCP, 0), _EPERM),
        ("clone", (17,), _EPERM),
    ],
)
def test_a_driver_may_connect_tcp_sockets_and_nothing_more(
    machine: str, name: str, arguments: tuple[int, ...], decision: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = _build(machine, monkeypatch, private_files=True)
    program = seccomp.build_filter.__wrapped__(_ME, private_files=True, connecting=True)
    assert Filter(machine, program, plain.numbers)(name, *arguments) == decision
    if name in ("socket", "connect", "sendto"):
        assert plain(name, *arguments) == _EPERM
