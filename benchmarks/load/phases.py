"""What is done to the server: a person alone, a crowd, a person beside a flood, and a long time of ordinary use.

Invariant: every phase ends, by its count or by its time, and leaves no run waiting.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from benchmarks.load.people import Ledger, Person, fresh_query
from benchmarks.measure import Timings
from sandtable.stopping import stopped

People = Callable[[str], Person]


@dataclass(frozen=True, slots=True)
class Size:
    users: int = 100
    runs: int = 1000
    """Of the crowd together, all queued at once."""
    alone: int = 40
    """Questions of the person whose wait is measured."""
    flood: int = 150
    """Runs of one user that wait all the time."""
    soak: int = 1800
    """Requests: an hour of use, one every two seconds, back to back."""
    soak_s: float = 90.0
    """The soak ends then, also when there is something left of it."""
    workers: int = 8


QUICK = Size(users=8, runs=40, alone=4, flood=12, soak=60, soak_s=20.0, workers=4)


async def alone(people: People, size: Size) -> Timings:
    person = people("person")
    return Timings([await person.timed_ms() for _ in range(size.alone)])


@dataclass(frozen=True, slots=True)
class Crowd:
    waited: Timings
    """From the submission of a run to the moment when its user knew that it had ended."""
    seconds: float
    runs: int


async def crowd(people: People, size: Size) -> Crowd:
    """Every user submits all runs at once, and then waits for each."""
    each = size.runs // size.users
    began = time.perf_counter()
    waited = await asyncio.gather(*(_queued(people(f"user-{n}"), each) for n in range(size.users)))
    values = [value for user in waited for value in user]
    return Crowd(Timings(values), time.perf_counter() - began, len(values))


async def _queued(person: Person, runs: int) -> list[float]:
    began, waited = time.perf_counter(), list[float]()
    for run in [await person.submit(fresh_query()) for _ in range(runs)]:
        await person.ended(run)
        waited.append((time.perf_counter() - began) * 1e3)
    return waited


async def beside_a_flood(people: People, size: Size) -> Timings:
    """The same person while one user always has many runs waiting."""
    flooding = asyncio.create_task(_flood(people("flood"), size.flood))
    try:
        await asyncio.sleep(0.5)
        return await alone(people, size)
    finally:
        await stopped(flooding)
        await _drained(people("flood"))


async def _flood(person: Person, waiting: int) -> None:
    async def one_after_the_other() -> None:
        while True:
            await person.ended(await person.submit(fresh_query()))

    await asyncio.gather(*(one_after_the_other() for _ in range(waiting)))


async def _drained(person: Person) -> None:
    """Waits for what the flood has left behind: the last of its runs is the last in the queue."""
    await person.ended(await person.submit(fresh_query()))


async def soak(people: People, size: Size) -> int:
    """How many requests were made."""
    chance, until, made = random.Random(7), time.monotonic() + size.soak_s, 0
    left = iter(range(size.soak))

    async def work(person: Person) -> None:
        nonlocal made
        for number in left:
            if time.monotonic() > until:
                return
            await _one_thing(person, number, chance)
            made += 1

    await asyncio.gather(*(work(people(f"worker-{n}")) for n in range(size.workers)))
    return made


async def _one_thing(person: Person, number: int, chance: random.Random) -> None:
    """One of the things that people do, the frequent ones more often."""
    plan = {"dataset_id": "ecommerce", "table": "orders", "select": [{"agg": "count", "as": "n"}]}
    things: list[tuple[int, Callable[[], Awaitable[object]]]] = [
        (8, lambda: person.submit(fresh_query(), wait=50)),
        (4, lambda: person.submit({"sql": "SELECT channel, count(*) FROM orders GROUP BY channel"}, wait=50)),
        (3, lambda: person.submit({"plan": plan}, wait=50)),
        (2, lambda: person.submit({"sql": "SELECT * FROM read_csv('/etc/passwd')"}, wait=50)),
        (1, lambda: person.submit({"sql": f"SELECT no_such_column_{number} FROM orders"}, wait=50)),
        (2, lambda: person.ask(f"Top {2 + number % 40} products by revenue")),
        (1, lambda: person.hang_up(f"Which {2 + number % 40} categories have the highest return rate?")),
        (2, lambda: person.call("GET", "/runs", params={"limit": 20})),
        (2, lambda: person.call("GET", f"/runs/{next(iter(person.ledger.accepted))}/capsule")),
        (1, lambda: person.call("GET", "/datasets/ecommerce")),
        (1, lambda: person.call("GET", "/metrics")),
    ]
    (_, thing) = chance.choices(things, [weight for weight, _ in things])[0]
    await thing()


def names(ledger: Ledger) -> list[str]:
    return sorted(ledger.accepted)
