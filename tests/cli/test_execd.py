"""`sandtable execd` as it is started: what it says, what it refuses, how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox.remote.process import TOKEN

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-c", "from sandtable.cli import main; main(prog_name='sandtable')")


def _start(in_folder: Path, *arguments: str, **settings: str) -> subprocess.Popen[str]:
    given = {"home": str(in_folder), "execd_token": TOKEN, **settings}
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    environment |= {f"SANDTABLE_{name.upper()}": value for name, value in given.items()}
    return subprocess.Popen(
        [*PROGRAM, "execd", *arguments],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.needs("userns")
def test_it_says_what_it_offers_and_ends_in_order(tmp_path: Path) -> None:
    with _start(tmp_path, "--port", "0") as process:
        assert process.stdout and process.stderr
        said = [process.stdout.readline() for _ in range(5)]
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        logs = [json.loads(line) for line in process.stderr.read().splitlines()]
    assert said[0].startswith("Sandtable executes jobs at http://localhost:")
    assert "duckdb" in said[1] and "sql, dry_run" in said[2] and "0 versions" in said[3]
    assert "seccomp" in said[4]
    assert "execd_stopping" in {line["event"] for line in logs}
    assert not [line for line in logs if line["level"] in ("error", "critical")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"], "no keys, no database"


@pytest.mark.parametrize(
    ("settings", "said", "advice"),
    [
        pytest.param({"execd_token": ""}, "needs a token", "openssl rand -hex 32", id="no token"),
        pytest.param({"execd_token": "hunter2"}, "too short", "SANDTABLE_EXECD_TOKEN", id="short token"),
        pytest.param({"backend": "remote"}, "not by `remote`", "SANDTABLE_BACKEND", id="backend"),
        pytest.param({"home": "/proc"}, "there are no data at /proc/data", "SANDTABLE_HOME", id="no data"),
    ],
)
def test_what_it_cannot_start_with(tmp_path: Path, settings: dict[str, str], said: str, advice: str) -> None:
    with _start(tmp_path, "--port", "0", **settings) as process:
        out, told = process.communicate(timeout=60)
    assert process.returncode == 2
    first, second = told.splitlines()
    assert first.startswith("error[VALIDATION_ERROR]:") and said in first
    assert advice in second
    assert out == "" and "hunter2" not in told


def test_a_port_in_use_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with _start(tmp_path, "--port", port, "--json") as process:
            out, told = process.communicate(timeout=60)
    assert process.returncode == 2
    problem = json.loads(out)["error"]
    assert f"cannot listen on 127.0.0.1:{port}" in problem["message"] and "--port" in problem["suggestion"]
    assert told == ""
