"""Which server goes on with an import: its owner while that lives, and one other when it is dead."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandtable.imports.model import Import, ImportOrder, ImportRecord
from sandtable.imports.records import ImportRecords

AT = "2024-05-01T10:00:00.000+00:00"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def server(root: Path) -> ImportRecords:
    made = ImportRecords(root)
    made.sign_on()
    return made


def reads(records: ImportRecords, number: int, owner: str | None = None, state: str = "reading") -> str:
    shown = Import.model_validate({"id": f"imp_{number:032}", "created_at": AT, "state": state})
    owned = records.owner if owner is None else owner
    records.write(ImportRecord(shown=shown, order=ImportOrder(user="ann"), changed_at=1.0, owner=owned))
    return shown.id


def test_a_living_servers_imports_stay_with_it(root: Path) -> None:
    one, other = server(root), server(root)
    reads(one, 1)
    assert other.adopt() == [] and one.adopt() == []


def test_one_server_adopts_the_imports_of_one_that_ended(root: Path) -> None:
    one, other, third = server(root), server(root), server(root)
    reads(one, 2)
    first = reads(one, 1)
    reads(one, 3, state="ready")
    reads(third, 4)
    one.sign_off()
    adopted = other.adopt()
    assert [(record.shown.id, record.owner) for record in adopted] == [
        (first, other.owner), (f"imp_{2:032}", other.owner)
    ]  # fmt: skip
    assert other.read(first).owner == other.owner
    assert third.adopt() == [] and other.adopt() == []


def test_a_killed_servers_imports_are_adopted(root: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path; from sandtable.imports.records import ImportRecords;"
        "made = ImportRecords(Path(sys.argv[1])); made.sign_on(); print(made.owner, flush=True);"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(root)], capture_output=True, text=True)
    here = server(root)
    found = reads(here, 1, owner=done.stdout.strip())
    assert [record.shown.id for record in here.adopt()] == [found]


def test_records_without_an_owner_are_adopted_when_no_server_of_an_earlier_version_lives(root: Path) -> None:
    here = server(root)
    found = reads(here, 1, owner="")
    # A server of an earlier version holds this lock for as long as it lives.
    fd = os.open(root / "imports" / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX)
    assert here.adopt() == []
    os.close(fd)
    assert [record.shown.id for record in here.adopt()] == [found]
