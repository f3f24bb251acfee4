"""Many questions through one warm process: a JSON object per line in, one per line out, in order.

Invariant: every non-blank line gets exactly one line as answer, whatever it contains; an answer is
written as soon as it and all earlier ones are ready; at most `in_flight` questions are open.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar

from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery
from sandtable.cli.inputs import checked_plan
from sandtable.cli.lines import MOST_LINE, lines_of
from sandtable.cli.show import print_json
from sandtable.errors import InvalidInput, Problem, SandtableError
from sandtable.quoting import quote

Answer = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Line:
    id: Any
    query: Query
    question: str = ""


@dataclass(frozen=True, slots=True)
class BadLine:
    id: Any
    problem: Problem


async def answer_lines(
    source: str,
    answer: Callable[[Line], Awaitable[Answer]],
    refuse: Callable[[Any, Problem], Answer],
    in_flight: int,
) -> None:
    """A SandtableError of `answer` becomes the line's answer; other exceptions end the command."""

    async def one(raw: bytes, number: int) -> Answer:
        line = read_line(raw, number)
        if isinstance(line, BadLine):
            return refuse(line.id, line.problem)
        try:
            return await answer(line)
        except SandtableError as error:
            return refuse(line.id, error.problem)

    async with aclosing(in_order(source, one, in_flight)) as answers:
        async for each in answers:
            print_json(each, indent=None)


async def in_order(
    source: str, one: Callable[[bytes, int], Awaitable[T]], in_flight: int
) -> AsyncGenerator[T, None]:
    """The results of `one` for each line and its number, in order. Closing it early cancels what is open."""
    # Beyond those in the queue, one is being awaited and one is about to be put.
    waiting: asyncio.Queue[asyncio.Task[T] | None] = asyncio.Queue(max(1, in_flight - 2))
    begun: set[asyncio.Task[T]] = set()

    async def feed() -> None:
        try:
            async for number, raw in lines_of(source):
                task = asyncio.ensure_future(one(raw, number))
                begun.add(task)
                task.add_done_callback(begun.discard)
                await waiting.put(task)
        except Exception:
            await waiting.put(None)
            raise
        await waiting.put(None)

    feeding = asyncio.create_task(feed())
    try:
        while (task := await waiting.get()) is not None:
            yield await task
        await feeding
    finally:
        open_ones = [feeding, *begun]
        for task in open_ones:
            task.cancel()
        await asyncio.gather(*open_ones, return_exceptions=True)


def read_line(raw: bytes, number: int) -> Line | BadLine:
    """Total: an unusable line becomes a BadLine that says why."""
    given: Any = None
    try:
        given = parsed(raw, 'Write {"id": …} with one of "sql", "plan" and "python".')
        return _line(given)
    except InvalidInput as error:
        return BadLine(id_of(given), numbered(error, number))


def numbered(error: InvalidInput, number: int) -> Problem:
    return error.problem.model_copy(update={"message": f"line {number}: {error.message}"})


def parsed(raw: bytes, example: str) -> dict[str, Any]:
    """Raises InvalidInput for anything but a JSON object, and for one that is too long."""
    if len(raw) > MOST_LINE:
        raise InvalidInput(f"the line is longer than {MOST_LINE >> 20} MiB", suggestion="Send less.")
    try:
        given = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidInput("not UTF-8", suggestion="Save the file as UTF-8.") from error
    except (ValueError, RecursionError) as error:
        reason = (
            error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply, or a huge number"
        )
        raise InvalidInput(f"not JSON: {reason}", suggestion="Write one JSON object per line.") from error
    if not isinstance(given, dict):
        raise InvalidInput("not a JSON object", suggestion=example)
    return given


def _line(given: dict[str, Any]) -> Line:
    asked = {name: given[name] for name in ("sql", "plan", "python") if given.get(name) is not None}
    question = given.get("question") or ""
    if id_of(given) is None:
        raise InvalidInput("`id` is missing, or is neither text nor a number", suggestion="Add an `id`.")
    if len(asked) != 1:
        named = " and ".join(quote(name) for name in asked)
        has = f"both {named}" if asked else "neither `sql` nor `plan` nor `python`"
        raise InvalidInput(f"the line has {has}", suggestion="Give exactly one of them.")
    [(name, value)] = asked.items()
    if name != "plan" and not isinstance(value, str):
        raise InvalidInput(f"{quote(name)} is not text", suggestion=f'Write {{"id": …, "{name}": "…"}}.')
    if not isinstance(question, str):
        raise InvalidInput("`question` is not text", suggestion="Leave it out, or give text.")
    if name == "plan":
        return Line(given["id"], PlanQuery(checked_plan(value)), question)
    return Line(given["id"], SqlQuery(value) if name == "sql" else CodeQuery(value), question)


def id_of(given: Any) -> Any:
    found = given.get("id") if isinstance(given, dict) else None
    usable = isinstance(found, str | int | float) and not isinstance(found, bool)
    # An id such as 1e999 is parsed as infinity, which JSON cannot express in the answer.
    return found if usable and found not in (math.inf, -math.inf) and found == found else None
