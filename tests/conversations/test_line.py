"""Turns of a thread wait for each other; the line as a whole is bounded."""

from __future__ import annotations

import asyncio

import pytest

from sandtable.conversations.line import Line
from sandtable.conversations.model import ThreadBusy
from sandtable.errors import QueueFull


def nothing() -> None:
    pass


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_first_come_first_served() -> None:
    line, order = Line(4, 10), list[str]()

    async def turn(name: str, place_of: str) -> None:
        place = line.enter(place_of, "ann", "enqueue", nothing)
        await place.reach()
        order.append(name)
        await settle()
        order.append(f"-{name}")
        place.leave()

    await asyncio.gather(*(turn(name, "t") for name in "abc"))
    assert order == ["a", "-a", "b", "-b", "c", "-c"]
    assert line.under_way("t") == []


async def test_other_threads_do_not_wait_until_there_are_too_many() -> None:
    line = Line(2, 10)
    places = [line.enter(f"t{n}", "ann", "enqueue", nothing) for n in range(3)]
    tasks = [asyncio.create_task(place.reach()) for place in places]
    await settle()
    assert [task.done() for task in tasks] == [True, True, False]
    places[0].leave()
    await settle()
    assert tasks[2].done()


async def test_who_leaves_the_line_does_not_let_the_next_pass_the_first() -> None:
    line = Line(4, 10)
    first, second, third = (line.enter("t", "ann", "enqueue", nothing) for _ in range(3))
    await first.reach()
    waiting = asyncio.create_task(third.reach())
    second.leave()
    await settle()
    assert not waiting.done()
    first.leave()
    first.leave()
    await waiting
    assert line.slots._free == 3, "a place is given back once"


async def test_what_a_newcomer_does_about_the_others() -> None:
    line, ended = Line(4, 10), list[str]()
    line.enter("t", "ann", "enqueue", lambda: ended.append("a"))
    line.enter("t", "ann", "enqueue", lambda: ended.append("b"), lambda: True)
    with pytest.raises(ThreadBusy, match="still under way"):
        line.enter("t", "ann", "reject", nothing)
    assert ended == []
    line.enter("t", "ann", "enqueue", nothing)
    assert ended == ["b"], "whom nobody hears any more gives way"
    line.enter("t", "ann", "interrupt", nothing)
    assert ended == ["b", "a", "b"]


async def test_the_line_is_bounded() -> None:
    line = Line(1, 1)
    place = line.enter("a", "ann", "enqueue", nothing)
    line.enter("b", "ann", "enqueue", nothing)
    with pytest.raises(QueueFull, match="too many conversations"):
        line.enter("c", "ann", "enqueue", nothing)
    place.leave()
    line.enter("c", "ann", "enqueue", nothing)


async def test_closing_ends_everything() -> None:
    line = Line(4, 10)
    places: dict[str, asyncio.Task[None]] = {}

    async def turn(name: str) -> None:
        def cancel() -> None:
            places[name].cancel()

        place = line.enter("t", "ann", "enqueue", cancel)
        try:
            await place.reach()
            await asyncio.Event().wait()
        finally:
            place.leave()

    for name in "abc":
        places[name] = asyncio.create_task(turn(name))
    await settle()
    await line.aclose()
    assert await asyncio.gather(*places.values(), return_exceptions=True) and line.under_way("t") == []


async def test_a_user_has_a_share_of_the_line() -> None:
    line = Line(2, 2, 0.75)
    for n in range(3):
        line.enter(f"t{n}", "ann", "enqueue", nothing)
    with pytest.raises(QueueFull, match="the user ann has 3 answers under way"):
        line.enter("t3", "ann", "enqueue", nothing)
    place = line.enter("t4", "bob", "enqueue", nothing)
    place.leave()
    line.enter("t5", "bob", "enqueue", nothing)


async def test_users_take_turns() -> None:
    line, order = Line(2, 100, 0.5), list[str]()

    async def turn(number: int, user: str) -> None:
        place = line.enter(f"{user} {number}", user, "enqueue", nothing)
        await place.reach()
        order.append(user)
        await settle()
        place.leave()

    await asyncio.gather(*(turn(n, "ann") for n in range(6)), *(turn(n, "bob") for n in range(2)))
    assert order[:4] == ["ann", "bob", "ann", "bob"], "ann's six threads take one of two places"
