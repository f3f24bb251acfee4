"""The lines of an evaluation: a question or a dialogue, its data, and the expected outcome.

Invariant: reading is total. A line that cannot be used becomes a BadCase that says why.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from sandtable.assemble import Parts
from sandtable.catalog.model import Dataset
from sandtable.cli.evaluation.expected import MOST_BESIDE, Expected, check_expected
from sandtable.cli.jsonl import id_of, numbered, parsed
from sandtable.cli.turn import checked_question
from sandtable.errors import InvalidInput, Problem
from sandtable.quoting import quote

Expect = Literal["answer", "ask", "decline"]
"""The right outcome: an answer, a question back, or saying that the data does not contain the answer."""

MOST_TURNS = 100
_WHOLE_ROWS = frozenset({"list", "lookup"})
"""Tags of questions that may be answered with whole rows."""
_EXAMPLE = 'Write {"id": 1, "question": "How many?", "dataset": "ecommerce", "answer": 42}.'


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to answer: a question, a turn of a dialogue, or one of several questions in a turn."""

    id: Any
    question: str
    expect: Expect
    expected: Expected
    tags: tuple[str, ...] = ()
    graded: bool = True
    """Whether the line has an expected outcome."""


@dataclass(frozen=True, slots=True)
class Asking:
    """One message, and the items that it asks for; more than one for a turn with `parts`."""

    question: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A question, or the turns of a dialogue in order: each is asked after those before it."""

    id: Any
    dataset: str | None
    data: tuple[Path, ...]
    askings: tuple[Asking, ...]
    dialogue: bool = False

    @property
    def source(self) -> str:
        """The dataset's id, or the names of its files."""
        return self.dataset or ", ".join(path.stem for path in self.data)


@dataclass(frozen=True, slots=True)
class BadCase:
    id: Any
    problem: Problem


def read_case(raw: bytes, number: int, folder: Path) -> Case | BadCase:
    """Paths of data files are relative to `folder`."""
    given: dict[str, Any] = {}
    try:
        given = parsed(raw, _EXAMPLE)
        return _case(given, number, folder)
    except InvalidInput as error:
        return BadCase(_id(given, number), numbered(error, number))


def _id(given: dict[str, Any], number: int) -> Any:
    found = id_of(given)
    return number if found is None else found


def _case(given: dict[str, Any], number: int, folder: Path) -> Case:
    dialogue = "turns" in given
    name = _id(given, number)
    askings = tuple(_turns(given["turns"], name)) if dialogue else (_asking(given, name),)
    dataset, data = given.get("dataset"), given.get("data")
    if (dataset is None) == (data is None):
        both = "both `dataset` and `data`" if data is not None else "neither `dataset` nor `data`"
        raise InvalidInput(f"the line has {both}", suggestion="Give exactly one of them.")
    if dataset is not None and not isinstance(dataset, str):
        raise InvalidInput(
            "`dataset` is not text", suggestion="Give its id; `sandtable datasets` lists them."
        )
    return Case(name, dataset, _paths(data, folder), askings, dialogue)


def _turns(turns: Any, name: Any) -> Iterator[Asking]:
    if not isinstance(turns, list) or not 0 < len(turns) <= MOST_TURNS:
        raise InvalidInput(
            f"`turns` is not a list of 1 to {MOST_TURNS} questions",
            suggestion='Write "turns": [{"question": "How many?", "answer": 42}, …].',
        )
    for place, turn in enumerate(turns, 1):
        if not isinstance(turn, dict):
            raise InvalidInput(
                f"turn {place} is not a JSON object", suggestion='Write {"question": "How many?"}.'
            )
        yield _asking(turn, f"{name}.{place}")


