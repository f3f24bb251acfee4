"""Kept questions and boards, in SQLite and Postgres."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sandtable.boards import store
from sandtable.boards.model import Board, Condition, EditionPassed, KeptQuestion, Layout, Tile, TileRun
from sandtable.boards.store import Boards
from sandtable.capsule.query import PlanQuery
from sandtable.errors import InvalidInput, NotFound

PLAN: dict[str, Any] = {"dataset_id": "shop", "table": "orders", "select": [{"agg": "count"}]}


async def keep(boards: Boards, owner: str = "anna", name: str = "Orders", run: str = "run_1") -> KeptQuestion:
    fields = {"plan": PLAN, "sql": None, "python": None, "names": {}}
    return await boards.keep(
        owner, name, dataset_id="shop", question="how many orders?", fields=fields, run_id=run
    )


def layout(*question_ids: str, filters: tuple[Condition, ...] = ()) -> Layout:
    tiles = (
        Tile(id=f"t{n}", question_id=each, x=0, y=4 * n, w=6, h=4) for n, each in enumerate(question_ids)
    )
    return Layout(tiles=tuple(tiles), filters=filters)


async def board_of(boards: Boards, *question_ids: str, owner: str = "anna") -> Board:
    return await boards.add_board(owner, "Sales", layout(*question_ids))


async def test_a_question_is_kept_as_it_was_asked(boards: Boards) -> None:
    made = await keep(boards)
    found = await boards.question(made.id)
    assert found == made
    assert (found.query, found.question, found.kept_run) == (PlanQuery(PLAN), "how many orders?", "run_1")


async def test_what_is_listed_is_the_owners_and_the_last_changed_first(boards: Boards) -> None:
    first, second = await keep(boards), await keep(boards, name="Returns")
    bobs = await keep(boards, "bob")
    await boards.change_question(first, 1, name="All orders", chart="line")
    assert [each.id for each in await boards.questions_of("anna")] == [first.id, second.id]
    assert {each.id for each in await boards.questions_of(None)} == {first.id, second.id, bobs.id}
    found = await boards.question(first.id)
    assert (found.name, found.chart, found.edition) == ("All orders", "line", 2)


async def test_of_two_changes_from_the_same_edition_one_is_refused(boards: Boards) -> None:
    made = await board_of(boards)
    results = await asyncio.gather(
        *(boards.replace_board(made.id, 1, name=name, layout=Layout()) for name in ("One", "Two")),
        return_exceptions=True,
    )
    refused = [each for each in results if isinstance(each, EditionPassed)]
    assert len(refused) == 1 and refused[0].problem.details["edition"] == 2
    assert (await boards.board(made.id)).edition == 2
    question = await keep(boards)
    await boards.change_question(question, 1, name="A", chart=None)
    with pytest.raises(EditionPassed):
        await boards.change_question(question, 1, name="B", chart=None)


async def test_a_board_names_the_questions_that_stand_on_it(boards: Boards) -> None:
    one, two = await keep(boards), await keep(boards)
    made = await board_of(boards, one.id, two.id)
    assert await boards.questions_on([made.id]) == {(made.id, one.id), (made.id, two.id)}
    await boards.replace_board(made.id, 1, name="Sales", layout=layout(two.id))
    assert await boards.boards_with(one.id) == set()
    assert await boards.boards_with(two.id) == {made.id}


async def test_the_run_of_a_tile_stays_until_the_tile_goes(boards: Boards) -> None:
    kept = await keep(boards)
    made = await board_of(boards, kept.id)
    for run_id in ("run_2", "run_3"):
        await boards.note_tile_run(made.id, TileRun("t0", kept.id, "digest", run_id))
    assert await boards.tile_runs(made.id) == {"t0": TileRun("t0", kept.id, "digest", "run_3")}
    assert await boards.named_runs() == {"run_1", "run_3"}
    assert await boards.naming("run_3") == [(kept, made.id)]
    await boards.replace_board(made.id, 1, name="Sales", layout=Layout())
    assert await boards.tile_runs(made.id) == {} and await boards.named_runs() == {"run_1"}


async def test_a_question_that_was_run_again_names_both_runs(boards: Boards) -> None:
    kept = await keep(boards)
    await boards.note_run(kept.id, "run_2")
    assert await boards.named_runs() == {"run_1", "run_2"}
    assert [each.id for each, board in await boards.naming("run_2") if board is None] == [kept.id]


async def test_what_is_removed_is_not_there(boards: Boards) -> None:
    kept = await keep(boards)
    made = await board_of(boards, kept.id)
    await boards.note_tile_run(made.id, TileRun("t0", kept.id, "", "run_2"))
    await boards.remove_question(kept.id)
    await boards.remove_board(made.id)
    assert await boards.named_runs() == set()
    for lost in (boards.question(kept.id), boards.remove_question(kept.id)):
        with pytest.raises(NotFound, match="no question"):
            await lost
    for lost in (boards.board(made.id), boards.remove_board(made.id)):
        with pytest.raises(NotFound, match="no board"):
            await lost
    with pytest.raises(NotFound):
        await boards.replace_board(made.id, 1, name="x", layout=Layout())


async def test_a_run_is_not_noted_for_a_board_that_is_gone(boards: Boards) -> None:
    await boards.note_tile_run("b_gone", TileRun("t0", "q", "", "run_2"))
    assert await boards.tile_runs("b_gone") == {}


async def test_one_owner_has_no_more_than_the_limit(boards: Boards, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST_QUESTIONS", 1)
    monkeypatch.setattr(store, "MOST_BOARDS", 1)
    await keep(boards)
    await board_of(boards)
    with pytest.raises(InvalidInput, match="at most 1 kept questions"):
        await keep(boards)
    with pytest.raises(InvalidInput, match="at most 1 boards"):
        await board_of(boards)
    await keep(boards, "bob")


async def test_many_ids_are_asked_for_in_pieces(boards: Boards, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_PIECE", 2)
    kept = [await keep(boards) for _ in range(5)]
    assert set(await boards.questions([*(each.id for each in kept), "q_none"])) == {k.id for k in kept}
    made = await board_of(boards)
    assert set(await boards.boards([made.id, "b_none"])) == {made.id}
