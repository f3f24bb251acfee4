"""A server whose runs are executed by a service: asked over REST, and every capsule verifies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.sandbox.remote.process import OTHER_TOKEN, TOKEN, Execd

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = (sys.executable, "-c", "from sandtable.cli import main; main(prog_name='sandtable')")

pytestmark = pytest.mark.needs("userns")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("served")
    (home / "data").mkdir()
    return home


@pytest.fixture(scope="module")
def service(home: Path) -> Iterator[Execd]:
    execd = Execd(home / "data").start()
    yield execd
    execd.close()


def _serve(home: Path, url: str, token: str = TOKEN) -> subprocess.Popen[str]:
    settings = {
        "SANDTABLE_HOME": str(home), "SANDTABLE_WEB": str(home / "not-built"), "SANDTABLE_BACKEND": "remote",
        "SANDTABLE_EXECD_URL": url, "SANDTABLE_EXECD_TOKEN": token,
    }  # fmt: skip
    return subprocess.Popen(
        [*PROGRAM, "serve", "--port", "0", "--json"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **settings},
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip


def test_runs_are_executed_there(home: Path, service: Execd) -> None:
    with _serve(home, service.url) as server:
        try:
            assert server.stdout
            url = json.loads(server.stdout.readline())["url"]
            with httpx.Client(base_url=url, timeout=60) as client:
                body = {"dataset_id": "sensors", "sql": "SELECT count(*) AS n FROM readings"}
                run = client.post("/runs", params={"wait": 30}, json=body).json()
                assert (run["status"], run["rows"]) == ("succeeded", [[34785]]), run
                assert client.post(f"/runs/{run['run_id']}/verify").json()["ok"]
                capsule = json.dumps(client.get(f"/runs/{run['run_id']}/capsule").json())
            # What was asked and what was derived again: two jobs there.
            done = [line for line in service.lines() if line.get("path") == "/v1/jobs"]
            assert len(done) >= 2 and {line["status"] for line in done} == {200}
            assert TOKEN not in capsule
        finally:
            server.terminate()
            assert server.wait(30) == 0


def test_a_server_with_another_token_does_not_start(home: Path, service: Execd) -> None:
    with _serve(home, service.url, OTHER_TOKEN) as server:
        told, _ = server.communicate(timeout=60)
    assert server.returncode == 4
    problem = json.loads(told)["error"]
    assert problem["code"] == "SANDBOX_UNAVAILABLE"
    assert "could not prove that it holds our token" in problem["message"]
