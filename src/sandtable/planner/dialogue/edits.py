"""The edits that a follow-up can ask for. `applying` applies them to a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sandtable.planner.language.periods import Period
from sandtable.planner.schema.entries import Json

How = Literal["replace", "beside", "after"]


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows behind the answer."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows there are behind the answer."""


@dataclass(frozen=True, slots=True)
class Drop:
    """Conditions, by their paths in the plan; `("limit",)` for the limit."""

    paths: tuple[tuple[str | int, ...], ...]


@dataclass(frozen=True, slots=True)
class Ungroup:
    keep: tuple[str, ...] = ()
    """Names of the keys that stay."""


@dataclass(frozen=True, slots=True)
class Share:
    """Shares of the total instead of amounts."""


@dataclass(frozen=True, slots=True)
class Along:
    """The change along the time key."""

    percent: bool = False


@dataclass(frozen=True, slots=True)
class Top:
    count: int | None
    down: bool | None
    """None: in the order of the answer."""
    place: int | None = None
    """Only the second, the third."""


@dataclass(frozen=True, slots=True)
class Sort:
    key: str | None
    """None: by the first measure."""
    down: bool


@dataclass(frozen=True, slots=True)
class Narrow:
    conditions: tuple[Json, ...]
    adding: bool = False
    """`Berlin too`: beside the value that is kept now."""


@dataclass(frozen=True, slots=True)
class Window:
    window: Json


@dataclass(frozen=True, slots=True)
class Group:
    items: tuple[Json, ...]
    adding: bool


@dataclass(frozen=True, slots=True)
class Measures:
    items: tuple[Json, ...]
    how: How


@dataclass(frozen=True, slots=True)
class Versus:
    """Another period beside the previous one."""

    mine: Period
    other: Period


@dataclass(frozen=True, slots=True)
class VersusValue:
    """Another value of the same column beside the previous one."""

    path: tuple[str | int, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Within:
    """Another question about the same rows."""

    plan: Json


Change = (
    Rows | Count | Drop | Ungroup | Share | Along | Top | Sort | Narrow | Window | Group | Measures | Versus
    | VersusValue | Within
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Edit:
    change: Change
    words: frozenset[int] = frozenset()
    """Places of the words that ask for it and that name no part of the plan."""
