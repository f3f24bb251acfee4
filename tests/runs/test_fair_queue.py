"""Places are shared fairly: no user holds more than a share, users take turns, and one who leaves holds nothing."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.errors import QueueFull
from sandtable.runs.fair_queue import FairQueue, share_of


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Crowd:
    """Callers that keep their places until they are sent away."""

    def __init__(self, queue: FairQueue) -> None:
        self.queue = queue
        self.inside: list[str] = []
        self.order: list[str] = []
        self._tasks: dict[asyncio.Task[None], str] = {}
        self._go = asyncio.Event()

    async def come(self, *users: str) -> list[asyncio.Task[None]]:
        made = [asyncio.create_task(self._work(user)) for user in users]
        self._tasks |= dict(zip(made, users, strict=True))
        await settle()
        return made

    async def _work(self, user: str) -> None:
        async with self.queue.place(user):
            self.inside.append(user)
            self.order.append(user)
            try:
                await self._go.wait()
            finally:
                self.inside.remove(user)

    async def leave(self, user: str) -> None:
        """One that is inside."""
        task = next(task for task, name in self._tasks.items() if name == user and not task.done())
        task.cancel()
        await settle()

    async def go(self) -> None:
        self._go.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@pytest.mark.parametrize(
    ("whole", "share", "each"),
    [(4, 0.75, 3), (2, 0.75, 1), (1, 0.75, 1), (8, 0.75, 6), (4, 1.0, 4), (3, 0.1, 1), (10_000, 0.75, 7500)],
)
def test_a_share_leaves_something_and_is_never_nothing(whole: int, share: float, each: int) -> None:
    assert share_of(whole, share) == each


async def test_one_user_leaves_a_place_for_others() -> None:
    crowd = Crowd(FairQueue("things", 4, 100, 0.75))
    await crowd.come(*["ann"] * 8)
    assert crowd.inside == ["ann"] * 3
    await crowd.come("bob")
    assert crowd.inside == ["ann"] * 3 + ["bob"]
    await crowd.go()


async def test_users_take_turns_whoever_queued_how_much_before() -> None:
    crowd = Crowd(FairQueue("things", 1, 100))
    await crowd.come("ann", *["ann"] * 5, *["bob"] * 3, "cy")
    while crowd.inside:
        await crowd.leave(crowd.inside[0])
    assert crowd.order == ["ann", "ann", "bob", "cy", "ann", "bob", "ann", "bob", "ann", "ann"]


async def test_who_comes_again_and_again_does_not_pass_those_who_wait() -> None:
    crowd = Crowd(FairQueue("things", 1, 100))
    await crowd.come("bob", "bob", "bob", "bob")
    for _ in range(8):
        await crowd.come("ann")
        await crowd.leave(crowd.inside[0])
    turns = "".join(user[0] for user in crowd.order)
    assert turns.startswith("bbababa")
    await crowd.go()


async def test_the_queue_is_bounded_for_all_and_for_each() -> None:
    queue = FairQueue("things", 1, 4, 0.5)
    crowd = Crowd(queue)
    await crowd.come("ann", "ann", "ann")
    with pytest.raises(QueueFull, match="the user ann has 2 things waiting"):
        await queue.acquire("ann")
    await crowd.come("bob", "cy")
    with pytest.raises(QueueFull, match="too many things wait already"):
        await queue.acquire("dan")
    await crowd.leave("ann")
    await crowd.come("dan")
    await crowd.go()


async def test_who_gives_up_leaves_the_queue() -> None:
    queue = FairQueue("things", 1, 2)
    crowd = Crowd(queue)
    _, second, third = await crowd.come("ann", "bob", "cy")
    second.cancel()
    await settle()
    await crowd.leave("ann")
    assert crowd.inside == ["cy"]
    third.cancel()
    await settle()
    assert not crowd.inside
    async with asyncio.timeout(5):
        await queue.acquire("dan")


async def test_given_up_in_the_moment_of_getting_a_place() -> None:
    queue = FairQueue("things", 1, 10)
    await queue.acquire("ann")
    waiting = asyncio.create_task(queue.acquire("bob"))
    await settle()
    queue.release("ann")
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    async with asyncio.timeout(5):
        await queue.acquire("cy")


async def test_cancelled_before_another_leaves_is_passed_over() -> None:
    queue = FairQueue("things", 1, 10)
    await queue.acquire("ann")
    first, second = (asyncio.create_task(queue.acquire(user)) for user in ("bob", "cy"))
    await settle()
    first.cancel()
    queue.release("ann")
    async with asyncio.timeout(5):
        await second
    assert first.cancelled() or (await asyncio.gather(first, return_exceptions=True))[0]


@given(
    st.integers(1, 4),
    st.floats(0.1, 1.0),
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["come", "leave", "cancel"])), max_size=40),
)
def test_law_no_place_is_lost_or_shared(places: int, share: float, script: list[tuple[str, str]]) -> None:
    async def play() -> None:
        crowd = Crowd(FairQueue("things", places, 1000, share))
        for user, what in script:
            if what == "come":
                await crowd.come(user)
            elif what == "leave" and user in crowd.inside:
                await crowd.leave(user)
            elif what == "cancel" and crowd._tasks:
                next(reversed(crowd._tasks)).cancel()
                await settle()
            counts = Counter(crowd.inside)
            assert len(crowd.inside) <= places
            assert not counts or max(counts.values()) <= share_of(places, share)
            under_way = Counter(name for task, name in crowd._tasks.items() if not task.done())
            waiting = under_way - counts
            able = [name for name in waiting if counts[name] < share_of(places, share)]
            assert len(crowd.inside) == places or not able, "a place is free and somebody waits for it"
        await crowd.go()
        assert crowd.queue._free == places and not crowd.queue._queues and not crowd.queue._held

    asyncio.run(play())
