"""Commands that a waiting process carries out behave as if they had been started themselves."""

from __future__ import annotations

import json
import os
import pty
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandtable.cli.prefork import client, loading, meeting
from sandtable.settings import Settings
from tests.cli.prefork_callers import (
    PATIENCE_S,
    PROGRAM,
    Caller,
    Done,
    catches,
    children,
    clean_up,
    fork_of,
    forks_so_far,
    until,
)

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only there")


@pytest.fixture
def caller(tmp_path: Path) -> Iterator[Caller]:
    """For what ends the process that waits, or starts none."""
    one = Caller(tmp_path)
    yield one
    clean_up(one)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    """One for which a process waits. It was started with a secret in the environment."""
    one = Caller(tmp_path_factory.mktemp("served"))
    one.environment["TOKEN"] = "from-the-first"
    assert one.call("runs").returncode == 0
    one.wait_for_one()
    yield one
    clean_up(one)


def test_every_brief_command_is_loaded_in_advance() -> None:
    assert set(loading.COMMANDS) == meeting.BRIEF


def test_the_client_knows_the_bounds_of_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    field = Settings.model_fields["prefork_s"]
    monkeypatch.delenv(client.SECONDS, raising=False)
    assert client.seconds() == field.default
    bounds = {type(each).__name__: each for each in field.metadata}
    monkeypatch.setenv(client.SECONDS, str(bounds["Le"].le))
    assert client.seconds() == bounds["Le"].le
    for wrong in (str(bounds["Le"].le + 1), "-1", "soon", "٣"):
        monkeypatch.setenv(client.SECONDS, wrong)
        assert client.seconds() == 0


def test_a_command_is_the_same_with_and_without_a_waiting_process(served: Caller) -> None:
    served.folder.joinpath("cities.csv").write_text("city,amount\nBerlin,1\nParis,2\n")
    commands = [
        ("datasets", "--json"),
        ("check", "--dataset", "ecommerce", "-"),
        ("schema", "there is none"),
        ("runs", "--limit", "many"),
        ("runs", "--help"),
    ]
    assert served.is_handed_over("runs")
    for command in commands:
        stdin = "DROP TABLE orders" if command[-1] == "-" else ""
        handed = served.call(*command, input=stdin)
        alone = served.call(*command, input=stdin, env={**served.environment, "SANDTABLE_PREFORK_S": "0"})
        assert (handed.returncode, handed.stdout, handed.stderr) == (
            alone.returncode,
            alone.stdout,
            alone.stderr,
        )


@pytest.mark.needs("userns")
def test_a_question_about_a_file_in_the_callers_folder(served: Caller) -> None:
    place = served.folder / "elsewhere"
    place.mkdir()
    place.joinpath("cities.csv").write_text("city,amount\nBerlin,1\nParis,2\nBerlin,3\n")
    asked = ("ask", "total amount by city", "--data", "cities.csv", "--json")
    one, two = (served.call(*asked, cwd=place) for _ in range(2))
    assert one.returncode == two.returncode == 0, one.stderr
    answer = json.loads(two.stdout)
    assert answer["rows"] == [["Berlin", 4], ["Paris", 2]]
    assert served.call("verify", answer["run_id"]).returncode == 0


def test_each_command_has_its_own_environment(served: Caller) -> None:
    elsewhere = {**served.environment, "SANDTABLE_HOME": str(served.folder / "other")}
    here, there = served.call("key"), served.call("key", env=elsewhere)
    assert here.stdout != there.stdout
    assert served.call("key").stdout == here.stdout


def test_the_process_that_waits_holds_nothing_of_a_command(served: Caller) -> None:
    process = Path(f"/proc/{served.wait_for_one()}")
    assert b"from-the-first" not in process.joinpath("environ").read_bytes()
    assert process.joinpath("cwd").readlink() == Path("/")
    until(lambda: not children(int(process.name)))
    held = [str(each.readlink()) for each in process.joinpath("fd").iterdir()]
    files = {each for each in held if not each.startswith("socket:")}
    lock = str(meeting.folder() / f"{served.name}.lock")
    assert files == {"/dev/null", lock, "/memfd:prefork (deleted)"}
    assert len(held) - held.count("/dev/null") == 3


