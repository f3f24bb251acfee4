"""A small home with everything that a backup has an opinion about."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sandtable.backup.taking import Taken, take, workspace
from sandtable.capsule.keys import open_signing_key
from sandtable.cli import main
from tests.earlier import earlier_home
from tests.own_logs import own_logs

MAIN = (sys.executable, "-c", "from sandtable.cli import main; main()")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    earlier_home(home)
    open_signing_key(home)
    written = {
        "data/versions/aa/dataset.json": b"{}",
        "data/versions/aa/t.parquet": b"PAR1",
        "data/versions/bait/bait.parquet": b"PAR1",
        "data/datasets/t.json": b'{"id": "t"}',
        "data/datasets/lock": b"",
        "data/catalogs/t.json": b"{}",
        "data/removals/bb.json": b"{}",
        "data/sources/cc": b"a,b\n1,2\n",
        "data/sources/.4711": b"on its way in",
        "data/uploads/dd/part": b"on its way in",
        "data/incoming/ee/t.csv": b"on its way in",
        "attestations/aa": b"code",
        "keys/other.pem": b"-----BEGIN PRIVATE KEY-----",
        "instances/0.lock": b"",
        "retention.lock": b"",
    }
    monkeypatch.setenv("SANDTABLE_HOME", str(home))
    for name, content in written.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(content)
    return home


def take_from(home: Path, target: Path, *, with_keys: bool = False) -> Taken:
    with workspace(target, "a backup") as folder:
        return take(home, target, folder, open_signing_key(home), with_keys=with_keys)


def invoke(*arguments: str) -> Result:
    """A command in this process, with the home of the settings."""
    with own_logs():
        return CliRunner().invoke(main, arguments, catch_exceptions=False)


def command(home: Path, *arguments: str, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SANDTABLE_HOME": str(home)}
    return subprocess.run(
        [*before, *MAIN, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
