"""The request and response models of kept questions and boards: the source of their OpenAPI description."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sandtable.boards.filtering import NotApplied
from sandtable.boards.model import (
    LONGEST_NAME,
    MOST_CONDITIONS,
    MOST_TILES,
    Board,
    Condition,
    KeptQuestion,
    Layout,
    Tile,
)
from sandtable.chart.figure import FigureKind
from sandtable.server.access.boards import BoardRight
from sandtable.server.views import Count, RunView

_NAME = r"\S"


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Shown(BaseModel):
    model_config = ConfigDict(frozen=True)


class KeepBody(_Body):
    run_id: str = Field(min_length=1, max_length=128, description="A run that gave an answer.")
    name: str = Field(min_length=1, max_length=LONGEST_NAME, pattern=_NAME)
    chart: FigureKind | None = Field(
        None, description="The kind of chart to show; left out: the one that fits."
    )


class QuestionChange(_Body):
    before: Count = Field(description="The edition that the change was made from.")
    name: str | None = Field(None, min_length=1, max_length=LONGEST_NAME, pattern=_NAME)
    chart: FigureKind | None = Field(None, description="null: the one that fits. Left out: as it is.")


class RunAgainBody(_Body):
    cache: bool = Field(False, strict=True, description="Whether an earlier, identical run may answer.")


class TileRunBody(RunAgainBody):
    filters: tuple[Condition, ...] | None = Field(
        None,
        max_length=MOST_CONDITIONS,
        description="Other filters than the board's, for this run alone; the tile then goes on showing its run.",
    )


class BoardBody(_Body):
    name: str = Field(min_length=1, max_length=LONGEST_NAME, pattern=_NAME)
    tiles: tuple[Tile, ...] = Field((), max_length=MOST_TILES)
    filters: tuple[Condition, ...] = Field((), max_length=MOST_CONDITIONS)

    @property
    def layout(self) -> Layout:
        return Layout(tiles=self.tiles, filters=self.filters)


class BoardChange(BoardBody):
    before: Count = Field(description="The edition that the change was made from.")


class QuestionView(_Shown):
    id: str
    name: str
    owner: str
    question: str = Field(description="As it was asked; empty where a plan or SQL was sent.")
    dataset_id: str
    kind: Literal["plan", "sql", "python"]
    plan: dict[str, Any] | None
    sql: str | None
    python: str | None
    chart: FigureKind | None
    kept_run: str = Field(description="The run that it was kept from.")
    latest_run: str = Field(description="The run that it shows.")
    edition: int
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, kept: KeptQuestion) -> QuestionView:
        given = {name: kept.fields.get(name) for name in ("plan", "sql", "python")}
        kind = next(name for name, value in given.items() if value is not None)
        same = {name: getattr(kept, name) for name in cls.model_fields if hasattr(kept, name)}
        return cls.model_validate({**same, **given, "kind": kind})


class BoardSummary(_Shown):
    id: str
    name: str
    owner: str
    right: BoardRight
    tiles: int
    edition: int
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, board: Board, right: BoardRight) -> BoardSummary:
        return cls(
            id=board.id,
            name=board.name,
            owner=board.owner,
            right=right,
            tiles=len(board.layout.tiles),
            edition=board.edition,
            created_at=board.created_at,
            updated_at=board.updated_at,
        )


class BoardView(_Shown):
    id: str
    name: str
    owner: str
    right: BoardRight = Field(description="What the asking user may do with it.")
    tiles: tuple[Tile, ...]
    filters: tuple[Condition, ...]
    questions: dict[str, QuestionView] = Field(
        description="Those on its tiles, by id. One that is missing was deleted, or is not shared with the user."
    )
    edition: int
    created_at: str
    updated_at: str


class NotFilteredView(_Shown):
    column: str
    reason: str

    @classmethod
    def of(cls, left: NotApplied) -> NotFilteredView:
        return cls(column=left.column, reason=left.reason)


class TileResult(_Shown):
    """What a tile shows."""

    tile_id: str
    run: RunView | None = Field(description="With at most 50 rows; nothing where there is nothing to show.")
    sentence: str = Field(description="The result in words; empty for a run without a result.")
    not_filtered: tuple[NotFilteredView, ...] = Field(
        description="Filters that do not apply to the tile, each with the reason."
    )
    newer_data: bool = Field(description="Whether the dataset has a newer version than the run read.")
    missing: Literal["", "question", "run", "filters"] = Field(
        description="Why there is no run: the question is gone or not shared, its run is, or it was not run with these"
        " filters yet."
    )


class BoardResults(_Shown):
    results: tuple[TileResult, ...] = Field(description="Of the tiles with questions, in their order.")
