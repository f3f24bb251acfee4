"""What every RunStore must do, whatever database it is made of.

A store's test module subclasses `StoreConformance` and gives a `make` fixture: a function that
makes a store over the same, initially empty, database each time it is called.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sandtable.capsule.canonical import digest
from sandtable.errors import QueueFull
from sandtable.store.holdings import Holding, Removal
from sandtable.store.run_store import Ending, Fairness, HolderGone, OwnRuns, RunFilter, RunRecord, RunStore

Make = Callable[[], RunStore]

AT = "2024-05-01T10:00:00.000Z"


def record(number: int, **changes: Any) -> RunRecord:
    made = RunRecord(
        id=f"run_{number:04}",
        owner="me",
        user="ann",
        dataset_id="shop",
        created_at=AT,
        body={"n": number, "text": "a\x00b\ud800"},
        search=f"question {number} 100%_done",
    )
    return replace(made, **changes)


def ending(number: int, **changes: Any) -> Ending:
    made = Ending(
        id=f"run_{number:04}",
        owner="me",
        expected="running",
        status="succeeded",
        finished_at=AT,
        body={"n": number, "ended": True},
        envelope={"payload": f"capsule of {number}"},
        result={"rows": [[number]]},
    )
    return replace(made, **changes)


class StoreConformance:
    @pytest.fixture
    async def store(self, make: Make) -> Any:
        store = make()
        await store.open()
        yield store
        await store.aclose()

    async def accepted(self, store: RunStore, *numbers: int, **changes: Any) -> None:
        for number in numbers:
            await store.accept(record(number, **changes), 1000)

    async def finished(self, store: RunStore, number: int, **changes: Any) -> None:
        await self.accepted(store, number)
        assert await store.claim("me", AT)
        assert await store.finish(ending(number, **changes))

    async def test_probing_changes_nothing(self, make: Make, store: RunStore) -> None:
        await self.finished(store, 1)
        await self.accepted(store, 2)
        before = await store.list(RunFilter())
        await asyncio.gather(*(store.probe() for _ in range(5)))
        assert await store.list(RunFilter()) == before
        other = make()
        await other.open()
        await other.aclose()

    async def test_what_is_accepted_is_there_after_a_restart(self, make: Make, store: RunStore) -> None:
        await self.accepted(store, 1)
        other = make()
        await other.open()
        found = await other.get("run_0001")
        await other.aclose()
        assert found == record(1)

    async def test_what_is_unknown_is_none(self, store: RunStore) -> None:
        assert await store.get("run_9") is None
        assert await store.capsule("run_9") is None
        assert await store.cached("key") is None
        assert await store.claim("me", AT) is None

    async def test_the_queue_is_bounded(self, store: RunStore) -> None:
        await store.accept(record(1), 2)
        await store.accept(record(2), 2)
        with pytest.raises(QueueFull, match="2 runs are waiting"):
            await store.accept(record(3), 2)
        await store.claim("me", AT)
        await store.accept(record(3), 2)

    async def test_the_oldest_is_claimed_first(self, store: RunStore) -> None:
        await self.accepted(store, 2, 1, 3)
        claims = [await store.claim("me", AT) for _ in range(4)]
        assert [made and made.id for made in claims] == ["run_0001", "run_0002", "run_0003", None]
        assert claims[0] is not None
        assert (claims[0].status, claims[0].attempts, claims[0].started_at) == ("running", 1, AT)

    async def test_users_take_turns(self, store: RunStore) -> None:
        await self.accepted(store, 1, 2, 3, 4, user="ann")
        await self.accepted(store, 5, 6, user="bob")
        await self.accepted(store, 7, user="cy")
        order = []
        while claimed := await store.claim("me", AT):
            order.append(claimed.user)
        assert order == ["ann", "bob", "cy", "ann", "bob", "ann", "ann"]

    async def test_a_user_has_a_share_of_the_slots_and_holds_no_one_up(self, store: RunStore) -> None:
        await self.accepted(store, 1, 2, 3, 4, user="ann")
        await self.accepted(store, 5, 6, user="bob")
        fair = Fairness(each=2)
        claims = [await store.claim("me", AT, fair) for _ in range(5)]
        assert [made and made.id for made in claims] == ["run_0001", "run_0005", "run_0002", "run_0006", None]
        assert await store.finish(ending(2))
        again = await store.claim("me", AT, fair)
        assert again is not None and again.id == "run_0003"

    async def test_a_share_is_of_each_owners_slots(self, store: RunStore) -> None:
        await self.accepted(store, 1, 2)
        await self.accepted(store, 3, 4, owner="you")
        fair = Fairness(each=1)
        for owner, expected in (("me", "run_0001"), ("you", "run_0003"), ("me", None), ("you", None)):
            made = await store.claim(owner, AT, fair)
            assert (made and made.id) == expected

    async def test_users_rotate_where_one_slot_is_all_there_is(self, store: RunStore) -> None:
        await self.accepted(store, 1, 2, 3, user="ann")
        await self.accepted(store, 4, 5, user="bob")
        order, lately = [], list[str]()
        while made := await store.claim("me", AT, Fairness(lately=lately)):
            await store.finish(ending(int(made.id[4:])))
            order.append(made.user)
            lately = [*(user for user in lately if user != made.user), made.user]
        assert order == ["ann", "bob", "ann", "bob", "ann"]

    async def test_cells_of_a_session_are_claimed_one_after_another(self, store: RunStore) -> None:
        await self.accepted(store, 1, 2, session="s")
        await self.accepted(store, 3, session="t")
        await self.accepted(store, 4)
        first = [await store.claim("me", AT) for _ in range(4)]
        assert [made and made.id for made in first] == ["run_0001", "run_0003", "run_0004", None]
        assert await store.list(RunFilter(session="s")) == []
        assert await store.finish(ending(1, session="s"))
        second = await store.claim("me", AT)
        assert second is not None and (second.id, second.session) == ("run_0002", "s")
        assert [found.id for found in await store.list(RunFilter(session="s"))] == ["run_0001"]

    async def test_a_cell_that_waits_is_adopted_with_its_turn(self, store: RunStore) -> None:
        await self.accepted(store, 1, 2, session="s")
        await store.claim("me", AT)
        assert await store.adopt("me", "heir") == 2
        claims = [await store.claim("heir", AT) for _ in range(2)]
        assert [made and made.id for made in claims] == ["run_0001", None]

    async def test_no_cell_is_claimed_where_none_may_run(self, store: RunStore) -> None:
        await self.accepted(store, 1, session="s")
        await self.accepted(store, 2)
        claims = [await store.claim("me", AT, Fairness(cells=False)) for _ in range(2)]
        assert [made and made.id for made in claims] == ["run_0002", None]

    async def test_the_queue_has_room_for_everybody(self, store: RunStore) -> None:
        await store.accept(record(1), 3, 2)
        await store.accept(record(2), 3, 2)
        with pytest.raises(QueueFull, match="the user ann has 2 runs waiting"):
            await store.accept(record(3), 3, 2)
        await store.accept(record(4, user="bob"), 3, 2)
        with pytest.raises(QueueFull, match="3 runs are waiting"):
            await store.accept(record(5, user="cy"), 3, 2)
        await store.claim("me", AT)
        await store.accept(record(6), 3, 2)

    async def test_only_the_owner_claims_and_finishes(self, store: RunStore) -> None:
        await self.accepted(store, 1)
        assert await store.claim("you", AT) is None
        assert await store.claim("me", AT) is not None
        assert not await store.finish(ending(1, owner="you"))
        assert await store.finish(ending(1))

    async def test_many_at_once_claim_each_run_once(self, make: Make, store: RunStore) -> None:
        await self.accepted(store, *range(12))
        other = make()
        await other.open()
        claims = await asyncio.gather(*(s.claim("me", AT) for s in (store, other) for _ in range(8)))
        await other.aclose()
        ids = [made.id for made in claims if made]
        assert sorted(ids) == [f"run_{n:04}" for n in range(12)]

    async def test_a_run_ends_once_with_one_capsule(self, store: RunStore) -> None:
        await self.finished(store, 1)
        assert not await store.finish(ending(1, status="failed", envelope={"payload": "other"}))
        found = await store.get("run_0001")
        assert found is not None
        assert (found.status, found.body, found.result) == (
            "succeeded",
            {"n": 1, "ended": True},
            {"rows": [[1]]},
        )
        assert await store.capsule("run_0001") == {"payload": "capsule of 1"}

    async def test_ends_that_race_have_one_winner(self, make: Make, store: RunStore) -> None:
        await self.accepted(store, 1)
        await store.claim("me", AT)
        other = make()
        await other.open()
        endings = [ending(1, envelope={"payload": str(n)}) for n in range(6)]
        won = await asyncio.gather(*((store, other)[n % 2].finish(made) for n, made in enumerate(endings)))
        await other.aclose()
        assert sum(won) == 1
        assert await store.capsule("run_0001") == endings[won.index(True)].envelope

    async def test_ending_expects_a_state(self, store: RunStore) -> None:
        await self.accepted(store, 1)
        assert not await store.finish(ending(1))
        assert await store.capsule("run_0001") is None
        assert await store.finish(ending(1, expected="pending", status="cancelled", result=None))

    async def test_released_runs_wait_again(self, store: RunStore) -> None:
        await self.accepted(store, 1, 2)
        await store.claim("me", AT)
        assert await store.release("me") == 1
        again = await store.claim("me", AT)
        assert again is not None
        assert (again.id, again.attempts) == ("run_0001", 2)

    async def test_a_dead_owners_runs_are_adopted(self, store: RunStore) -> None:
        await self.finished(store, 1)
        await self.accepted(store, 2, 3)
        await store.claim("me", AT)
        await self.accepted(store, 4, owner="you")
        assert sorted(await store.owners()) == ["me", "you"]
        assert await store.adopt("me", "heir", "run_0003") == 1
        assert await store.adopt("me", "heir") == 1
        assert await store.owners() == ["heir", "you"] or await store.owners() == ["you", "heir"]
        assert not await store.finish(ending(2))
        claims = [await store.claim("heir", AT) for _ in range(3)]
        assert [made and made.id for made in claims] == ["run_0002", "run_0003", None]

    async def test_cancel_requests_reach_the_owner(self, store: RunStore) -> None:
        await self.finished(store, 1)
        await self.accepted(store, 2, 3)
        for number in (1, 3):
            await store.request_cancel(f"run_{number:04}")
        assert await store.cancel_requests("me") == ["run_0003"]
        assert await store.cancel_requests("you") == []
        found = await store.get("run_0003")
        assert found is not None
        assert found.cancel_requested

    async def test_lists_filter_and_page(self, store: RunStore) -> None:
        await self.finished(store, 1)
        await self.accepted(store, 2, 3, 4, user="bob", dataset_id="sensors")

        async def ids(**wanted: Any) -> list[str]:
            return [made.id[-1] for made in await store.list(RunFilter(**wanted))]

        assert await ids() == ["4", "3", "2", "1"]
        assert await ids(limit=2) == ["4", "3"]
        assert await ids(limit=2, before="run_0003") == ["2", "1"]
        assert await ids(status="succeeded") == ["1"]
        assert await ids(dataset_id="sensors", user="bob") == ["4", "3", "2"]
        assert await ids(user="ann") == await ids(seen=OwnRuns("ann")) == ["1"]
        shared = OwnRuns("ann", (("run_0002", "bob"), ("run_0003", "dora"), ("run_0009", "bob")))
        assert await ids(seen=shared) == ["2", "1"]
        assert await ids(seen=shared, user="bob", text="question 2", before="run_0004") == ["2"]
        assert await ids(seen=OwnRuns("x' OR '1' = '1")) == []
        assert await ids(text="QUESTION 3") == ["3"]
        assert await ids(text="100%_done") == ["4", "3", "2", "1"]
        assert await ids(text="100_") == []
        assert await ids(text="'; DROP TABLE runs; --") == []
        assert all(made.result is None for made in await store.list(RunFilter()))
        assert await store.counts() == {"succeeded": 1, "pending": 3}

    async def test_cells_are_found_by_their_session(self, store: RunStore) -> None:
        await self.finished(store, 1, session="a")
        await self.finished(store, 2)
        await self.finished(store, 3, session="b")
        await self.finished(store, 4, session="a", status="cancelled")

        async def ids(**wanted: Any) -> list[str]:
            return [made.id[-1] for made in await store.list(RunFilter(**wanted))]

        assert await ids(session="a") == ["4", "1"]
        assert await ids(session="a", limit=1) == ["4"]
        assert await ids(session="a", before="run_0004") == ["1"]
        assert await ids(session="c") == []
        assert await ids() == ["4", "3", "2", "1"]

    async def test_results_are_found_by_their_key(self, store: RunStore) -> None:
        await self.finished(store, 1, cache_key="k")
        await self.finished(store, 2, cache_key="k", result={"rows": [["newer"]]})
        await self.finished(store, 3, result=None, result_of="run_0001")
        found = await store.cached("k")
        assert found is not None
        assert (found.id, found.result) == ("run_0002", {"rows": [["newer"]]})
        shared = await store.get("run_0003")
        assert shared is not None
        assert shared.result == {"rows": [[1]]}

    # Removal

    async def test_a_removed_run_leaves_a_line_and_nothing_else(self, make: Make, store: RunStore) -> None:
        await self.finished(store, 1, cache_key="k")
        await self.finished(store, 2)
        assert await store.holdings.remove(["run_0001", "run_9"], AT, "age") == ["run_0001"]
        assert await store.get("run_0001") is None and await store.capsule("run_0001") is None
        assert await store.cached("k") is None
        assert [made.id for made in await store.list(RunFilter())] == ["run_0002"]
        other = make()
        await other.open()
        found = await other.holdings.removal("run_0001")
        await other.aclose()
        assert found == Removal("run_0001", AT, "age", "ann", "shop", digest({"payload": "capsule of 1"}))
        assert await store.holdings.removal("run_0002") is None
        assert await store.holdings.remove(["run_0001"], AT, "age") == []

    async def test_what_is_needed_is_not_removed(self, store: RunStore) -> None:
        await self.finished(store, 1)
        await self.finished(store, 2, result=None, result_of="run_0001")
        await self.finished(store, 3, session="a")
        await self.finished(store, 4, session="a")
        await self.finished(store, 5, session="b")
        await self.accepted(store, 6)
        kept = await store.holdings.remove(["run_0001", "run_0003", "run_0005", "run_0006"], AT, "age")
        assert kept == ["run_0005"]
        # All that need each other go together.
        gone = ["run_0001", "run_0002", "run_0003", "run_0004"]
        assert await store.holdings.remove(gone, AT, "age") == gone

    async def test_what_stays_keeps_what_it_needs(self, store: RunStore) -> None:
        """Of what was chosen together, one is needed meanwhile by a run that was not there before."""
        await self.finished(store, 1)
        await self.finished(store, 2, result=None, result_of="run_0001", session="a")
        await self.finished(store, 3, session="a")
        await self.finished(store, 4, result=None, result_of="run_0003")
        assert await store.holdings.remove(["run_0001", "run_0002", "run_0003"], AT, "size") == []

    async def test_what_is_held_is_listed(self, store: RunStore) -> None:
        await self.finished(store, 1, session="a")
        await self.finished(store, 2, result=None, result_of="run_0001")
        await self.accepted(store, 3, user="bob")
        held = {one.id: one for one in await store.holdings.runs()}
        texts = ({"n": 1, "ended": True}, {"payload": "capsule of 1"}, {"rows": [[1]]})
        size = sum(len(json.dumps(text)) for text in texts)
        assert held["run_0001"] == Holding("run_0001", AT, True, size, None, "a")
        assert held["run_0002"].result_of == "run_0001" and 0 < held["run_0002"].bytes < size
        assert (held["run_0003"].ended, held["run_0003"].bytes) == (False, 0)
        assert await store.holdings.bytes_of("ann") == size + held["run_0002"].bytes
        assert await store.holdings.bytes_of("bob") == 0
        await store.holdings.remove(["run_0001", "run_0002"], AT, "age")
        assert await store.holdings.bytes_of("ann") == 0

    async def test_a_result_whose_holder_is_gone_is_refused(self, store: RunStore) -> None:
        await self.finished(store, 1)
        await store.holdings.remove(["run_0001"], AT, "count")
        await self.accepted(store, 2)
        await store.claim("me", AT)
        with pytest.raises(HolderGone):
            await store.finish(ending(2, result=None, result_of="run_0001"))
        assert await store.capsule("run_0002") is None
        assert await store.finish(ending(2))

    async def test_removing_and_answering_from_it_at_once(self, make: Make, store: RunStore) -> None:
        """Whichever is first: no run that is kept refers to one that is gone."""
        other = make()
        await other.open()
        for number in range(1, 20, 2):
            await self.finished(store, number)
            await self.accepted(store, number + 1)
            await store.claim("me", AT)
            gone, ended = await asyncio.gather(
                other.holdings.remove([f"run_{number:04}"], AT, "age"),
                store.finish(ending(number + 1, result=None, result_of=f"run_{number:04}")),
                return_exceptions=True,
            )
            assert (gone, ended) == ([], True) or (
                gone == [f"run_{number:04}"] and isinstance(ended, HolderGone)
            )
        await other.aclose()

    async def test_one_at_a_time_removes(self, make: Make, store: RunStore) -> None:
        other = make()
        await other.open()
        async with store.holdings.alone() as first, other.holdings.alone() as second:
            assert (first, second) == (True, False)
        async with other.holdings.alone() as again:
            assert again
        await other.aclose()
