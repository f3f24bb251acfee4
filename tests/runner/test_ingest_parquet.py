"""Parquet files of strangers: copied with every value intact, or refused; never a surprise at query time."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import pytest

from sandtable.errors import ErrorCode
from tests.runner.ingesting import Ingested, Intake

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("parquet") / "good.parquet"
    query = "SELECT x AS id, 'name ' || x AS name, x * 1.5 AS amount FROM range(20000) AS t(x)"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 4096)")
    return path.read_bytes()


async def _intake(intake: Intake, content: bytes) -> Ingested:
    return await intake(content, name="orders.parquet", kind="parquet")


def _refused(ingested: Ingested) -> str:
    error = ingested.result.error
    assert error is not None
    assert error.code == ErrorCode.VALIDATION_ERROR, error
    assert error.suggestion
    assert "schema" not in error.suggestion, "that is advice for queries"
    assert "orders.parquet" in error.message
    return error.message


async def test_values_are_kept(intake: Intake, good: bytes) -> None:
    ingested = await _intake(intake, good)
    assert ingested.table["rows"] == 20000
    assert ingested.rows[12345] == (12345, "name 12345", 18517.5)


_MAIMED = {
    "empty": lambda data: b"",
    "four bytes": lambda data: b"PAR1",
    "the head only": lambda data: data[:1000],
    "cut at the end": lambda data: data[:-1],
    "cut in the footer": lambda data: data[:-200],
    "the end only": lambda data: b"PAR1" + data[-3000:],
    "a CSV file": lambda data: b"id,name\n1,a\n",
    "zeros for a footer": lambda data: data[:-500] + bytes(492) + data[-8:],
    "an absurd footer length": lambda data: data[:-8] + b"\xff\xff\xff\x7f" + b"PAR1",
    "encrypted mark": lambda data: b"PARE" + data[4:-4] + b"PARE",
    "zeros for data": lambda data: data[:4] + bytes(20_000) + data[20_004:],
}


@pytest.mark.parametrize("maim", _MAIMED.values(), ids=list(_MAIMED))
async def test_a_damaged_file_is_refused(intake: Intake, good: bytes, maim) -> None:
    _refused(await _intake(intake, maim(good)))


async def test_flipped_bytes_are_refused_or_harmless(intake: Intake, good: bytes) -> None:
    """Whatever one byte does, the answer is a refusal or a file that can be read to its end."""
    dice = random.Random(7)
    for _ in range(12):
        data = bytearray(good)
        data[dice.randrange(4, len(data) - 8)] ^= 1 << dice.randrange(8)
        ingested = await _intake(intake, bytes(data))
        if ingested.result.status == "succeeded":
            assert len(ingested.rows) == ingested.table["rows"]
        else:
            _refused(ingested)


def _written(tmp_path: Path, query: str) -> bytes:
    path = tmp_path / "made.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return path.read_bytes()


async def test_nested_types(intake: Intake, tmp_path: Path) -> None:
    query = "SELECT [1, 2] AS numbers, {'a': 1, 'b': ['x']} AS thing, MAP {'k': 1} AS pairs, NULL::INTEGER AS none"
    ingested = await _intake(intake, _written(tmp_path, query))
    assert ingested.result.status == "succeeded", ingested.result.error
    assert ingested.rows == [([1, 2], {"a": 1, "b": ["x"]}, {"k": 1}, None)]


async def test_no_rows(intake: Intake, tmp_path: Path) -> None:
    ingested = await _intake(intake, _written(tmp_path, "SELECT 1 AS id, 'x' AS name LIMIT 0"))
    assert ingested.table["rows"] == 0
    assert [name for name, _ in ingested.columns] == ["id", "name"]


async def test_names_that_differ_only_in_case(intake: Intake, tmp_path: Path) -> None:
    """SQL cannot tell them apart: refused by name, as in a CSV file."""
    data = _written(tmp_path, "SELECT 1 AS id, 2 AS xd").replace(b"xd", b"ID")
    assert "ID" in _refused(await _intake(intake, data))


async def test_the_same_name_twice(intake: Intake, tmp_path: Path) -> None:
    data = _written(tmp_path, "SELECT 1 AS id, 2 AS xd").replace(b"xd", b"id")
    assert "id" in _refused(await _intake(intake, data))


async def test_strange_names(intake: Intake, tmp_path: Path) -> None:
    query = """SELECT 1 AS "select", 2 AS "quo""te", 3 AS "größe", 4 AS "a b", 5 AS "x;--" """
    ingested = await _intake(intake, _written(tmp_path, query))
    assert [name for name, _ in ingested.columns] == ["select", 'quo"te', "größe", "a b", "x;--"]
