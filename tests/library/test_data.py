"""Whatever a caller hands over as `data` becomes tables, and nothing of it stays behind."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy
import pandas
import polars
import pytest

import sandtable
from sandtable import InvalidInput, NotFound
from sandtable.catalog.model import Dataset
from sandtable.library.bridge import wait_for
from sandtable.library.handover import Handover
from sandtable.library.open_parts import OPEN_PARTS

FRAME = pandas.DataFrame({"city": ["Bonn", "Cork", "Bonn"], "amount": [3, 5, 4]})


def _dataset(data: Any) -> Dataset:
    async def taken() -> Dataset:
        opened = await OPEN_PARTS.get()
        return await opened.handover.dataset(data, opened.parts.datasets)

    return wait_for(taken())


def _shape(dataset: Dataset) -> dict[str, tuple[tuple[str, ...], int | None]]:
    return {table.name: (tuple(c.name for c in table.columns), table.rows) for table in dataset.tables}


def _left(home: Path) -> list[Path]:
    return [path for path in (home / "handover").glob("*/*") if path.parent.name != "instances"]


PLAIN = (("city", "amount"), 3)


@pytest.mark.parametrize(
    ("given", "tables"),
    [
        (lambda sales: str(sales), {"sales": PLAIN}),
        (lambda sales: sales, {"sales": PLAIN}),
        (lambda sales: [sales], {"sales": PLAIN}),
        (lambda sales: {"orders": sales, "more": str(sales)}, {"orders": PLAIN, "more": PLAIN}),
        (lambda sales: FRAME, {"df": PLAIN}),
        (lambda sales: polars.DataFrame({"city": ["Bonn"], "amount": [1]}), {"df": (("city", "amount"), 1)}),
        (lambda sales: {"a": FRAME, "b": sales}, {"a": PLAIN, "b": PLAIN}),
        (lambda sales: FRAME[FRAME.amount > 3], {"df": (("city", "amount"), 2)}),
        (lambda sales: FRAME.set_index("city"), {"df": PLAIN}),
        (lambda sales: FRAME[["amount"]].T, {"df": (("index", "0", "1", "2"), 1)}),
        (lambda sales: FRAME.groupby("city").agg(["sum"]), {"df": (("city", "amount_sum"), 2)}),
        (lambda sales: FRAME.iloc[:0], {"df": (("city", "amount"), 0)}),
        (lambda sales: None, {"no_data": (("no_data",), 1)}),
    ],
    ids=[
        "text path",
        "path",
        "list",
        "dict of paths",
        "pandas",
        "polars",
        "dict of both",
        "filtered rows",
        "named index",
        "text index",
        "levels",
        "no rows",
        "nothing",
    ],
)
def test_data_becomes_tables(
    given: Callable[[Path], Any], tables: dict[str, Any], sales: Path, home: Path
) -> None:
    assert _shape(_dataset(given(sales))) == tables
    assert _left(home) == []


def test_types_survive() -> None:
    frame = pandas.DataFrame(
        {
            "i": [1, 2],
            "f": [0.5, None],
            "b": [True, False],
            "s": ["x", None],
            "t": pandas.to_datetime(["2024-01-01 00:00", "2024-01-02 10:00"]),
            "d": [datetime.date(2024, 1, 1), None],
            "c": pandas.Categorical(["u", "v"]),
        }
    )
    types = [column.sql_type for column in _dataset(frame).tables[0].columns]
    assert types[:6] == ["BIGINT", "DOUBLE", "BOOLEAN", "VARCHAR", "TIMESTAMP", "DATE"]


def test_a_builtin_dataset_is_known_by_its_id() -> None:
    assert _dataset("sensors").id == "sensors"


def test_a_file_does_not_hide_the_dataset_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "sensors.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    mine = _dataset(tmp_path / "sensors.csv")
    assert mine.id == "sensors_2"
    assert _dataset("sensors").version != mine.version
    assert _dataset(tmp_path / "sensors.csv") == mine


def test_the_same_frame_is_the_same_version() -> None:
    noted = FRAME.copy()
    noted.attrs = {"of": object()}
    assert _dataset(FRAME).version == _dataset(FRAME.copy()).version == _dataset(noted).version


def test_the_callers_frame_is_left_alone() -> None:
    frame = FRAME.set_axis([0, 1], axis=1)
    before = frame.copy()
    _dataset(frame)
    pandas.testing.assert_frame_equal(frame, before)


def test_without_pyarrow_it_goes_as_csv(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any, **__: Any) -> None:
        raise ImportError("no pyarrow")

    monkeypatch.setattr(pandas.DataFrame, "to_parquet", missing)
    assert _shape(_dataset({"unlike": FRAME})) == {"unlike": PLAIN}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (7, "`data` cannot be of type int"),
        ([FRAME], "`data` cannot be of type list"),
        ([1], "`data` cannot be of type list"),
        (FRAME["city"], "Series: call `.to_frame\\(\\)` first"),
        (polars.DataFrame({"a": [1]}).lazy(), "LazyFrame: call `.collect\\(\\)` first"),
        ({}, "empty dict"),
        ([], "no data file given"),
        ({"a b": FRAME}, "`a b` cannot be the name of a table"),
        ({"class": FRAME}, "`class` cannot be the name"),
        ({1: FRAME}, "`1` cannot be the name"),
        ({"a": [1]}, "the table `a` cannot be of type list"),
        ({"a": "x.docx"}, "extension that is not supported"),
        ("missing.csv", "no such file: missing.csv"),
        ({"a": "missing.csv"}, "no such file"),
        (pandas.DataFrame(), "has no columns"),
        (polars.DataFrame(), "has no columns"),
        (pandas.DataFrame({"m": [1, "x", {}]}), "cannot be written to a file"),
        (pandas.DataFrame(numpy.zeros((1, 2)), columns=["a", "a"]), "a"),
    ],
)
def test_what_cannot_be_data_is_told(data: Any, says: str, home: Path) -> None:
    with pytest.raises(InvalidInput, match=says):
        _dataset(data)
    assert _left(home) == []


def test_a_word_that_is_neither_file_nor_dataset() -> None:
    with pytest.raises(NotFound, match="`sensor`, which is neither a file nor a dataset") as caught:
        _dataset("sensor")
    assert caught.value.details["nearest"] == "sensors"


@contextmanager
def _opened(home: Path) -> Iterator[Path]:
    with Handover.open(home) as handover:
        yield handover._folder


def test_what_a_dead_process_left_is_swept(tmp_path: Path) -> None:
    left = tmp_path / "handover" / "0123456789abcdef"
    left.mkdir(parents=True)
    (left / "secret.parquet").touch()
    (tmp_path / "handover" / "instances").mkdir()
    (tmp_path / "handover" / "instances" / "0123456789abcdef.lock").touch()
    with _opened(tmp_path) as living:
        assert not left.exists()
        assert living.stat().st_mode & 0o777 == 0o700
        with _opened(tmp_path) as other:
            assert living.exists() and other.exists() and living != other
    assert [path.name for path in (tmp_path / "handover").iterdir()] == ["instances"]
    assert list((tmp_path / "handover" / "instances").iterdir()) == []


_KILLED = """
import os, signal, sys
from pathlib import Path
from sandtable.library.handover import Handover

