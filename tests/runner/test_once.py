"""One order in, one report out, whatever the order does: over standard input, a file and a connection."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runner.once import (
    SLOW,
    Once,
    as_order,
    children,
    digest,
    frame,
    free_port,
    packed,
    read_frame,
    started,
    until_gone,
)
from tests.sandbox import as_user
from tests.sandbox.stores import Store, make_store, sql_job

_THE_CONTAINERS_PART = ("read ", "list ", "climb to the root", "write into /tmp", "write into /dev/shm")
"""What only a file tree with nothing in it keeps from code, where the kernel has no Landlock."""
_COUNT = "SELECT count(*) AS n FROM orders"


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    """Where every user may read."""
    with tempfile.TemporaryDirectory(prefix="sandtable-once-") as folder:
        Path(folder).chmod(0o755)
        yield make_store(Path(folder) / "store")


_WORLDS: dict[str, tuple[dict[str, Any], str, tuple[str, ...]]] = {
    "root": ({}, "private-root", ("root", "userns")),
    "ordinary user": ({"uid": as_user.ORDINARY_UID}, "private-root", ("userns",)),
    "no namespaces": ({"uid": as_user.ORDINARY_UID, "namespaces": False}, "landlock", ("landlock",)),
    "no Landlock either": (
        {"uid": as_user.ORDINARY_UID, "namespaces": False, "landlock": False},
        "seccomp",
        ("root",),
    ),
}
WORLDS = [
    pytest.param(given, layer, id=name, marks=pytest.mark.needs(*needs))
    for name, (given, layer, needs) in _WORLDS.items()
]


def _ask(store: Store, text: str, *, world: dict[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    with started(store.root, **(world or {})) as once:
        once.ready()
        once.send(frame(as_order(sql_job(store, "job", text, **given))))
        report = once.report()
        assert once.line() is None
        assert once.end() == 0
        return report


@pytest.mark.parametrize(("world", "layer"), WORLDS)
def test_an_order_on_standard_input(store: Store, world: dict[str, Any], layer: str) -> None:
    with started(store.root, **world) as once:
        hello = once.ready()
        assert hello["engine"].startswith("duckdb ")
        assert any(entry.split(":")[0] == layer for entry in hello["layers"]), hello
        once.send(frame(as_order(sql_job(store, "job", _COUNT))))
        report = once.report()
        assert report["answer"]["rows"] == [[2000]]
        assert (report["trouble"], report["timed_out"]) == ("", False)
        assert once.end() == 0


@pytest.mark.needs("root")
def test_what_is_missing_is_told_and_the_rest_stands(store: Store) -> None:
    """Only a container makes the third kind of isolation acceptable; it still takes no network or program."""
    world = {"uid": as_user.ORDINARY_UID, "namespaces": False, "landlock": False}
    with started(store.root, **world) as once:
        hello = once.ready()
        assert "landlock" in " ".join(hello["reasons"])
        assert "seccomp" in hello["layers"] and not any("landlock" in layer for layer in hello["layers"])
        once.send(frame(as_order(sql_job(store, "job", "", mode="probe"))))
        escaped = {a["name"] for a in once.report()["answer"]["output"]["attempts"] if a["escaped"]}
        assert not {name for name in escaped if not name.startswith(_THE_CONTAINERS_PART)}


@pytest.mark.needs("root")
def test_the_supervisors_memory_is_out_of_the_childs_reach(store: Store) -> None:
    """They are of one user, and may see each other where there is no process namespace."""
    world = {"uid": as_user.ORDINARY_UID, "namespaces": False, "ready": _presealed(store)}
    with started(store.root, **world) as once:
        once.ready()
        memory = Path(f"/proc/{once.process.pid}/mem")
        assert memory.stat().st_uid == 0, "the kernel would let the child open it"


@pytest.mark.needs("userns")
def test_nothing_of_the_environment_or_other_data_is_in_reach(store: Store) -> None:
    with started(store.root) as once:
        once.ready()
        once.send(frame(as_order(sql_job(store, "job", "", mode="probe"))))
        attempts = once.report()["answer"]["output"]["attempts"]
        assert attempts
        assert not [attempt for attempt in attempts if attempt["escaped"]]


def test_an_order_in_a_file(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "order"
    path.write_bytes(packed(as_order(sql_job(store, "job", _COUNT))))
    with started(store.root, input=f"file:{path}") as once:
        once.ready()
        assert once.report()["answer"]["rows"] == [[2000]]
        assert once.end() == 0


@pytest.mark.parametrize("content", [b"", b"?", b"AAAA", packed([1]), packed({"mode": "sql"})],
                         ids=["empty", "not base64", "not zlib", "not an object", "half an order"])  # fmt: skip
def test_a_file_that_holds_no_order(store: Store, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "order"
    path.write_bytes(content)
    with started(store.root, input=f"file:{path}") as once:
        once.ready()
        report = once.report()
        assert report["answer"] is None and "order" in report["trouble"]
        assert once.end() == 0


def _listening(store: Store, port: int, **config: Any) -> Any:
    return started(store.root, input=f"tcp:{port}", token_sha256=digest("the token"), **config)


def test_an_order_over_a_connection(store: Store) -> None:
    """Strangers are sent away; the one who knows the token is served, and nobody after."""
    port = free_port()
    with _listening(store, port) as once:
        once.ready()
        for wrong in ("", "wrong", "the token ", "x" * 5000):
            with once.connect(port, wrong) as stranger:
                # It may be sent away while it still talks.
                with contextlib.suppress(ConnectionError):
                    stranger.sendall(frame(as_order(sql_job(store, "job", _COUNT))))
                assert _hears_nothing(stranger)
        with once.connect(port, "the token") as connection:
            connection.sendall(frame(as_order(sql_job(store, "job", _COUNT))))
            report = read_frame(connection)
        assert report is not None
        assert (report["kind"], report["nonce"]) == ("report", once.nonce)
        assert report["answer"]["rows"] == [[2000]]
        assert once.line() is None
        assert once.end() == 0


def _hears_nothing(connection: Any) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_a_connection_that_closes_ends_the_run(store: Store) -> None:
    port = free_port()
    with _listening(store, port) as once:
        once.ready()
        with once.connect(port, "the token") as connection:
            connection.sendall(frame(as_order(sql_job(store, "job", SLOW))))
            time.sleep(0.3)
            family = children(once.process.pid)
        assert once.end() == 0
        assert not until_gone(family)


def test_a_leash_on_standard_input(store: Store) -> None:
    with started(store.root, leash=True) as once:
        once.ready()
        once.send(frame(as_order(sql_job(store, "job", SLOW))))
        time.sleep(0.3)
        family = children(once.process.pid)
        once.hang_up()
        assert once.end() == 0
        assert not until_gone(family)


def test_without_a_leash_the_input_may_close(store: Store) -> None:
    with started(store.root) as once:
        once.ready()
        once.send(frame(as_order(sql_job(store, "job", _COUNT))))
        once.hang_up()
        assert once.report()["answer"]["rows"] == [[2000]]


@pytest.mark.parametrize(
    "sent", [b"", frame({})[:3], frame({"mode": "sql"})[:10]], ids=["nothing", "half a length", "half"]
)
def test_nobody_comes(store: Store, sent: bytes) -> None:
    """Neither within the time, nor before the input closes: it ends, and has nothing to report."""
    for hangs_up in (False, True):
        with started(store.root, wait_s=30 if hangs_up else 0.2) as once:
            once.ready()
            once.send(sent)
            if hangs_up:
                once.hang_up()
            assert once.line() is None
            assert once.end() == 0


def test_nobody_connects(store: Store) -> None:
    with _listening(store, free_port(), wait_s=0.2) as once:
        once.ready()
        assert once.end() == 0


_WHOLE = {"id": "j", "mode": "sql", "text": "SELECT 1", "data": [], "threads": 1, "options": {}}
_LIMITS = {"wall_ms": 1000, "rows": 1, "cell_bytes": 100, "result_bytes": 1000, "log_bytes": 100}
_CELL = {"folder": None, "staging": None, "memory_mb": 256, "tmp_mb": 0, "file_mb": 0, "cpu_s": 5, "pids": 8}
_GARBAGE: dict[str, tuple[bytes, str]] = {
    "too long": (b"\xff\xff\xff\xff", "over the limit"),
    "not JSON": (b"\0\0\0\3{]}", "not JSON"),
    "not an object": (frame([1, 2]), "not a JSON object"),
    "deeply nested": (b"\0\3\x0d\x40" + b"[" * 200_000, "not JSON"),
    "nothing in it": (frame({}), "no id, mode"),
    "no limits": (frame({**_WHOLE, "cell": _CELL}), "no limits"),
    "limits that are text": (frame({**_WHOLE, "cell": _CELL, "limits": {**_LIMITS, "wall_ms": "1"}}), "wall_ms"),
    "no cell": (frame({**_WHOLE, "limits": _LIMITS, "cell": {"folder": None}}), "memory_mb"),
    "a session": (frame({**_WHOLE, "mode": "session", "limits": _LIMITS, "cell": _CELL}), "'session'"),
    "an unknown mode": (frame({**_WHOLE, "mode": "shell", "limits": _LIMITS, "cell": _CELL}), "'shell'"),
    "code for a SQL runner": (frame({**_WHOLE, "mode": "python", "limits": _LIMITS, "cell": _CELL}), "'python'"),
    "text that is a list": (frame({**_WHOLE, "text": [], "limits": _LIMITS, "cell": _CELL}), "must be text"),
}  # fmt: skip


@pytest.mark.parametrize(("sent", "hint"), _GARBAGE.values(), ids=list(_GARBAGE))
def test_garbage_is_reported(store: Store, sent: bytes, hint: str) -> None:
    with started(store.root) as once:
        once.ready()
        once.send(sent)
        report = once.report()
        assert report["answer"] is None
        assert hint in report["trouble"]
        assert once.end() == 0


@pytest.mark.parametrize("namespaces", [True, False])
def test_the_wall_clock(store: Store, namespaces: bool) -> None:
    report = _ask(store, SLOW, wall_ms=300, world={"namespaces": namespaces})
    assert report["timed_out"] and report["answer"] is None


@pytest.mark.parametrize("namespaces", [True, False])
def test_memory(store: Store, namespaces: bool) -> None:
    report = _ask(store, "SELECT list(x) FROM range(1000000000) AS t(x)", memory_mb=128, tmp_mb=16,
                  world={"namespaces": namespaces})  # fmt: skip
    assert report["answer"]["error"]["code"] == "RUNNER_RESOURCE_EXCEEDED"


def test_processor_time(store: Store) -> None:
    report = _ask(store, SLOW, cpu_s=1, world={"namespaces": False})
    assert report["answer"] is None
    assert os.WTERMSIG(report["status"]) == signal.SIGXCPU
    assert report["cpu_ms"] >= 900 and report["peak_kb"] > 0


def _crashed(once: Once, store: Store, number: signal.Signals) -> dict[str, Any]:
    once.ready()
    before = children(once.process.pid)
    once.send(frame(as_order(sql_job(store, "job", SLOW))))
    time.sleep(0.4)
    (child,) = children(once.process.pid) - before
    os.kill(child, number)
    return once.report()


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL], ids=lambda number: number.name)
def test_a_crash(store: Store, number: signal.Signals) -> None:
    with started(store.root, namespaces=False) as once:
        report = _crashed(once, store, number)
        assert report["answer"] is None and "ended before it answered" in report["trouble"]
        assert os.WTERMSIG(report["status"]) == number
        assert "out of memory" not in report["output"]
        assert once.end() == 0


def test_it_ends_when_it_is_asked_to(store: Store) -> None:
    with started(store.root) as once:
        once.ready()
        once.send(frame(as_order(sql_job(store, "job", SLOW))))
        time.sleep(0.3)
        family = children(once.process.pid)
        once.process.terminate()
        assert once.end() == 128 + signal.SIGTERM
        assert not until_gone(family)


def _presealed(store: Store, **cell: Any) -> dict[str, Any]:
    order = as_order(sql_job(store, "job", ""))
    return {"presealed": True, "warm": True, "mode": "sql", "cell": {**order["cell"], **cell},
            "data": order["data"], "threads": 1}  # fmt: skip


@pytest.mark.parametrize("namespaces", [True, False])
def test_a_sandbox_that_waits_for_its_order(store: Store, namespaces: bool) -> None:
    with started(store.root, namespaces=namespaces, ready=_presealed(store)) as once:
        once.ready()
        once.send(frame(as_order(sql_job(store, "job", _COUNT))))
        assert once.report()["answer"]["rows"] == [[2000]]


def test_a_sandbox_that_waits_takes_no_other_order(store: Store) -> None:
    with started(store.root, ready=_presealed(store, memory_mb=64)) as once:
        once.ready()
        once.send(frame(as_order(sql_job(store, "job", _COUNT))))
        assert "sealed for other data" in once.report()["trouble"]


def test_a_sandbox_that_cannot_get_ready_says_so(store: Store) -> None:
    with started(store.root, ready=_presealed(store, folder="versions/nowhere")) as once:
        message = once.line()
        assert message is not None and message["kind"] == "unavailable"
        assert "nowhere" in message["message"]
        assert once.end() == 1


@pytest.mark.parametrize(
    ("config", "hint"),
    [
        ({"kind": "jupyter"}, "no kind"),
        ({"input": "pigeon"}, "`stdin`, `file:/path` or `tcp:port`"),
        ({"input": "file:/nowhere"}, "/nowhere"),
        ({"input": "tcp:8377"}, "token_sha256"),
        ({"input": "tcp:one"}, "tcp:one"),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_a_configuration_that_cannot_work(store: Store, config: dict[str, Any], hint: str) -> None:
    with started(store.root, **config) as once:
        message = once.line()
        assert message is not None and message["kind"] == "unavailable"
        assert hint in message["message"]
        assert once.end() == 1


def test_a_store_that_is_not_there(tmp_path: Path) -> None:
    with started(tmp_path / "nowhere") as once:
        message = once.line()
        assert message is not None and "nowhere" in message["message"]


def test_the_standard_input_is_not_the_childs(store: Store) -> None:
    """What the child could read there is the server's."""
    with started(store.root, namespaces=False, ready=_presealed(store)) as once:
        once.ready()
        (child,) = children(once.process.pid) - {once.process.pid}
        held = {str(entry.readlink()) for entry in Path(f"/proc/{child}/fd").iterdir()}
        ours = {str(Path(f"/proc/{once.process.pid}/fd/{fd}").readlink()) for fd in (0, 1, 2)}
        assert str(Path(f"/proc/{child}/fd/0").readlink()) == "/dev/null"
        assert not held & ours