def _asking(given: dict[str, Any], name: Any) -> Asking:
    question = _question(given)
    parts = given.get("parts")
    if parts is None:
        return Asking(question, (_item(given, name, question),))
    if not isinstance(parts, list) or not parts or not all(isinstance(part, dict) for part in parts):
        raise InvalidInput(
            "`parts` is not a list of JSON objects", suggestion='Write "parts": [{"answer": 42}, …].'
        )
    whole = {key: given[key] for key in ("expect", "tags") if key in given}
    items = (_item({**whole, **part}, f"{name}.{place}", question) for place, part in enumerate(parts, 1))
    return Asking(question, tuple(items))


def _question(given: dict[str, Any]) -> str:
    question = given.get("question")
    if not isinstance(question, str):
        raise InvalidInput("`question` is missing, or is not text", suggestion=_EXAMPLE)
    return checked_question(question)


def _item(given: dict[str, Any], name: Any, question: str) -> Item:
    tags = _texts(given, "tags")
    expected, graded = _expected(given), "answer" in given or "answers" in given or "expect" in given
    expect = given.get("expect", "decline" if expected.answers == (None,) else "answer")
    if expect not in get_args(Expect):
        raise InvalidInput(
            f"`expect` is {quote(str(expect))}", suggestion="Write one of answer, ask and decline."
        )
    if graded and expect == "answer" and not expected.answers:
        raise InvalidInput("there is no answer to compare with", suggestion="Add `answer` or `answers`.")
    if _WHOLE_ROWS.intersection(tags):
        expected = replace(expected, beside=None)
    part = given.get("question")
    return Item(name, part if isinstance(part, str) else question, expect, expected, tags, graded)


def _expected(given: dict[str, Any]) -> Expected:
    """`answer` is written by hand: rows in their order, numbers perhaps rounded. `answers` are exact."""
    if "answer" in given and "answers" in given:
        raise InvalidInput("the line has both `answer` and `answers`", suggestion="Give one of them.")
    ordered = given.get("ordered")
    if not (ordered is None or isinstance(ordered, bool)):
        raise InvalidInput("`ordered` is neither true nor false", suggestion='Write "ordered": true.')
    if "answers" in given:
        answers = given["answers"]
        if not isinstance(answers, list):
            raise InvalidInput("`answers` is not a list", suggestion='Write "answers": [42] for one answer.')
        for answer in answers:
            check_expected(answer)
        return Expected(tuple(answers), ordered=bool(ordered))
    answer = given.get("answer")
    check_expected(answer)
    rows = isinstance(answer, list) and bool(answer) and isinstance(answer[0], list)
    answers = (answer,) if "answer" in given else ()
    return Expected(answers, ordered=rows if ordered is None else ordered, beside=MOST_BESIDE, rounded=True)


def _texts(given: dict[str, Any], key: str) -> tuple[str, ...]:
    found = given.get(key, [])
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise InvalidInput(f"{quote(key)} is not a list of texts", suggestion=f'Write "{key}": ["a", "b"].')
    return tuple(found)


def _paths(data: Any, folder: Path) -> tuple[Path, ...]:
    if data is None:
        return ()
    names = [data] if isinstance(data, str) else data
    if (
        not isinstance(names, list)
        or not names
        or not all(isinstance(n, str) and n and "\0" not in n for n in names)
    ):
        raise InvalidInput("`data` is not a list of file names", suggestion='Write "data": ["sales.csv"].')
    return tuple(folder / name for name in names)


class Shelf:
    """Datasets that are converted and profiled. The same files are read once."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._ready: dict[str | tuple[Path, ...], asyncio.Task[Dataset]] = {}

    async def get(self, dataset: str | None, data: Sequence[Path]) -> Dataset:
        key = dataset if dataset is not None else tuple(path.absolute() for path in data)
        if key not in self._ready:
            self._ready[key] = asyncio.create_task(self._prepare(key))
        return await asyncio.shield(self._ready[key])

    async def _prepare(self, key: str | tuple[Path, ...]) -> Dataset:
        datasets = self._parts.datasets
        dataset = await (datasets.ready(key) if isinstance(key, str) else datasets.add_files(key))
        await datasets.profile(dataset)
        return dataset