@pytest.mark.needs("userns")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_reach_the_command(served: Caller, number: int, code: int) -> None:
    begun = served.begin("run", "--python", "import time; time.sleep(600)", "--dataset", "ecommerce")
    fork = fork_of(served.wait_for_one())
    until(lambda: catches(fork, number))
    begun.send_signal(number)
    assert begun.wait(PATIENCE_S) == code
    begun.communicate()
    until(lambda: not Path(f"/proc/{fork}").exists())


def test_a_command_ends_when_its_caller_is_killed(served: Caller) -> None:
    begun = served.begin("ask", "-", "--dataset", "ecommerce")  # reads its question, and waits for it
    fork = fork_of(served.wait_for_one())
    begun.kill()
    begun.communicate()
    until(lambda: not Path(f"/proc/{fork}").exists())


def test_a_caller_of_a_killed_command_sees_the_signal(served: Caller) -> None:
    begun = served.begin("ask", "-", "--dataset", "ecommerce")
    os.kill(fork_of(served.wait_for_one()), signal.SIGKILL)
    assert begun.wait(PATIENCE_S) == -signal.SIGKILL
    begun.communicate()


def test_a_killed_process_takes_its_commands_along(caller: Caller) -> None:
    assert caller.call("runs").returncode == 0
    first = caller.wait_for_one()
    begun = caller.begin("ask", "-", "--dataset", "ecommerce")
    fork = fork_of(first)
    os.kill(first, signal.SIGKILL)
    until(lambda: not Path(f"/proc/{fork}").exists())
    _, complaint = begun.communicate(timeout=PATIENCE_S)
    assert begun.returncode == 1
    assert complaint == "The process that carried the command out was killed. Run the command again.\n"

    # The next command is carried out by itself, and starts another.
    assert caller.call("runs").returncode == 0
    until(lambda: caller.is_handed_over("runs"))
    second = caller.wait_for_one()
    assert second != first

    # Modules that have changed since are loaded by the next command; one under way goes on.
    under_way = caller.begin("ask", "-", "--dataset", "ecommerce")
    fork_of(second)
    (caller.modules / "sitecustomize.py").write_text("# newer\n")
    caller.environment["CI"] = "true"
    assert not caller.is_handed_over("runs")
    _, complaint = under_way.communicate(timeout=PATIENCE_S)
    assert (under_way.returncode, "the question is empty" in complaint) == (2, True)
    until(lambda: not Path(f"/proc/{second}").exists())


def test_a_command_with_other_limits_is_carried_out_by_itself(served: Caller) -> None:
    def fewer() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))

    waiting = served.wait_for_one()
    served_before = forks_so_far(waiting)
    assert served.call("runs", preexec_fn=fewer, env={**served.environment, "CI": "1"}).returncode == 0
    assert forks_so_far(waiting) == served_before


@pytest.mark.parametrize("switched_off", [{"SANDTABLE_PREFORK_S": "0"}, {"CI": "true"}])
def test_none_is_started_where_it_is_not_wanted(caller: Caller, switched_off: dict[str, str]) -> None:
    caller.environment |= switched_off
    assert caller.call("runs").returncode == 0
    assert not meeting.is_there(caller.name)


def test_it_ends_when_no_command_comes(caller: Caller) -> None:
    caller.environment["SANDTABLE_PREFORK_S"] = "1"
    assert caller.call("runs").returncode == 0
    name = caller.name
    until(lambda: not meeting.is_there(name))
    assert not (meeting.folder() / name).exists()


def test_a_wrong_setting_is_reported(caller: Caller) -> None:
    caller.environment["SANDTABLE_PREFORK_S"] = "soon"
    done = caller.call("runs")
    assert done.returncode == 2
    assert "prefork_s" in done.stderr


