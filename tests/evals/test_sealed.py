"""The sealed evaluation set is sound, its tables come from its script, and nothing of the product quotes it."""

from __future__ import annotations

import re
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evals.sealed.check import gold_problems, problems
from evals.sealed.load import DIALOGUES, HERE, ROOT, Data, Item, lines, read_questions, read_turns
from evals.sealed.make_tables import make_tables
from sandtable.cli.evaluation.expected import check_expected

QUOTABLE = 5
"""Words from which on a question is no everyday phrase that code or a test may hold by chance."""
TEXTS = {".py", ".md", ".json", ".jsonl", ".txt", ".toml", ".ts", ".tsx", ".sql", ".yaml", ".yml"}


def test_every_answer_is_that_of_its_query(tmp_path: Path) -> None:
    assert problems(tmp_path) == []


@pytest.mark.parametrize(
    ("sql", "answer", "problem"),
    [
        pytest.param("SELECT count(*) FROM carriers", 7, None, id="sound"),
        pytest.param("SELECT count(*) FROM carriers", 8, "the answer is not", id="wrong answer"),
        pytest.param("SELECT Mode FROM carriers LIMIT 1", "road", "may hide a tie", id="limit"),
        pytest.param(
            "SELECT Mode FROM carriers GROUP BY 1 QUALIFY rank() OVER (ORDER BY count(*)) <= 1",
            ["rail", "sea"],
            "a tie",
            id="tie",
        ),
        pytest.param("SELECT Mode FROM carriers WHERE Mode = 'drone'", [], "no rows", id="empty"),
        pytest.param("SELECT Modes FROM carriers", "road", "Binder Error", id="invalid query"),
    ],
)
def test_a_mistake_in_gold_is_found(tmp_path: Path, sql: str, answer: Any, problem: str | None) -> None:
    item = Item("x-1", ("tables/carriers.csv",), "?", "answer", (sql,), (answer,), ("count",), "")
    with closing(Data(tmp_path, backwards=True)) as data:
        found = list(gold_problems([item], data))
    assert any(problem in line for line in found) if problem else not found


def test_every_answer_can_be_compared() -> None:
    for item in read_questions() + read_turns():
        for answer in item.answers:
            check_expected(answer)


def test_tables_are_those_of_the_script(tmp_path: Path) -> None:
    made = {path.name: path.read_bytes() for path in make_tables(tmp_path)}
    assert made == {path.name: path.read_bytes() for path in (HERE / "tables").glob("*.csv")}


def test_questions_name_every_table() -> None:
    files = {f"tables/{path.name}" for path in (HERE / "tables").glob("*.csv")}
    asked = [item for item in read_questions() if item.expect == "answer"]
    assert {part for item in asked for part in item.source if part.endswith(".csv")} == files
    queries = " ".join(sql for item in asked for sql in item.gold)
    for table in ("orders", "order_items", "inventory", "tickets", "readings", "devices"):
        assert re.search(rf"\b(?:FROM|JOIN) {table}\b", queries), table


def test_no_source_or_test_quotes_a_sealed_question() -> None:
    quoted = _Quotes(_sealed_texts())
    own = Path(__file__).resolve()
    found: list[str] = []
    for top in ("src", "tests", "scripts", "training"):
        for path in (ROOT / top).rglob("*"):
            if path.suffix in TEXTS and path != own and path.is_file():
                found += [
                    f"{path.relative_to(ROOT)}: {text}" for text in quoted.in_text(path.read_text("utf-8"))
                ]
    assert not found


def _sealed_texts() -> set[str]:
    turns = {turn["question"] for dialogue in lines(DIALOGUES) for turn in dialogue["turns"]}
    return turns | {item.question for item in read_questions()}


class _Quotes:
    """Finds texts, by their words, in other texts."""

    def __init__(self, texts: set[str]) -> None:
        self._by_start: dict[tuple[str, ...], list[tuple[tuple[str, ...], str]]] = defaultdict(list)
        for text in texts:
            words = tuple(_words(text))
            if len(words) >= QUOTABLE:
                self._by_start[words[:QUOTABLE]].append((words, text))

    def in_text(self, text: str) -> list[str]:
        words = _words(text)
        starts = zip(*(words[n:] for n in range(QUOTABLE)), strict=False)
        return [
            quoted
            for place, start in enumerate(starts)
            for sought, quoted in self._by_start.get(start, ())
            if tuple(words[place : place + len(sought)]) == sought
        ]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def test_a_quoted_question_is_found() -> None:
    quoted = _Quotes({"How many grey cats sleep here?", "cats?"})
    assert quoted.in_text('{"q": "how many grey  cats sleep here"}') == ["How many grey cats sleep here?"]
    assert quoted.in_text("How many grey cats are here?") == []


def test_item_ids_name_their_source() -> None:
    starts: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for item in read_questions():
        starts[item.source].add(_start(item))
    assert all(len(names) == 1 for names in starts.values())


def _start(item: Item) -> str:
    return item.id.rpartition("-")[0]
