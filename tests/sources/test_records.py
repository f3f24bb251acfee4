from __future__ import annotations

import json
from pathlib import Path

import pytest

from sandtable.errors import ErrorCode, InvalidInput, NotFound, RunnerBroken
from sandtable.sandbox.live.worker import WorkerFailed
from sandtable.sources import troubles
from sandtable.sources.address import read_address
from sandtable.sources.records import Source, SourceRecords, source_of

ADDRESS = read_address("postgresql://r:hidden@db.example.org/shop")
GIVEN = {"only_schema": "", "password_env": "", "allowed_writer": ""}


def test_a_record_and_its_password_are_for_their_owner_alone(tmp_path: Path) -> None:
    records = SourceRecords(tmp_path)
    assert records.list() == ()
    source = source_of(ADDRESS, "shop", **GIVEN)
    records.write(source, "hidden")
    assert records.list() == (source,)
    assert records.password(source) == "hidden"
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "sources").iterdir()}
    assert modes == {"shop.json": 0o600, "shop.password": 0o600}
    assert "hidden" not in (tmp_path / "sources" / "shop.json").read_text() + repr(source)
    # Without a password, the earlier one goes.
    records.write(source, None)
    assert records.password(source) is None
    assert records.remove("shop") == source
    with pytest.raises(NotFound):
        records.get("shop")


def test_a_record_of_a_version_without_kinds_is_a_postgresql(tmp_path: Path) -> None:
    records = SourceRecords(tmp_path)
    records.write(source_of(ADDRESS, "shop", **GIVEN), None)
    path = tmp_path / "sources" / "shop.json"
    described = json.loads(path.read_text())
    assert (described["format"], described.pop("kind")) == (1, "postgresql")
    path.write_text(json.dumps(described))
    assert records.get("shop").kind == "postgresql"
    assert records.get("shop").place == "shop on db.example.org"


def test_the_schema_of_a_mysql_is_its_database() -> None:
    address = read_address("mysql://r@db.example.org/shop")
    source = source_of(address, "shop", **GIVEN)
    assert (source.kind, source.only_schema, source.place) == ("mysql", "shop", "shop on db.example.org")
    assert source_of(address, "shop", **{**GIVEN, "only_schema": "other"}).only_schema == "other"


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 129])
def test_a_name_is_never_a_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput):
        source_of(ADDRESS, name, **GIVEN)
    with pytest.raises(NotFound):
        SourceRecords(tmp_path).get(name)


def test_a_record_that_cannot_be_read_is_said_so(tmp_path: Path) -> None:
    records = SourceRecords(tmp_path)
    records.write(source_of(ADDRESS, "shop", **GIVEN), None)
    (tmp_path / "sources" / "shop.json").write_text("{")
    with pytest.raises(RunnerBroken, match="cannot be read"):
        records.get("shop")


def test_there_is_one_place_for_a_password() -> None:
    with pytest.raises(InvalidInput, match="another place"):
        source_of(ADDRESS, "shop", **{**GIVEN, "password_env": "X"})
    with pytest.raises(InvalidInput, match="cannot be the name"):
        source_of(ADDRESS, "shop", **{**GIVEN, "password_env": "X=1"})


def _source() -> Source:
    return source_of(ADDRESS, "shop", **GIVEN)


@pytest.mark.parametrize(
    ("failed", "code", "words"),
    [
        (
            WorkerFailed("database", "permission denied for table t", "42501"),
            "VALIDATION_ERROR",
            "may not read",
        ),
        (WorkerFailed("database", "x", "57014"), "RUNNER_TIMEOUT", "took longer"),
        (WorkerFailed("memory", "", ""), "RUNNER_RESOURCE_EXCEEDED", "ran out of memory"),
        (WorkerFailed("driver", "odd", ""), "RUNNER_INTERNAL_ERROR", "driver"),
        (WorkerFailed("invented by a worker", "\x1b[2J`", "x"), "RUNNER_INTERNAL_ERROR", "driver"),
    ],
)
def test_what_a_worker_reports_is_an_error_for_people(failed: WorkerFailed, code: str, words: str) -> None:
    error = troubles.told(_source(), failed, "copying a.t", "", None)
    assert (error.code, words in error.message) == (ErrorCode(code), True), error.message
    assert "\x1b" not in error.message


@pytest.mark.parametrize(
    ("failed", "code", "words"),
    [
        (WorkerFailed("database", "SELECT command denied", "1142"), "VALIDATION_ERROR", "may not read"),
        (WorkerFailed("database", "x", "1969"), "RUNNER_TIMEOUT", "took longer"),
        (WorkerFailed("database", "x", "3024"), "RUNNER_TIMEOUT", "took longer"),
        (WorkerFailed("database", "x", "57014"), "VALIDATION_ERROR", "(error 57014)"),
        (WorkerFailed("nul", "\x1b[2J`", ""), "VALIDATION_ERROR", "NUL character"),
    ],
)
def test_what_a_worker_of_mysql_reports_is_in_its_words(failed: WorkerFailed, code: str, words: str) -> None:
    source = source_of(read_address("mysql://r:hidden@db.example.org/shop"), "shop", **GIVEN)
    error = troubles.told(source, failed, "copying a.t", "", None)
    assert (error.code, words in error.message) == (ErrorCode(code), True), error.message
    assert "\x1b" not in error.message


def test_a_text_with_the_password_is_not_shown() -> None:
    failed = WorkerFailed("connection", "no pg_hba entry for password hidden", "")
    error = troubles.told(_source(), failed, "connecting", "", "hidden")
    assert "hidden" not in error.message
    assert "(not shown)" in error.message
