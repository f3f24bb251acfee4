"""Where kept questions and boards are stored: the same for a SQLite file and a Postgres that servers share.

Invariant: a change of a question's name or of a board names the edition that it was made from, and is made only if that
is still the current one.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from sandtable.boards.model import (
    MOST_BOARDS,
    MOST_QUESTIONS,
    Board,
    EditionPassed,
    KeptQuestion,
    Layout,
    TileRun,
)
from sandtable.chart.figure import FigureKind
from sandtable.errors import InvalidInput, NotFound
from sandtable.quoting import quote
from sandtable.store.opened import OpenedAtFirstUse
from sandtable.store.tables import Statement

_PIECE = 400
"""Ids in one statement."""
_TILES_GONE = "DELETE FROM sandtable_tile_runs WHERE board_id = ?"
_COUNTS = {
    "questions": "SELECT count(*) AS n FROM sandtable_questions WHERE owner = ?",
    "boards": "SELECT count(*) AS n FROM sandtable_boards WHERE owner = ?",
}
_ORDER = "ORDER BY updated_at DESC, id"


class Boards(OpenedAtFirstUse):
    """Kept questions and boards, in tables of a SQLite file or of a shared Postgres."""

    # Questions

    async def keep(
        self,
        owner: str,
        name: str,
        *,
        dataset_id: str,
        question: str,
        fields: Mapping[str, Any],
        run_id: str,
        chart: FigureKind | None = None,
    ) -> KeptQuestion:
        """Raises InvalidInput for an owner who has as many as one may have."""
        await self._require_room("questions", owner, MOST_QUESTIONS, "kept questions")
        now = _now()
        made = KeptQuestion(
            f"q_{uuid4().hex}", owner, dataset_id, name, question, dict(fields), chart, run_id, run_id, 1, now, now
        )  # fmt: skip
        await self._change(
            "INSERT INTO sandtable_questions (id, owner, dataset_id, name, body, kept_run, latest_run, edition,"
            " created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (made.id, owner, dataset_id, name, _body(made), run_id, run_id, 1, now, now),
        )
        return made

    async def question(self, question_id: str) -> KeptQuestion:
        """Raises NotFound."""
        found = await self._rows("SELECT * FROM sandtable_questions WHERE id = ?", question_id)
        if not found:
            raise no_question(question_id)
        return _question(found[0])

    async def questions(self, question_ids: Collection[str]) -> dict[str, KeptQuestion]:
        """Those of them that exist."""
        rows = await self._among("SELECT * FROM sandtable_questions WHERE id", question_ids)
        return {row["id"]: _question(row) for row in rows}

    async def questions_of(self, owner: str | None) -> list[KeptQuestion]:
        """Of an owner, or of all; the last changed first."""
        return [_question(row) for row in await self._owned("SELECT * FROM sandtable_questions", owner)]

    async def change_question(
        self, before: KeptQuestion, edition: int, *, name: str, chart: FigureKind | None
    ) -> KeptQuestion:
        """Raises EditionPassed, NotFound."""
        made = replace(before, name=name, chart=chart, edition=edition + 1, updated_at=_now())
        changed = await self._change(
            "UPDATE sandtable_questions SET name = ?, body = ?, edition = ?, updated_at = ?"
            " WHERE id = ? AND edition = ?",
            (name, _body(made), made.edition, made.updated_at, made.id, edition),
        )
        if not changed:
            raise _passed("question", (await self.question(made.id)).edition)
        return made

    async def note_run(self, question_id: str, run_id: str) -> None:
        """The question shows this run from now on."""
        await self._change(
            "UPDATE sandtable_questions SET latest_run = ? WHERE id = ?", (run_id, question_id)
        )

    async def remove_question(self, question_id: str) -> None:
        """Tiles with it stay, without anything to show. Raises NotFound."""
        if not await self._change("DELETE FROM sandtable_questions WHERE id = ?", (question_id,)):
            raise no_question(question_id)

    # Boards

    async def add_board(self, owner: str, name: str, layout: Layout) -> Board:
        """Raises InvalidInput for an owner who has as many as one may have."""
        await self._require_room("boards", owner, MOST_BOARDS, "boards")
        now = _now()
        made = Board(f"b_{uuid4().hex}", owner, name, layout, 1, now, now)
        await self._change_all(
            (
                "INSERT INTO sandtable_boards (id, owner, name, body, edition, created_at, updated_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (made.id, owner, name, layout.model_dump_json(), 1, now, now),
            ),
            *_named(made),
        )
        return made

    async def board(self, board_id: str) -> Board:
        """Raises NotFound."""
        found = await self._rows("SELECT * FROM sandtable_boards WHERE id = ?", board_id)
        if not found:
            raise no_board(board_id)
        return _board(found[0])

    async def boards(self, board_ids: Collection[str]) -> dict[str, Board]:
        """Those of them that exist."""
        rows = await self._among("SELECT * FROM sandtable_boards WHERE id", board_ids)
        return {row["id"]: _board(row) for row in rows}

    async def boards_of(self, owner: str | None) -> list[Board]:
        """Of an owner, or of all; the last changed first."""
        return [_board(row) for row in await self._owned("SELECT * FROM sandtable_boards", owner)]

    async def replace_board(self, board_id: str, edition: int, *, name: str, layout: Layout) -> Board:
        """Raises EditionPassed, NotFound."""
        before = await self.board(board_id)
        made = replace(before, name=name, layout=layout, edition=edition + 1, updated_at=_now())
        changed = await self._change(
            "UPDATE sandtable_boards SET name = ?, body = ?, edition = ?, updated_at = ?"
            " WHERE id = ? AND edition = ?",
            (name, layout.model_dump_json(), made.edition, made.updated_at, board_id, edition),
        )
        if not changed:
            raise _passed("board", (await self.board(board_id)).edition)
        tiles = tuple(tile.id for tile in layout.tiles)
        others = f" AND tile_id NOT IN ({', '.join('?' * len(tiles))})" if tiles else ""
        await self._change_all(
            ("DELETE FROM sandtable_board_questions WHERE board_id = ?", (board_id,)),
            *_named(made),
            (f"{_TILES_GONE}{others}", (board_id, *tiles)),
        )
        return made

    async def remove_board(self, board_id: str) -> None:
        """Raises NotFound."""
        counts = await self._change_all(
            (_TILES_GONE, (board_id,)),
            ("DELETE FROM sandtable_board_questions WHERE board_id = ?", (board_id,)),
            ("DELETE FROM sandtable_boards WHERE id = ?", (board_id,)),
        )
        if not counts[-1]:
            raise no_board(board_id)

    # What boards name

    async def note_tile_run(self, board_id: str, run: TileRun) -> None:
        """The tile shows this run while the board has these conditions."""
        await self._change(
            "INSERT INTO sandtable_tile_runs (board_id, tile_id, question_id, filters, run_id)"
            " SELECT id, ?, ?, ?, ? FROM sandtable_boards WHERE id = ? ON CONFLICT (board_id, tile_id)"
            " DO UPDATE SET question_id = excluded.question_id, filters = excluded.filters,"
            " run_id = excluded.run_id",
            (run.tile_id, run.question_id, run.filters, run.run_id, board_id),
        )

    async def tile_runs(self, board_id: str) -> dict[str, TileRun]:
        """By the id of the tile."""
        rows = await self._rows("SELECT * FROM sandtable_tile_runs WHERE board_id = ?", board_id)
        return {
            r["tile_id"]: TileRun(r["tile_id"], r["question_id"], r["filters"], r["run_id"]) for r in rows
        }

    async def boards_with(self, question_id: str) -> set[str]:
        """The ids of the boards on which the question stands."""
        rows = await self._rows(
            "SELECT board_id FROM sandtable_board_questions WHERE question_id = ?", question_id
        )
        return {row["board_id"] for row in rows}

    async def questions_on(self, board_ids: Collection[str]) -> set[tuple[str, str]]:
        """Ids of boards with the ids of the questions that stand on them."""
        rows = await self._among(
            "SELECT board_id, question_id FROM sandtable_board_questions WHERE board_id", board_ids
        )
        return {(row["board_id"], row["question_id"]) for row in rows}

    async def naming(self, run_id: str) -> list[tuple[KeptQuestion, str | None]]:
        """The questions that show the run, each with the board on which only that board's tile does."""
        found = await self._rows(
            "SELECT * FROM sandtable_questions WHERE kept_run = ? OR latest_run = ?", run_id, run_id
        )
        tiles = await self._rows("SELECT * FROM sandtable_tile_runs WHERE run_id = ?", run_id)
        behind = await self.questions({row["question_id"] for row in tiles})
        named: list[tuple[KeptQuestion, str | None]] = [(_question(row), None) for row in found]
        named += [
            (behind[row["question_id"]], row["board_id"]) for row in tiles if row["question_id"] in behind
        ]
        return named

    async def named_runs(self) -> set[str]:
        """All runs that a question or a tile shows: retention leaves them alone."""
        kept = await self._rows("SELECT kept_run, latest_run FROM sandtable_questions")
        tiles = await self._rows("SELECT run_id FROM sandtable_tile_runs")
        return {run for row in kept for run in (row["kept_run"], row["latest_run"])} | {
            row["run_id"] for row in tiles
        }

    # The tables

    async def _require_room(self, kind: str, owner: str, most: int, what: str) -> None:
        [row] = await self._rows(_COUNTS[kind], owner)
        if row["n"] >= most:
            raise InvalidInput(
                f"one user has at most {most:,} {what}",
                suggestion="Delete some that are not needed any more.",
            )

    async def _owned(self, every: str, owner: str | None) -> list[dict[str, Any]]:
        if owner is None:
            return await self._rows(f"{every} {_ORDER}")
        return await self._rows(f"{every} WHERE owner = ? {_ORDER}", owner)

    async def _among(self, sql: str, ids: Collection[str]) -> list[dict[str, Any]]:
        wanted, found = sorted(ids), list[dict[str, Any]]()
        for start in range(0, len(wanted), _PIECE):
            piece = wanted[start : start + _PIECE]
            found += await self._rows(f"{sql} IN ({', '.join('?' * len(piece))})", *piece)
        return found


