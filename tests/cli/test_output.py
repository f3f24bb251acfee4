"""`sandtable run --output`: the rows go to a file."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sandtable.sandbox.fake import Script
from tests.cli.conftest import Invoke
from tests.server.house import House

PARQUET = b"PAR1" + bytes(8) + b"PAR1"
RUN = ("run", "--dataset", "shop", "--sql", "SELECT 1")


def test_rows_are_written_and_not_shown(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    done = invoke(*RUN, "--output", str(file))
    assert (done.exit_code, done.stdout) == (0, "")
    assert "wrote 1 rows to" in done.stderr
    assert file.read_bytes() == b"answer\r\n42\r\n"


def test_the_ending_chooses_the_format(
    invoke: Invoke, tmp_path: Path, prepare: list[Callable[[House], None]]
) -> None:
    answer = Script(columns=(), rows=(), output={"parquet": base64.b64encode(PARQUET).decode()})
    prepare.append(lambda house: house.executor.on("", answer))
    for name in ("rows.JSON", "rows.parquet"):
        assert invoke(*RUN, "--output", str(tmp_path / name)).exit_code == 0
    assert json.loads((tmp_path / "rows.JSON").read_text())["rows"] == [[42]]
    assert (tmp_path / "rows.parquet").read_bytes() == PARQUET


@pytest.mark.parametrize(
    "arguments",
    [("--output", "rows.xlsx"), ("--output", "rows"), ("--output", "rows.csv", "--dry-run")],
    ids=["xlsx", "no ending", "dry run"],
)
def test_what_cannot_be_written_is_said_before_anything_runs(
    invoke: Invoke, arguments: tuple[str, ...]
) -> None:
    done = invoke(*RUN, *arguments)
    assert done.exit_code == 2 and "--output" in done.stderr


def test_a_folder_that_is_not_there_is_an_error(invoke: Invoke, tmp_path: Path) -> None:
    done = invoke(*RUN, "--output", str(tmp_path / "nowhere" / "rows.csv"))
    assert done.exit_code == 2 and "cannot write" in done.stderr


def test_a_refused_run_writes_nothing(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    done = invoke("run", "--dataset", "shop", "--sql", "SELECT read_csv", "--output", str(file))
    assert done.exit_code == 3 and not file.exists()
