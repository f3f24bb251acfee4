"""Boards: tiles with kept questions and texts, their filters, and what they show."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Request, Response

from sandtable.boards.model import Board, TileRun, digest_of, require_fit
from sandtable.errors import NotFound
from sandtable.quoting import quote
from sandtable.server.boards import views
from sandtable.server.boards.question_routes import ANSWERS, CHANGED, Wait, boards_of
from sandtable.server.boards.results import results_of, shown
from sandtable.server.boards.running import run_again

router = APIRouter(tags=["boards"])

_EXAMPLE: dict[str, Any] = {
    "empty": {"summary": "Without tiles", "value": {"name": "Sales"}},
    "text": {
        "summary": "With a text",
        "value": {
            "name": "Sales",
            "tiles": [{"id": "intro", "text": "## This year", "x": 0, "y": 0, "w": 12, "h": 2}],
        },
    },
}

BoardId = Annotated[str, Path(max_length=64, examples=["b_6f0d1c7e3a514f0e9a530c7a2f1f7d2b"])]
TileId = Annotated[str, Path(max_length=40, examples=["intro"])]


@router.get("/boards", operation_id="list_boards", summary="Boards")
async def list_boards(request: Request) -> list[views.BoardSummary]:
    """Those of the asking user, the last changed first, then those that are shared."""
    boards = boards_of(request)
    return [views.BoardSummary.of(each, await boards.right(each)) for each in await boards.list()]


@router.post(
    "/boards", operation_id="create_board", summary="Make a board", status_code=201, responses=ANSWERS
)
async def create_board(
    request: Request, body: Annotated[views.BoardBody, Body(openapi_examples=_EXAMPLE)]
) -> views.BoardView:
    require_fit(body.layout)
    return await _view(request, await boards_of(request).add(body.name.strip(), body.layout))


@router.get("/boards/{board_id}", operation_id="get_board", summary="One board", responses=ANSWERS)
async def get_board(request: Request, board_id: BoardId) -> views.BoardView:
    return await _view(request, await boards_of(request).get(board_id))


@router.put(
    "/boards/{board_id}",
    operation_id="change_board",
    summary="Replace what a board holds",
    responses=ANSWERS | CHANGED,
)
async def change_board(request: Request, board_id: BoardId, body: views.BoardChange) -> views.BoardView:
    """Refused when `before` is not its current edition any more: then somebody else changed it meanwhile."""
    boards = boards_of(request)
    await boards.get(board_id)
    require_fit(body.layout)
    return await _view(
        request, await boards.replace(board_id, body.before, name=body.name.strip(), layout=body.layout)
    )


@router.delete(
    "/boards/{board_id}",
    operation_id="delete_board",
    summary="Delete a board",
    status_code=204,
    response_class=Response,
    responses=ANSWERS,
)
async def delete_board(request: Request, board_id: BoardId) -> None:
    """The questions on it stay kept."""
    await boards_of(request).remove(board_id)


@router.get(
    "/boards/{board_id}/results",
    operation_id="get_board_results",
    summary="What the tiles of a board show",
    responses=ANSWERS,
)
async def get_board_results(request: Request, board_id: BoardId) -> views.BoardResults:
    """The runs that are kept, all together: nothing is executed. A tile with newer data, or that was not run with the
    board's filters yet, says so."""
    boards = boards_of(request)
    board = await boards.get(board_id)
    return views.BoardResults(results=await results_of(request.app.state.parts, boards, board))


@router.post(
    "/boards/{board_id}/tiles/{tile_id}/run",
    operation_id="run_tile",
    summary="Run the question of a tile with the board's filters",
    responses=ANSWERS,
)
async def run_tile(
    request: Request, board_id: BoardId, tile_id: TileId, body: views.TileRunBody, wait: Wait = 30.0
) -> views.TileResult:
    """A run of the asking user. If that is the question's owner, and the filters are the board's, the tile shows it
    from then on, unless it failed."""
    boards = boards_of(request)
    board = await boards.get(board_id)
    tile = board.tile(tile_id)
    question = (await boards.questions_on(board)).get((tile and tile.question_id) or "")
    if question is None:
        raise NotFound(
            f"the board has no tile {quote(tile_id)} with a question that you may see",
            suggestion=f"GET /boards/{board_id} lists its tiles.",
        )
    filters = board.layout.filters if body.filters is None else body.filters
    run, left = await run_again(request, question, filters, cache=body.cache, wait_s=wait)
    if body.filters is None and (not run.ended or run.status == "succeeded"):
        if len(left) == len(filters):
            await boards.note_run(question, run)
        if filters:
            named = TileRun(tile_id, question.id, digest_of(filters), run.id)
            await boards.note_tile_run(board, question, named, run)
    return await shown(request.app.state.parts, tile_id, question, run, left)


async def _view(request: Request, board: Board) -> views.BoardView:
    boards = boards_of(request)
    questions = await boards.questions_on(board)
    return views.BoardView(
        id=board.id,
        name=board.name,
        owner=board.owner,
        right=await boards.right(board),
        tiles=board.layout.tiles,
        filters=board.layout.filters,
        questions={each.id: views.QuestionView.of(each) for each in questions.values()},
        edition=board.edition,
        created_at=board.created_at,
        updated_at=board.updated_at,
    )
