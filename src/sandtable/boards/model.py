"""A kept question, a board, and what stands on it.

Invariant: the tiles of a board lie within its 12 columns and do not overlap, and each of its conditions is one that a
plan can hold.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from sandtable.capsule.query import Query, query_of
from sandtable.chart.figure import FigureKind
from sandtable.errors import ErrorCode, InvalidInput, SandtableError
from sandtable.plan.filters import Comparison, FilterOp
from sandtable.quoting import quote

COLUMNS = 12
MOST_TILES = 60
MOST_CONDITIONS = 20
MOST_ROWS_DOWN = 1000
LONGEST_NAME = 120
LONGEST_TEXT = 4000
MOST_QUESTIONS = 2000
MOST_BOARDS = 500
"""Of one owner."""
TILE_ID = "^[A-Za-z0-9_-]{1,40}$"

Show = Literal["all", "sentence", "chart", "table"]
Value = str | int | float | bool


class EditionPassed(SandtableError):
    """Somebody else changed it meanwhile (409)."""

    code = ErrorCode.VALIDATION_ERROR


def _whole(number: Any) -> Any:
    return int(number) if isinstance(number, float) and number.is_integer() else number


Whole = Annotated[int, Field(strict=True), BeforeValidator(_whole)]
"""An integer as JSON Schema has it: `5.0` is one."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Condition(_Strict):
    """One condition on one column, which is added to the plan of every tile whose dataset has the column."""

    column: str = Field(
        min_length=1,
        max_length=256,
        description="A column, or `table.column` where several tables have a column of the name.",
        examples=["region"],
    )
    op: FilterOp = Field(description="How to compare, as in a plan.")
    value: Value | tuple[Value, ...] | None = Field(
        default=None, description="As in a plan: a list for `in`, `not_in` and `between`."
    )

    @model_validator(mode="after")
    def _is_one_of_a_plan(self) -> Condition:
        if isinstance(self.value, tuple) and len(self.value) > 200:
            raise ValueError("at most 200 values can be given")
        try:
            Comparison.model_validate(self.in_plan(self.column))
        except ValidationError as error:
            raise ValueError(error.errors()[0]["msg"]) from error
        return self

    def in_plan(self, column: str) -> dict[str, Any]:
        made: dict[str, Any] = {"column": column, "op": self.op}
        if self.value is not None:
            made["value"] = list(self.value) if isinstance(self.value, tuple) else self.value
        return made


class Tile(_Strict):
    """A kept question or a text, with its place on the grid."""

    id: str = Field(pattern=TILE_ID, description="Chosen by the client; unique on its board.")
    question_id: str | None = Field(default=None, max_length=64)
    text: str | None = Field(default=None, max_length=LONGEST_TEXT)
    show: Show = Field(default="all", description="Which part of the answer the tile shows.")
    x: Whole = Field(ge=0, lt=COLUMNS, description="The column in which it begins.")
    y: Whole = Field(ge=0, lt=MOST_ROWS_DOWN, description="The row in which it begins.")
    w: Whole = Field(ge=1, le=COLUMNS, description="How many columns it is wide.")
    h: Whole = Field(ge=1, le=24, description="How many rows it is high.")

    @model_validator(mode="after")
    def _is_one_thing_on_the_grid(self) -> Tile:
        if (self.question_id is None) == (self.text is None):
            raise ValueError("a tile has either `question_id` or `text`")
        if self.x + self.w > COLUMNS:
            raise ValueError(f"a tile ends within {COLUMNS} columns: `x` and `w` together are more")
        return self

    def overlaps(self, other: Tile) -> bool:
        beside = self.x + self.w <= other.x or other.x + other.w <= self.x
        below = self.y + self.h <= other.y or other.y + other.h <= self.y
        return not (beside or below)


class Layout(_Strict):
    """What a board holds, as one document."""

    tiles: tuple[Tile, ...] = Field(default=(), max_length=MOST_TILES)
    filters: tuple[Condition, ...] = Field(default=(), max_length=MOST_CONDITIONS)

    @property
    def question_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(tile.question_id for tile in self.tiles if tile.question_id))


@dataclass(frozen=True, slots=True)
class KeptQuestion:
    id: str
    owner: str
    """The user who kept it, as runs name users."""
    dataset_id: str
    name: str
    question: str
    """As it was asked; empty where a plan or SQL was sent."""
    fields: Mapping[str, Any]
    """Of the query: exactly one of `plan`, `sql` and `python`, and `names`."""
    chart: FigureKind | None
    """The kind of chart that is wished for; None for the one that fits."""
    kept_run: str
    latest_run: str
    """The run that it shows: the last one that its owner made of it."""
    edition: int
    created_at: str
    updated_at: str

    @property
    def query(self) -> Query:
        return query_of(**self.fields, what="a kept question")

    @property
    def plan(self) -> dict[str, Any] | None:
        return self.fields.get("plan")


@dataclass(frozen=True, slots=True)
class Board:
    id: str
    owner: str
    name: str
    layout: Layout
    edition: int
    created_at: str
    updated_at: str

    def tile(self, tile_id: str) -> Tile | None:
        return next((tile for tile in self.layout.tiles if tile.id == tile_id), None)


@dataclass(frozen=True, slots=True)
class TileRun:
    tile_id: str
    question_id: str
    filters: str
    """`digest_of` the conditions that it was made with."""
    run_id: str


def require_fit(layout: Layout) -> None:
    """Raises InvalidInput for tiles that cannot stand together."""
    ids = [tile.id for tile in layout.tiles]
    twice = next((each for each in ids if ids.count(each) > 1), None)
    if twice is not None:
        raise InvalidInput(
            f"two tiles have the id {quote(twice)}", suggestion="Give each tile its own id.", field="tiles"
        )
    for one, other in combinations(layout.tiles, 2):
        if one.overlaps(other):
            raise InvalidInput(
                f"the tiles {quote(one.id)} and {quote(other.id)} overlap",
                suggestion="Move one of them to free rows or columns.",
                field="tiles",
            )


def digest_of(filters: Sequence[Condition]) -> str:
    """The same for the same conditions in any order; empty without any."""
    if not filters:
        return ""
    texts = sorted({json.dumps(each.model_dump(mode="json"), sort_keys=True) for each in filters})
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()
