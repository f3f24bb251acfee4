"""What is shared with whom, in SQLite and, where there is one, in Postgres."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from sandtable.accounts.principal import Principal
from sandtable.accounts.shares import FILE, MIGRATIONS, Shares, Thing
from sandtable.store.sqlite.file import SqliteFile

ANNAS = Thing("thread", "t1", "anna")
BOB, CARL = Principal("bob"), Principal("carl", teams=frozenset({"sales", "ops"}))


@pytest_asyncio.fixture
async def shares(tmp_path: Path) -> AsyncIterator[Shares]:
    async with Shares(SqliteFile(tmp_path / FILE, MIGRATIONS, synchronous="FULL")) as made:
        yield made


async def test_nothing_is_opened_before_the_first_use(tmp_path: Path, shares: Shares) -> None:
    assert not (tmp_path / FILE).exists()
    assert await shares.of(ANNAS) == []
    assert (tmp_path / FILE).exists()


async def test_a_person_gets_what_is_shared_with_them_alone(shares: Shares) -> None:
    await shares.put(ANNAS, "person", "bob", "see", "anna")
    assert await shares.right(ANNAS, BOB) == "see"
    assert await shares.right(ANNAS, CARL) is None
    assert await shares.granted("thread", BOB) == {ANNAS: "see"}
    assert await shares.granted("run", BOB) == {}


async def test_a_member_of_a_team_gets_what_is_shared_with_it(shares: Shares) -> None:
    await shares.put(ANNAS, "team", "sales", "see", "anna")
    # A person may have the name of a team.
    assert await shares.right(ANNAS, Principal("sales")) is None
    assert await shares.right(ANNAS, CARL) == "see"


async def test_the_strongest_right_counts(shares: Shares) -> None:
    data = Thing("dataset", "sales", "anna")
    await shares.put(data, "everyone", "", "see", "anna")
    await shares.put(data, "team", "ops", "edit", "anna")
    assert (await shares.right(data, CARL), await shares.right(data, BOB)) == ("edit", "see")
    assert await shares.granted("dataset", CARL) == {data: "edit"}


async def test_a_later_thing_of_the_name_is_not_shared(shares: Shares) -> None:
    await shares.put(ANNAS, "everyone", "", "see", "anna")
    assert await shares.right(Thing("thread", "t1", "dora"), BOB) is None


async def test_sharing_again_changes_the_right_and_unsharing_ends_it(shares: Shares) -> None:
    data = Thing("dataset", "sales", "anna")
    await shares.put(data, "person", "bob", "edit", "anna")
    await shares.put(data, "person", "bob", "see", "olga")
    [only] = await shares.of(data)
    assert (only.recipient, only.name, only.right, only.shared_by) == ("person", "bob", "see", "olga")
    assert await shares.remove(data, "person", "bob")
    assert not await shares.remove(data, "person", "bob")
    assert await shares.right(data, BOB) is None


async def test_a_later_team_of_the_name_gets_nothing(shares: Shares) -> None:
    await shares.put(ANNAS, "team", "sales", "see", "anna")
    await shares.put(ANNAS, "team", "ops", "see", "anna")
    await shares.put(ANNAS, "person", "sales", "see", "anna")
    await shares.forget_team("sales")
    assert [(share.recipient, share.name) for share in await shares.of(ANNAS)] == [
        ("team", "ops"),
        ("person", "sales"),
    ]


async def test_what_is_removed_is_forgotten(shares: Shares) -> None:
    await shares.put(ANNAS, "person", "bob", "see", "anna")
    await shares.put(Thing("thread", "t2", "anna"), "person", "bob", "see", "anna")
    await shares.forget("thread", ["t1"])
    assert [thing.id for thing in await shares.granted("thread", BOB)] == ["t2"]


@pytest.mark.parametrize("name", ["bob' OR 1=1 --", "%", "Bob", "bob "])
async def test_names_are_compared_as_they_are(shares: Shares, name: str) -> None:
    await shares.put(ANNAS, "person", "bob", "see", "anna")
    assert await shares.right(ANNAS, Principal(name)) is None
