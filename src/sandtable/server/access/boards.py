"""Kept questions and boards as the principal may see them.

Invariant: a board shows others only the questions, and the runs that these show, of the board's own owner: what was
shared with a person is not passed on by that person's board.
"""

from __future__ import annotations

from typing import Literal

from sandtable.accounts.asking import Asking, asking
from sandtable.accounts.refusals import NotAllowed
from sandtable.accounts.shares import Right, Thing
from sandtable.boards.model import Board, KeptQuestion, Layout, TileRun
from sandtable.boards.store import Boards, no_board, no_question
from sandtable.chart.figure import FigureKind
from sandtable.runs.model import Run

BoardRight = Literal["own", "edit", "see"]


class SeenBoards:
    """Has what routes use of `Boards`."""

    def __init__(self, every: Boards) -> None:
        self._every = every

    # Questions

    async def keep(
        self, name: str, run: Run, fields: dict[str, object], chart: FigureKind | None
    ) -> KeptQuestion:
        """`run` was shown to the principal."""
        return await self._every.keep(
            asking().principal.user,
            name,
            dataset_id=run.request.dataset_id,
            question=run.request.question,
            fields=fields,
            run_id=run.id,
            chart=chart,
        )

    async def question(self, question_id: str) -> KeptQuestion:
        """Raises NotFound."""
        found, question = asking(), await self._every.question(question_id)
        if not await sees_question(self._every, question, found):
            raise no_question(question_id)
        found.note_look("question", question.id, question.owner)
        return question

    async def questions(self) -> list[KeptQuestion]:
        """The principal's own, then those that are shared with it by themselves."""
        found = asking()
        if found.principal.sees_all:
            found.note_list("question")
            return await self._every.questions_of(None)
        own = await self._every.questions_of(found.principal.user)
        granted = await found.shares.granted("question", found.principal)
        others = await self._every.questions({thing.id for thing in granted} - {each.id for each in own})
        return [*own, *(each for each in others.values() if _thing(each) in granted)]

    async def questions_on(self, board: Board) -> dict[str, KeptQuestion]:
        """Those of a board that the principal may see; the board was shown to it."""
        found, shown = asking(), dict[str, KeptQuestion]()
        for question_id, question in (await self._every.questions(board.layout.question_ids)).items():
            if question.owner == board.owner or await sees_question(self._every, question, found):
                shown[question_id] = question
        return shown

    async def change_question(
        self, question_id: str, edition: int, *, name: str, chart: FigureKind | None
    ) -> KeptQuestion:
        question = await self._own_question(question_id)
        return await self._every.change_question(question, edition, name=name, chart=chart)

    async def remove_question(self, question_id: str) -> None:
        question = await self._own_question(question_id)
        await self._every.remove_question(question.id)
        await asking().shares.forget("question", [question.id])

    async def note_run(self, question: KeptQuestion, run: Run) -> None:
        """From now on the question shows the run, if its owner made it."""
        if _is_the_owners(question, run):
            await self._every.note_run(question.id, run.id)

    async def note_tile_run(self, board: Board, question: KeptQuestion, run: TileRun, made: Run) -> None:
        if _is_the_owners(question, made) and await self.right(board) != "see":
            await self._every.note_tile_run(board.id, run)

    async def tile_runs(self, board: Board) -> dict[str, TileRun]:
        return await self._every.tile_runs(board.id)

    # Boards

    async def add(self, name: str, layout: Layout) -> Board:
        await self._require_questions(layout, ())
        return await self._every.add_board(asking().principal.user, name, layout)

    async def get(self, board_id: str) -> Board:
        """Raises NotFound."""
        found, board = asking(), await self._every.board(board_id)
        if await _right(board, found) is None:
            raise no_board(board_id)
        found.note_look("board", board.id, board.owner)
        return board

    async def list(self) -> list[Board]:
        """The principal's own, then those that are shared with it."""
        found = asking()
        if found.principal.sees_all:
            found.note_list("board")
            return await self._every.boards_of(None)
        own = await self._every.boards_of(found.principal.user)
        granted = await found.shares.granted("board", found.principal)
        others = await self._every.boards({thing.id for thing in granted} - {each.id for each in own})
        return [*own, *(each for each in others.values() if _thing(each) in granted)]

    async def right(self, board: Board) -> BoardRight:
        return await _right(board, asking()) or "see"

    async def replace(self, board_id: str, edition: int, *, name: str, layout: Layout) -> Board:
        board = await self.get(board_id)
        if await self.right(board) == "see":
            raise NotAllowed(
                f"this board belongs to {board.owner}, and is shared with you to look at",
                suggestion=f"Ask {board.owner} to share it for editing.",
                board=board_id,
            )
        await self._require_questions(layout, board.layout.question_ids)
        return await self._every.replace_board(board_id, edition, name=name, layout=layout)

    async def remove(self, board_id: str) -> None:
        board = await self.get(board_id)
        if not asking().owns(board.owner):
            raise NotAllowed(
                f"this board belongs to {board.owner}",
                suggestion=f"Ask {board.owner} to delete it.",
                board=board_id,
            )
        await self._every.remove_board(board_id)
        await asking().shares.forget("board", [board_id])

    # What may be done

    async def _own_question(self, question_id: str) -> KeptQuestion:
        """Raises NotFound, and NotAllowed for one that may only be seen."""
        question = await self.question(question_id)
        if not asking().owns(question.owner):
            raise NotAllowed(
                f"this question was kept by {question.owner}, and is shared with you to look at",
                suggestion="Keep the answer under a name of your own.",
                question=question_id,
            )
        return question

    async def _require_questions(self, layout: Layout, already: tuple[str, ...]) -> None:
        """Raises NotFound for a question that is put on the board and may not be seen."""
        for question_id in layout.question_ids:
            if question_id not in already:
                await self.question(question_id)


async def sees_question(every: Boards, question: KeptQuestion, found: Asking) -> bool:
    """Whether the principal may: its own, one that is shared, or one on a board of its owner that is shared."""
    if found.owns(question.owner):
        return True
    if await found.shares.right(_thing(question), found.principal) is not None:
        return True
    standing = await every.boards(await every.boards_with(question.id))
    return any([
        board.owner == question.owner and await _right(board, found) is not None
        for board in standing.values()
    ])  # fmt: skip


async def shows_run(every: Boards, run_id: str, user: str, found: Asking) -> bool:
    """Whether a question or a board that the principal may see shows this run of `user`."""
    for question, board_id in await every.naming(run_id):
        if question.owner != user:
            continue
        if board_id is None and await sees_question(every, question, found):
            return True
        board = None if board_id is None else (await every.boards([board_id])).get(board_id)
        if board is not None and board.owner == user and await _right(board, found) is not None:
            return True
    return False


async def _right(board: Board, found: Asking) -> BoardRight | None:
    if found.owns(board.owner):
        return "own"
    right: Right | None = await found.shares.right(_thing(board), found.principal)
    return right


def _thing(kept: KeptQuestion | Board) -> Thing:
    return Thing("question" if isinstance(kept, KeptQuestion) else "board", kept.id, kept.owner)


def _is_the_owners(question: KeptQuestion, run: Run) -> bool:
    """A run of somebody else would not be there for the owner. Without people, all runs are there for all."""
    principal = asking().principal
    return run.request.user == question.owner or (principal.sees_all and not principal.is_admin)
