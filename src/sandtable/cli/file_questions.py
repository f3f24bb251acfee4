"""Questions about files: asked on a terminal, else printed with the option that answers each."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import click

from sandtable.catalog.reading.file_tables import Decided
from sandtable.catalog.recipe import FileQuestion
from sandtable.cli.show import clean
from sandtable.errors import InvalidInput

T = TypeVar("T")


async def with_answers(decided: Decided, act: Callable[[Decided], Awaitable[T]]) -> T:
    """Acts, and on a terminal asks what is open and acts again. Raises InvalidInput where nothing can be asked."""
    while True:
        try:
            return await act(decided)
        except InvalidInput as error:
            asked = error.details.get("questions")
            if not asked or not can_ask():
                raise
            questions = [FileQuestion.model_validate(each) for each in asked]
            decided = decided.with_more(Decided({question.id: _ask(question) for question in questions}))


def can_ask() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask(question: FileQuestion) -> str:
    click.echo(clean(question.text), err=True)
    for number, choice in enumerate(question.choices, 1):
        click.echo(f"  {number}  {clean(choice.label)}", err=True)
    chosen = click.prompt("Number", type=click.IntRange(1, len(question.choices)), err=True)
    return question.choices[chosen - 1].answer


def options_in(details: dict[str, Any]) -> Iterator[str]:
    """Lines for the questions and repairs in the details of an error: what each is about, and the option to give."""
    for question in details.get("questions") or ():
        yield f"{question['id']}: {question['text']}"
        for choice in question["choices"]:
            answer = shlex.quote(f"{question['id']}={choice['answer']}")
            yield f"  --answer {answer}   {choice['label']}"
    for repair in details.get("repairs") or ():
        yield f"--repair {shlex.quote(repair['id'])}   {repair['label']}"
