"""Measuring on public sets: made instances tell queries apart, answers are compared by value, figures add up."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from evals.public import spider, wikisql, wtq
from evals.public.conditions import Condition, usage_of
from evals.public.instances import Schema, make_instance
from evals.public.measure import Guess, Measured, figures, measure_all, sample
from evals.public.relations import Relation
from evals.public.spider import is_plain, works
from evals.sealed.load import ROOT
from sandtable.planner.schema.index import SchemaIndex

COLUMNS = {
    "singer": [("singer id", "Singer_ID", "number"), ("name", "Name", "text"), ("age", "Age", "number")],
    "song": [
        ("song id", "Song_ID", "number"),
        ("title", "Title", "text"),
        ("singer id", "Singer_ID", "number"),
        ("genre", "Genre", "text"),
        ("released", "Released", "time"),
    ],
}
SCHEMA = {
    "db": "songs",
    "tables": [
        {"name": t, "original": t, "columns": [{"name": n, "original": o, "type": k} for n, o, k in columns]}
        for t, columns in COLUMNS.items()
    ],
    "primary_keys": ["singer.Singer_ID", "song.Song_ID"],
    "foreign_keys": [["song.Singer_ID", "singer.Singer_ID"]],
}
QUERIES = {
    "How many singers are there?": "SELECT count(*) FROM singer",
    "Who is the oldest singer?": "SELECT name FROM singer ORDER BY age DESC LIMIT 1",
    "Titles of jazz songs by Nina": "SELECT T1.title FROM song AS T1 JOIN singer AS T2 ON T1.singer_id = T2.singer_id "
    "WHERE T2.name = \"Nina\" AND T1.genre = 'jazz' AND T1.released > '2015-01-01'",
    "Genre with most songs": "SELECT genre FROM song GROUP BY genre ORDER BY count(*) DESC LIMIT 1",
    "Singers between 30 and 40": "SELECT name FROM singer WHERE age BETWEEN 30 AND 40",
    "Songs of singer 77": "SELECT title FROM song WHERE singer_id = 77",
}


def write(folder: Path, **files: Sequence[dict[str, Any]]) -> Path:
    for name, lines in files.items():
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    return folder


@pytest.fixture
def songs(tmp_path: Path) -> Path:
    asked = [{"db": "songs", "question": question, "sql": sql} for question, sql in QUERIES.items()]
    return write(tmp_path, schemas=[SCHEMA], questions=asked)


@pytest.fixture
def schema(songs: Path) -> Schema:
    return work_of(songs).schema


def work_of(folder: Path) -> spider.SpiderWork:
    [work] = works(folder, "tune", None) or works(folder, "train", None)
    return work


def column(relations: list[Relation], table: str, name: str) -> list[Any]:
    relation = next(each for each in relations if each.name == table)
    return [row[relation.columns.index(name)] for row in relation.rows]


def test_conditions_are_found_with_their_tables(schema: Schema) -> None:
    usage = usage_of(
        list(QUERIES.values()), {t: {c.original.lower() for c in cs} for t, cs in schema.tables.items()}
    )
    joined = next(witness for witness in usage.witnesses if witness.joins)
    assert joined.tables == {"t1": "song", "t2": "singer"}
    assert set(joined.conditions) == {
        Condition("t2", "name", "=", ("Nina",)),
        Condition("t1", "genre", "=", ("jazz",)),
        Condition("t1", "released", ">", ("2015-01-01",)),
    }
    assert joined.joins == ((("t1", "singer_id"), ("t2", "singer_id")),)
    assert usage.values(("singer", "age")) == [30, 40]
    assert ("song", "genre") in usage.repeated


@pytest.mark.parametrize("seed", range(6))
def test_keys_hold_and_every_value_is_there(schema: Schema, seed: int) -> None:
    usage = usage_of(
        list(QUERIES.values()), {t: {c.original.lower() for c in cs} for t, cs in schema.tables.items()}
    )
    made = make_instance(schema, usage, seed)
    assert made == make_instance(schema, usage, seed)
    ids = column(made, "singer", "singer id")
    assert len(set(ids)) == len(ids)
    assert set(column(made, "song", "singer id")) <= set(ids)
    assert 77 in ids
    assert "jazz" in column(made, "song", "genre")
    assert any(30 <= age <= 40 for age in column(made, "singer", "age"))


def test_queries_return_something(songs: Path) -> None:
    work = work_of(songs)
    asked: list[str] = []

    def nothing(question: str, index: SchemaIndex) -> list[Guess]:
        asked.append(question)
        return []

    work.measure(nothing)
    assert asked == list(QUERIES)


_PLANS: dict[str, tuple[str, dict[str, Any], str]] = {
    "the gold query": (
        "Who is the oldest singer?",
        {"select": [{"column": "name"}], "order_by": [{"expr": "age", "dir": "desc"}], "limit": 1},
        "right",
    ),
    "with its measure": (
        "Who is the oldest singer?",
        {
            "select": [{"column": "name"}, {"column": "age"}],
            "order_by": [{"expr": "age", "dir": "desc"}],
            "limit": 1,
        },
        "right",
    ),
    "the other end": (
        "Who is the oldest singer?",
        {"select": [{"column": "name"}], "order_by": [{"expr": "age", "dir": "asc"}], "limit": 1},
        "wrong",
    ),
    "without the condition": (
        "Singers between 30 and 40",
        {"select": [{"column": "name"}]},
        "wrong",
    ),
    "another way to say it": (
        "Singers between 30 and 40",
        {
            "select": [{"column": "name"}],
            "filters": [
                {"column": "age", "op": ">=", "value": 30},
                {"column": "age", "op": "<=", "value": 40},
            ],
        },
        "right",
    ),
}


@pytest.mark.parametrize(("question", "plan", "status"), _PLANS.values(), ids=list(_PLANS))
def test_a_plan_is_right_on_all_instances(
    songs: Path, question: str, plan: dict[str, Any], status: str
) -> None:
    def planner(asked: str, index: SchemaIndex) -> list[Guess]:
        return [Guess({"table": "singer", **plan}, 0.9, True)] if asked == question else []

    [one] = [each for each in work_of(songs).measure(planner) if each.status != "abstained"]
    assert (one.status, one.guess) == (status, status == "right")
    assert one.groups == ("all", "single table")


@pytest.mark.parametrize(
    ("sql", "plain"),
    [
        ("SELECT name FROM singer WHERE age > (SELECT avg(age) FROM singer)", True),
        ("SELECT name FROM singer GROUP BY name", False),
        ("SELECT max(age) FROM singer", False),
    ],
    ids=["list", "groups", "aggregate"],
)
def test_a_list_may_leave_out_repetitions(sql: str, plain: bool) -> None:
    assert is_plain(sql) is plain


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("1,234", 1234.0),
        (7, 7.0),
        ("May 5, 2010", date(2010, 5, 5)),
        ("5 May 2010", date(2010, 5, 5)),
        ("2010-05-05", date(2010, 5, 5)),
        ("2010-13-05", "2010-13-05"),
        ("Café  Noir", "cafe noir"),
        ('"Yesterday"', "yesterday"),
        ("Paris[1]", "paris"),
        ("Paris (France)", "paris"),
        ("(unknown)", "(unknown)"),
        ("Inc.", "inc"),
        ("1–0", "1-0"),
        (None, ""),
    ],
    ids=repr,
)
def test_a_cell_by_its_value(cell: Any, value: Any) -> None:
    assert wtq.value_of(cell) == value


@pytest.mark.parametrize(
    ("answers", "rows", "right"),
    [
        pytest.param(["Rome"], [["rome", 3]], True, id="beside its measure"),
        pytest.param(["3"], [["rome", 3]], True, id="the measure"),
        pytest.param(["Rome", "Oslo"], [["Oslo"], ["Rome"]], True, id="several"),
        pytest.param(["Rome", "Oslo"], [["Oslo"], ["Rome"], ["Rome"]], True, id="repeated"),
        pytest.param(["Rome"], [["Oslo"], ["Rome"]], False, id="one too many"),
        pytest.param(["Rome", "Oslo"], [["Rome"]], False, id="one too few"),
        pytest.param(["Rome"], [["a", "b", "c", "Rome"]], False, id="in a wide row"),
        pytest.param(["Rome"], [], False, id="nothing"),
        pytest.param(["3"], [["3.0000000001"]], True, id="close"),
    ],
)
def test_answers_are_compared_by_value(answers: list[str], rows: list[list[Any]], right: bool) -> None:
    assert wtq.is_answer(answers, rows) is right


def test_the_other_sets_are_measured(tmp_path: Path) -> None:
    header, rows = ["City", "Games"], [["Rome", "3"], ["Oslo", "5"], ["Bern", "2"]]
    asked = {"split": "tune", "table": "t", "question": "how many games in oslo?"}
    (tmp_path / "wtq").mkdir()
    (tmp_path / "wikisql").mkdir()
    table = [{"id": "t", "header": header, "rows": rows}]
    write(tmp_path / "wtq", tables=table, questions=[{"id": "nt-1", "answers": ["5"], **asked}])
    gold = {"agg": "", "column": "Games", "filters": [{"column": "City", "op": "=", "value": "oslo"}]}
    write(tmp_path / "wikisql", tables=table, questions=[{**asked, **gold}])
    for set_, folder in ((wtq, "wtq"), (wikisql, "wikisql")):
        [one] = measure_all(set_.works(tmp_path / folder, "tune", None), "evals.public.measure:builtin", 1)
        assert one.guess, folder
        assert not set_.works(tmp_path / folder, "train", None)


def test_figures_add_up() -> None:
    measured = [
        Measured("a", ("all",), "right", True, 0.9, 0.001),
        Measured("b", ("all",), "wrong", False, 0.6, 0.001),
        Measured("c", ("all",), "abstained", True, 0.3, 0.001),
        Measured("d", ("all",), "abstained", False, 0.0, 0.001),
    ]
    made = figures(measured)
    assert [made[name] for name in ("right", "wrong", "abstained", "failed")] == [0.25, 0.25, 0.5, 0]
    assert (made["precision"], made["coverage"], made["best guess right"]) == (0.5, 0.5, 0.5)
    assert (made["guess precision at 50%"], made["guess precision at 100%"]) == (0.5, 0.5)


def test_a_sample_is_always_the_same() -> None:
    words = [f"word {n}" for n in range(100)]
    chosen = sample(words, str, 10)
    assert chosen == sample(words, str, 10) == sorted(chosen, key=words.index)
    assert len(chosen) == 10 and chosen != words[:10]
    assert sample(words, str, None) == words


def test_it_runs_as_a_command(songs: Path) -> None:
    split = "tune" if works(songs, "tune", None) else "train"
    command = [
        sys.executable,
        "-m",
        "evals.public",
        "spider",
        str(songs),
        "--json",
        "--jobs",
        "2",
        "--split",
        split,
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    made = json.loads(done.stdout)
    assert made["figures"]["all"]["questions"] == len(made["outcomes"]) == len(QUERIES)
    assert {"all", "single table", "several tables"} == set(made["figures"])