with Handover.open(Path(sys.argv[1])) as handover, handover._files() as folder:
    (folder / "df.parquet").write_bytes(b"somebody's data")
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_is_swept_by_the_next(tmp_path: Path) -> None:
    places = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", _KILLED, str(tmp_path)]
    died = subprocess.run(command, env=places, capture_output=True, text=True, check=False)
    left = Path(died.stdout.strip())
    assert (left / "df.parquet").exists()
    with _opened(tmp_path):
        assert not left.parent.exists()


def test_a_failed_conversion_leaves_nothing(tmp_path: Path, home: Path) -> None:
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 this is none")
    with pytest.raises(InvalidInput, match="cannot be read as Parquet"):
        _dataset({"t": broken})
    assert _left(home) == []


def test_a_file_is_read_once_until_it_changes(sales: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("sandtable.catalog.stored.source._SETTLED_NS", 0)
        before = _dataset(sales)
        patch.setattr("sandtable.catalog.ready_datasets.ingest_files", None)
        assert _dataset(str(sales)) == before
    sales.write_text("city,amount\nBonn,3\nCork,5\nBonn,9\n", encoding="utf-8")
    changed = _dataset(sales)
    assert changed.version != before.version
    sales.write_text("city,amount\nBonn,3\nCork,5\nBonn,8\n", encoding="utf-8")
    assert _dataset(sales).version != changed.version


def test_the_public_names_are_there() -> None:
    assert all(hasattr(sandtable, name) for name in sandtable.__all__)
    assert dir(sandtable) == sorted(sandtable.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sandtable.nothing


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"answers": 7}, "`answers` is not a dict"),
        ({"answers": {"day": 1}}, "`answers` is not a dict"),
        ({"repairs": "pad-rows"}, "`repairs` is not a list"),
        ({"repairs": [1]}, "`repairs` is not a list"),
    ],
    ids=str,
)
def test_answers_and_repairs_that_cannot_be_any(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(sandtable.InvalidInput, match=complaint):
        sandtable.Session("sales.csv", **given)


def test_answers_are_for_files(tmp_path: Path) -> None:
    with pytest.raises(sandtable.InvalidInput, match="`answers` and `repairs` are for files"):
        sandtable.run("1", data="ecommerce", answers={"day": "text"})
    (tmp_path / "sales.csv").write_text("day,amount\n2025-01-01,1\n", "utf-8")
    with pytest.raises(sandtable.InvalidInput, match="`dya`, which is no table or column"):
        sandtable.run("1", data=tmp_path / "sales.csv", answers={"dya": "text"})
