"""Every awkward file through a real sandbox: its types, its rows, what is asked back, why it is refused."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pytest
import pytest_asyncio

from sandtable.catalog.convert import ConvertedTable, ConvertRequest, ConvertResult
from sandtable.catalog.reading.filenames import source_format
from sandtable.catalog.recipe import ColumnReading
from sandtable.errors import InvalidInput
from sandtable.sandbox.convert import SandboxedConvert
from sandtable.sandbox.local.executor import LocalExecutor
from tests.intake.awkward import cases
from tests.intake.awkward.case import Case
from tests.sandbox.stores import make_store

CASES = {case.file: case for case in cases()}
TABLE = "data"


@dataclass(frozen=True)
class Reader:
    convert: SandboxedConvert
    root: Path
    numbers: count[int]

    async def __call__(
        self, case: Case, answers: dict[str, str] | None = None, repairs: tuple[str, ...] = ()
    ) -> tuple[ConvertResult, Path]:
        name = f"awkward{next(self.numbers)}"
        incoming, staging = self.root / "incoming" / name, self.root / "staging" / name
        incoming.mkdir()
        staging.mkdir()
        staging.chmod(0o777)
        (incoming / case.file).write_bytes(case.content)
        request = ConvertRequest(
            table=TABLE,
            source=f"incoming/{name}/{case.file}",
            format=source_format(Path(case.file)),
            columns=None,
            staging=f"staging/{name}",
            answers=answers or {},
            repairs=repairs,
        )
        return await self.convert(request), staging


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reader(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Reader]:
    store = make_store(tmp_path_factory.mktemp("store"))
    executor = LocalExecutor(store.root, isolation="auto")
    yield Reader(SandboxedConvert(executor, threads=1), store.root, count())
    await executor.aclose()


def test_there_are_at_least_80() -> None:
    assert len(CASES) == len(cases()) >= 80


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.needs("userns")
@pytest.mark.parametrize("name", CASES)
async def test_what_becomes_of_it(name: str, reader: Reader) -> None:
    case = CASES[name]
    repairs: tuple[str, ...] = ()
    if case.refused:
        with pytest.raises(InvalidInput) as refused:
            await reader(case)
        assert case.refused in refused.value.message
        assert refused.value.suggestion
        if not case.repair:
            return
        offered = [repair["id"] for repair in refused.value.details["repairs"]]
        assert case.repair in offered
        repairs = (case.repair,)
    if case.asked:
        asked, _ = await reader(case, repairs=repairs)
        assert [question.id.rpartition(".")[2] for question in asked.questions] == list(case.asked)
        assert all(table.output is None for table in asked.tables)
    answers = {f"{TABLE}.{column}": answer for column, answer in case.answers.items()}
    found, staging = await reader(case, answers, repairs)
    assert not found.questions
    if case.tables:
        assert {table.table.removeprefix(f"{TABLE}_"): table.rows for table in found.tables} == case.tables
        return
    (table,) = found.tables
    assert table.recipe is not None
    types = {column.name: _type(column) for column in table.recipe.columns}
    assert {column: types.get(column) for column in case.columns} == case.columns
    assert len(types) == len(case.columns) or len(types) > 100
    assert table.rows == case.rows
    assert table.misfit_counts == case.misfits
    _check_cells(case, table, staging)


def _type(column: ColumnReading) -> str:
    return f"{column.read_as} {column.unit}".rstrip()


def _check_cells(case: Case, table: ConvertedTable, staging: Path) -> None:
    assert table.output is not None
    with duckdb.connect() as connection:
        for column, expected in case.cells.items():
            query = f'SELECT "{column}" FROM read_parquet(?) LIMIT {len(expected)}'
            rows = connection.execute(query, [str(staging / table.output)]).fetchall()
            assert [_plain(row[0]) for row in rows] == list(expected)


def _plain(value: Any) -> Any:
    """Dates, moments and exact numbers as the texts that the corpus has."""
    if isinstance(value, dt.date | dt.time) or type(value).__name__ == "Decimal":
        return str(value)
    return value
