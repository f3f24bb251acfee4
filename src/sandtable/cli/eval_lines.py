"""The lines of an evaluation: a question, its data, and the answer it should get."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandtable.assemble import Parts
from sandtable.catalog.model import Dataset
from sandtable.cli.expected import check_expected
from sandtable.cli.jsonl import id_of, numbered, parsed
from sandtable.cli.turn import checked_question
from sandtable.errors import InvalidInput, Problem

_EXAMPLE = 'Write {"id": 1, "question": "How many?", "dataset": "ecommerce", "answer": 42}.'


@dataclass(frozen=True, slots=True)
class Case:
    id: Any
    question: str
    dataset: str | None
    data: tuple[Path, ...]
    answer: Any
    graded: bool
    """Whether the line says what the answer should be."""


@dataclass(frozen=True, slots=True)
class BadCase:
    id: Any
    problem: Problem


def read_case(raw: bytes, number: int, folder: Path) -> Case | BadCase:
    """Total: what cannot be used becomes a BadCase that says why. Data files are looked for from `folder`."""
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
    question, dataset, data = given.get("question"), given.get("dataset"), given.get("data")
    if not isinstance(question, str):
        raise InvalidInput("`question` is missing, or is not text", suggestion=_EXAMPLE)
    if (dataset is None) == (data is None):
        both = "both `dataset` and `data`" if data is not None else "neither `dataset` nor `data`"
        raise InvalidInput(f"the line has {both}", suggestion="Give exactly one of them.")
    if dataset is not None and not isinstance(dataset, str):
        raise InvalidInput(
            "`dataset` is not text", suggestion="Give its id; `sandtable datasets` lists them."
        )
    check_expected(given.get("answer"))
    return Case(
        id=_id(given, number),
        question=checked_question(question),
        dataset=dataset,
        data=_paths(data, folder),
        answer=given.get("answer"),
        graded="answer" in given,
    )


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
    """Datasets with their data and their profile in place. The same files are read once."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._ready: dict[str | tuple[Path, ...], asyncio.Task[Dataset]] = {}

    async def get(self, dataset: str | None, data: Sequence[Path]) -> Dataset:
        key = dataset if dataset is not None else tuple(path.absolute() for path in data)
        if key not in self._ready:
            self._ready[key] = asyncio.create_task(self._prepare(key))
        return await asyncio.shield(self._ready[key])

    async def _prepare(self, key: str | tuple[Path, ...]) -> Dataset:
        library = self._parts.library
        dataset = await (library.ready(key) if isinstance(key, str) else library.add_files(key))
        await library.profile(dataset)
        return dataset
