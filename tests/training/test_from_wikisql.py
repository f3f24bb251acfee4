"""WikiSQL's form of questions as examples."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sandtable.planner.candidates.network.sketch import Item, Token
from training.reader.example import Example
from training.reader.from_wikisql import examples

TABLE = {
    "id": "1-1",
    "header": ["Player", "Club", "Goals", "Note"],
    "rows": [["ana", "fc nord", "3", "x"], ["bo", "sv süd", "5", ""], ["cy", "fc nord", "8", "y"]],
}


def _asked(
    question: str, agg: str | None, column: str, *filters: tuple[str, str, Any], split: str = "train"
) -> dict[str, Any]:
    named = [{"column": column, "op": op, "value": value} for column, op, value in filters]
    return {
        "table": "1-1",
        "split": split,
        "question": question,
        "agg": agg,
        "column": column,
        "filters": named,
    }


def _column(name: str) -> Item:
    return Item("column", "data", name)


def _read(folder: Path, *asked: dict[str, Any]) -> tuple[list[Example], Counter[str]]:
    for name, lines in (("tables", [TABLE]), ("questions", asked)):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    skipped: Counter[str] = Counter()
    return list(examples(folder, skipped)), skipped


@pytest.mark.parametrize(
    ("asked", "sketch"),
    [
        (
            _asked("which club has ana", None, "Club", ("Player", "=", "Ana")),
            [_column("Club"), "where", Item("value", "data", "Player", "ana")],
        ),
        (
            _asked("most goals over 3", "max", "Goals", ("Goals", ">", "3")),
            ["max", _column("Goals"), "where", ">", _column("Goals"), Item("number", value=3.0)],
        ),
        (
            _asked("how many clubs with 5 goals", "count", "Club", ("Goals", "=", 5)),
            ["count", "where", "==", _column("Goals"), Item("number", value=5.0)],
        ),
    ],
)
def test_a_question_becomes_a_sketch(tmp_path: Path, asked: dict[str, Any], sketch: list[Token]) -> None:
    (found,), skipped = _read(tmp_path, asked)
    assert found.sketch == (Item("table", "data"), *sketch, "end")
    assert not skipped


@pytest.mark.parametrize(
    "asked",
    [
        _asked("clubs after f", "count", "Club", ("Club", ">", "f")),
        _asked("sum of clubs", "sum", "Club", ("Goals", "=", 5)),
        _asked("who is dan", None, "Club", ("Player", "=", "dan")),
        _asked("how many notes", "count", "Note", ("Goals", ">", 1)),
    ],
)
def test_what_has_no_sketch_is_counted(tmp_path: Path, asked: dict[str, Any]) -> None:
    found, skipped = _read(tmp_path, asked)
    assert not found
    assert skipped.total() == 1


def test_tables_are_shared_and_the_split_is_kept(tmp_path: Path) -> None:
    asked = [
        _asked("goals of bo", None, "Goals", ("Player", "=", "bo"), split=split)
        for split in ("train", "tune")
    ]
    found, _ = _read(tmp_path, *asked)
    assert [one.tune for one in found] == [False, True]
    assert found[0].dataset is found[1].dataset
    assert found[0].dataset.id == "wikisql-1-1"