def no_question(question_id: str) -> NotFound:
    return NotFound(
        f"no question {quote(question_id)} is kept here", suggestion="GET /questions lists those that are."
    )


def no_board(board_id: str) -> NotFound:
    return NotFound(f"there is no board {quote(board_id)}", suggestion="GET /boards lists those that are.")


def _passed(what: str, current: int) -> EditionPassed:
    return EditionPassed(
        f"the {what} was changed by somebody else meanwhile",
        suggestion="Read it again, and make the change from there.",
        edition=current,
    )


def _named(board: Board) -> Sequence[Statement]:
    sql = "INSERT INTO sandtable_board_questions (board_id, question_id) VALUES (?, ?)"
    return [(sql, (board.id, question_id)) for question_id in board.layout.question_ids]


def _body(question: KeptQuestion) -> str:
    made = {"question": question.question, "fields": dict(question.fields), "chart": question.chart}
    return json.dumps(made, ensure_ascii=False, sort_keys=True)


def _question(row: Mapping[str, Any]) -> KeptQuestion:
    body = json.loads(row["body"])
    return KeptQuestion(
        row["id"],
        row["owner"],
        row["dataset_id"],
        row["name"],
        body["question"],
        body["fields"],
        body["chart"],
        row["kept_run"],
        row["latest_run"],
        row["edition"],
        row["created_at"],
        row["updated_at"],
    )


def _board(row: Mapping[str, Any]) -> Board:
    layout = Layout.model_validate_json(row["body"])
    return Board(
        row["id"], row["owner"], row["name"], layout, row["edition"], row["created_at"], row["updated_at"]
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
