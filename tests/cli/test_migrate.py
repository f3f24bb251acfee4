"""`sandtable migrate`: every table is there afterwards, however often it is run; an address that is wrong is told."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-c", "from sandtable.cli import main; main(prog_name='sandtable')")
TABLES = {"sandtable_runs", "sandtable_capsules", "sandtable_threads", "sandtable_checkpoints"}


def _migrate(home: Path, address: str = "") -> subprocess.CompletedProcess[str]:
    given = {"SANDTABLE_HOME": str(home), "SANDTABLE_DATABASE_URL": address}
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **given}
    command = [*PROGRAM, "migrate"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_in_the_home(tmp_path: Path) -> None:
    done = _migrate(tmp_path)
    assert (done.returncode, done.stdout) == (0, "The database (sqlite) is up to date.\n"), done.stderr


@pytest.mark.needs("postgres")
def test_in_postgres_as_often_as_one_likes(tmp_path: Path, postgres_url: str) -> None:
    for _ in range(2):
        done = _migrate(tmp_path, postgres_url)
        assert (done.returncode, done.stdout) == (0, "The database (postgres) is up to date.\n"), done.stderr
    with psycopg.connect(postgres_url) as connection:
        found = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
        ).fetchall()
    assert {name for (name,) in found} >= TABLES


@pytest.mark.needs("postgres")
def test_several_at_once_do_not_wait_for_each_other_for_ever(tmp_path: Path, postgres_url: str) -> None:
    """An index that one of them makes waits for every statement of the others."""
    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(lambda name: _migrate(tmp_path / name, postgres_url), "abcd"))
    assert [one.returncode for one in done] == [0] * 4, [one.stderr for one in done]


def test_a_database_that_is_not_there(tmp_path: Path) -> None:
    done = _migrate(tmp_path, "postgresql://somebody:secret-word@127.0.0.1:1/nothing")
    assert done.returncode == 1
    assert "cannot be used" in done.stderr and "SANDTABLE_DATABASE_URL" in done.stderr
    assert "secret-word" not in done.stderr