def test_a_terminal_is_a_terminal(served: Caller) -> None:
    """Not only the fork's: it is asked for its size, and colours are used."""
    served.environment |= {"TERM": "xterm-256color", "COLUMNS": "90"}
    shown = []
    for seconds in ("600", "0"):
        outer, inner = pty.openpty()
        code = f"import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n{PROGRAM}"
        begun = subprocess.Popen(
            [sys.executable, "-c", code, "datasets"],
            env={**served.environment, "SANDTABLE_PREFORK_S": seconds, "CI": "1"}, cwd=served.folder,
            stdin=inner, stdout=inner, stderr=inner, start_new_session=True,
        )  # fmt: skip
        os.close(inner)
        shown.append(_all_of(outer))
        assert begun.wait(PATIENCE_S) == 0
    assert b"\x1b[" in shown[0]
    assert shown[0] == shown[1]


_CLAIMS = """
import os, sys
from sandtable.cli.prefork import client, meeting
from sandtable_runner import kernel, landlock
sys.argv = ["sandtable", "runs"]
meeting.circumstances = lambda: NAME
RESTRICT
try:
    met = bool(client._met())
except PermissionError:
    met = False
print(met, client.carried_out())
"""
_WITHIN_LANDLOCK = """
whole = os.open("/", os.O_PATH)
if os.geteuid():
    kernel.no_new_privileges()
landlock.restrict(landlock.abi(), [whole], [whole])
"""
"""It may read and write every file, and connect. A fork would not be within its Landlock."""


@pytest.mark.needs("landlock")
@pytest.mark.parametrize(
    ("restrict", "outcome"),
    [("pass", "True 0"), ("os.nice(1)", "True None"), (_WITHIN_LANDLOCK, "False None")],
    ids=["none", "priority", "landlock"],
)
def test_the_kernel_is_asked_what_a_caller_may_do(served: Caller, restrict: str, outcome: str) -> None:
    """Not the caller, who may claim other circumstances than its own."""
    code = _CLAIMS.replace("NAME", repr(served.name)).replace("RESTRICT", restrict)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=served.environment, cwd=served.folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout.splitlines()[-1:], done.stderr) == ([outcome], "")


def test_a_caller_without_the_proof_gets_nothing(served: Caller) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.connect(str(meeting.folder() / served.name))
        body = json.dumps({"arguments": ["sandtable", "key"], "environment": {}, "umask": 0o77}).encode()
        guessed = b"\0" * meeting.PROOF_BYTES
        nowhere = os.open(os.devnull, os.O_RDWR)
        socket.send_fds(caller, [guessed + len(body).to_bytes(4) + body], [nowhere] * 4)
        os.close(nowhere)
        status = caller.recv(4)
    assert os.waitstatus_to_exitcode(int.from_bytes(status)) == 1


def test_only_a_folder_of_ones_own_is_used(tmp_path: Path) -> None:
    mine, open_to_all, link = tmp_path / "mine", tmp_path / "open", tmp_path / "link"
    mine.mkdir(mode=0o700)
    open_to_all.mkdir()
    open_to_all.chmod(0o755)
    link.symlink_to(mine)
    assert meeting.is_private(mine)
    assert not meeting.is_private(open_to_all)
    assert not meeting.is_private(link)
    assert not meeting.is_private(tmp_path / "none")


def test_a_caller_that_says_nothing_keeps_nobody_from_being_served(served: Caller) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.connect(str(meeting.folder() / served.name))
        assert served.is_handed_over("runs")


def test_many_at_once(served: Caller) -> None:
    found: list[Done] = []
    threads = [threading.Thread(target=lambda: found.append(served.call("key"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({(each.returncode, each.stdout, each.stderr) for each in found}) == 1
    assert len(found) == 8


def _all_of(terminal: int) -> bytes:
    shown = b""
    while select.select([terminal], [], [], PATIENCE_S)[0]:
        try:
            block = os.read(terminal, 65536)
        except OSError:  # The other end is closed.
            break
        if not block:
            break
        shown += block
    os.close(terminal)
    return shown
