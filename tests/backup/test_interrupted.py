"""A backup or a restore that is killed, interrupted or out of space leaves nothing that looks complete."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.backup.conftest import MAIN, command, invoke, take_from

LARGE = 1 << 30
"""A file with a hole: it takes seconds to copy, and no space in the home."""


@pytest.fixture
def large(home: Path) -> Path:
    with (home / "data/sources/cc").open("wb") as file:
        file.truncate(LARGE)
    return home


def begun(home: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "SANDTABLE_HOME": str(home)}
    return subprocess.Popen([*MAIN, *arguments], env=environment, text=True, stderr=subprocess.PIPE)


def wait_for_bytes(folder: Path) -> None:
    give_up = time.monotonic() + 30
    while sum(path.stat().st_size for path in folder.glob(".*.partial/**/backup*")) < (1 << 20):
        assert time.monotonic() < give_up
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("number", "code", "left"),
    [(signal.SIGKILL, -9, 1), (signal.SIGTERM, 143, 0), (signal.SIGINT, 130, 0)],
    ids=["SIGKILL", "SIGTERM", "Ctrl-C"],
)
def test_nothing_that_looks_complete_is_left(
    large: Path, tmp_path: Path, number: signal.Signals, code: int, left: int
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with begun(large, "backup", str(out / "copy.tar")) as process:
        wait_for_bytes(out)
        process.send_signal(number)
        assert process.wait(30) == code
    assert not (out / "copy.tar").exists() and len(list(out.iterdir())) == left
    for partial in out.glob(".*.partial/backup"):
        done = invoke("restore", str(partial), "--home", str(tmp_path / "new"))
        assert done.exit_code == 2 and "it ends too early" in done.stderr
        assert not (tmp_path / "new").exists()


@pytest.mark.needs("userns")
def test_a_full_disk_is_an_error_and_leaves_nothing(home: Path, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    script = f'mount -t tmpfs -o size=100k none {small} && "$@"; code=$?; ls -A {small}; exit $code'
    done = command(
        home, "backup", str(small / "copy.tar"), before=("unshare", "-rm", "sh", "-c", script, "sh")
    )
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert "no space is left in" in done.stderr and "Free space" in done.stderr


@pytest.mark.needs("userns")
def test_a_restore_without_space_leaves_nothing(home: Path, tmp_path: Path) -> None:
    take_from(home, tmp_path / "copy.tar")
    small = tmp_path / "small"
    small.mkdir()
    script = f'mount -t tmpfs -o size=100k none {small} && "$@"; code=$?; ls -A {small}; exit $code'
    done = command(
        home, "restore", str(tmp_path / "copy.tar"), "--home", str(small / "new"),
        before=("unshare", "-rm", "sh", "-c", script, "sh"),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert "no space is left in" in done.stderr


def test_nothing_is_overwritten(home: Path, tmp_path: Path) -> None:
    (tmp_path / "copy.tar").write_text("mine")
    (tmp_path / "copy").mkdir()
    for target in ("copy.tar", "copy"):
        done = invoke("backup", str(tmp_path / target))
        assert done.exit_code == 2 and "is there already" in done.stderr
    assert (tmp_path / "copy.tar").read_text() == "mine" and not list(tmp_path.glob(".copy*"))
    inside = invoke("backup", str(home / "copy"))
    assert inside.exit_code == 2 and "in the home itself" in inside.stderr
    assert invoke("backup", str(tmp_path / "good.tar")).exit_code == 0
    again = invoke("restore", str(tmp_path / "good.tar"))
    assert again.exit_code == 2 and "is not empty" in again.stderr
