"""A sandbox that was taken over can say anything about a dataset. It becomes a profile only if it could be true."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.catalog.profile import MOST_VALUES, Bin, ValueCount
from sandtable.catalog.stored.integrity import OpenData, Whole
from sandtable.errors import ErrorCode, RunnerBroken
from sandtable.sandbox.fake import FakeExecutor, Script
from sandtable.sandbox.job import JobError
from sandtable.sandbox.profile import profile_of

_COLUMNS = (
    Column(name="region", type=ColumnType.TEXT, sql_type="VARCHAR"),
    Column(name="amount", type=ColumnType.INTEGER, sql_type="INTEGER"),
)
_TABLE = Table(name="orders", file="orders.csv", sha256="0" * 64, columns=_COLUMNS, rows=4)
_DATASET = Dataset(id="shop", tables=(_TABLE,), version=f"sha256:{'a' * 64}")
_DATA = OpenData(_DATASET, Whole(_DATASET.version))

_REGION: dict[str, Any] = {
    "name": "region", "nulls": 1, "distinct": 2, "minimum": "east", "maximum": "west",
    "values": [["west", 2], ["east", 1]], "complete": True, "edges": [], "counts": [],
}  # fmt: skip
_AMOUNT: dict[str, Any] = {
    "name": "amount", "nulls": 0, "distinct": 4, "minimum": 1, "maximum": 9,
    "values": [[1, 1], [2, 1], [8, 1], [9, 1]], "complete": True, "edges": [1.0, 5.0, 9.0], "counts": [2, 2],
}  # fmt: skip
_ANSWER: dict[str, Any] = {"tables": [{"name": "orders", "rows": 4, "columns": [_REGION, _AMOUNT]}]}


async def test_a_true_answer_becomes_a_profile() -> None:
    executor = FakeExecutor(Script(rows=(), output=_ANSWER))
    profile = await profile_of(executor, _DATA, threads=8)
    assert profile.version == _DATASET.version
    table = profile.table("ORDERS")
    assert table is not None and table.rows == 4
    region, amount = table.columns
    assert region.values == (ValueCount(value="west", count=2), ValueCount(value="east", count=1))
    assert amount.histogram == (Bin(low=1, high=5, count=2), Bin(low=5, high=9, count=2))
    (job,) = executor.jobs
    assert (job.mode, job.dataset_version, job.threads) == ("profile", _DATASET.version, 1)
    assert [(ref.table, ref.path) for ref in job.data] == [("orders", "orders.parquet")]


def _changed(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    answer = deepcopy(_ANSWER)
    place: Any = answer
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return answer


_T = ("tables", 0)
_R = (*_T, "columns", 0)
_A = (*_T, "columns", 1)
_LIES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "no tables": {"tables": []},
    "tables that are text": {"tables": "all"},
    "an unknown field": {**_ANSWER, "admin": True},
    "another table": _changed((*_T, "name"), "users"),
    "rows below none": _changed((*_T, "rows"), -1),
    "rows as text": _changed((*_T, "rows"), "4"),
    "rows that are true": _changed((*_T, "rows"), True),
    "another column": _changed((*_R, "name"), "password"),
    "a column too few": _changed((*_T, "columns"), [_REGION]),
    "columns in another order": _changed((*_T, "columns"), [_AMOUNT, _REGION]),
    "more empty cells than rows": _changed((*_R, "nulls"), 99),
    "empty cells below none": _changed((*_R, "nulls"), -1),
    "a count of none": _changed((*_R, "values"), [["west", 0]]),
    "a count with a fraction": _changed((*_R, "values"), [["west", 1.5]]),
    "more than there are rows": _changed((*_R, "values"), [["west", 3], ["east", 1]]),
    "the rare ones first": _changed((*_R, "values"), [["east", 1], ["west", 2]]),
    "a value twice": _changed((*_R, "values"), [["west", 1], ["west", 1]]),
    "an empty cell as a value": _changed((*_R, "values"), [[None, 2], ["east", 1]]),
    "a list as a value": _changed((*_R, "values"), [[["west"], 2], ["east", 1]]),
    "an object as a value": _changed((*_R, "values"), [[{"a": 1}, 2], ["east", 1]]),
    "a value of three parts": _changed((*_R, "values"), [["west", 2, 2]]),
    "a value too long": _changed((*_R, "values"), [["w" * 2000, 2], ["east", 1]]),
    "an end too long": _changed((*_R, "maximum"), "w" * 2000),
    "all values, but one is missing": _changed((*_R, "values"), [["west", 2]]),
    "all values of another number": _changed((*_R, "distinct"), 3),
    "more values than agreed": _changed((*_R, "values"), [[n, 1] for n in range(MOST_VALUES + 1)]),
    "complete as text": _changed((*_R, "complete"), "true"),
    "an edge too few": _changed((*_A, "edges"), [1.0, 9.0]),
    "edges that fall": _changed((*_A, "edges"), [9.0, 5.0, 1.0]),
    "an endless edge": _changed((*_A, "edges"), [1.0, 5.0, float("inf")]),
    "an edge that is none": _changed((*_A, "edges"), [1.0, float("nan"), 9.0]),
    "edges without counts": _changed((*_A, "counts"), []),
    "a bin below none": _changed((*_A, "counts"), [2, -2]),
    "bins that hold too much": _changed((*_A, "counts"), [2, 3]),
}


@pytest.mark.parametrize("answer", _LIES.values(), ids=list(_LIES))
async def test_a_lie_is_not_believed(answer: dict[str, Any]) -> None:
    with pytest.raises(RunnerBroken, match="invalid profile for") as caught:
        await profile_of(FakeExecutor(Script(rows=(), output=answer)), _DATA)
    assert len(caught.value.message) < 300
    assert caught.value.suggestion


async def test_a_failed_job_says_why() -> None:
    error = JobError(code=ErrorCode.RUNNER_TIMEOUT, type="Timeout", message="stopped after 300 s")
    with pytest.raises(RunnerBroken, match=r"shop.*stopped after 300 s"):
        await profile_of(FakeExecutor(Script(error=error)), _DATA)


async def test_large_data_gets_its_threads() -> None:
    executor = FakeExecutor(Script(rows=(), output=_ANSWER))
    large = _DATASET.model_copy(update={"tables": (_TABLE.model_copy(update={"rows": 10_000_000}),)})
    await profile_of(executor, OpenData(large, _DATA.whole), threads=8)
    assert executor.jobs[0].threads == 8
