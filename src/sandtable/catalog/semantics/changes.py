"""What differs between two documents, place by place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from sandtable.catalog.semantics.model import Semantics

_NOTHING: tuple[Any, ...] = (None, "", [], {}, False)


@dataclass(frozen=True, slots=True)
class Change:
    place: str
    """Such as `tables.orders.columns.amount.unit`."""
    before: Any
    after: Any
    """None for nothing."""


def changes(before: Semantics, after: Semantics) -> tuple[Change, ...]:
    """What matters to an answer, and the questions to begin with."""
    sides = [
        each.model_dump(mode="json", exclude_none=True, exclude={"format", "dataset", "unused"})
        for each in (before, after)
    ]
    return tuple(_compared(sides[0], sides[1], ()))


def _compared(before: Any, after: Any, path: tuple[str, ...]) -> Iterator[Change]:
    sides = [cast(dict[str, Any], each) if isinstance(each, dict) else None for each in (before, after)]
    if any(side is not None for side in sides) and not _is_whole(path, before, after):
        known = [side or {} for side in sides]
        for name in dict.fromkeys([*known[0], *known[1]]):
            yield from _compared(known[0].get(name), known[1].get(name), (*path, name))
    elif before != after and not (before in _NOTHING and after in _NOTHING):
        yield Change(".".join(path), _shown(before), _shown(after))


def _is_whole(path: tuple[str, ...], before: Any, after: Any) -> bool:
    """A metric that is new or gone, and a side of one: their parts mean little alone."""
    return path[:1] == ("metrics",) and (len(path) > 2 or (len(path) == 2 and None in (before, after)))


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: each for key, each in cast(dict[str, Any], value).items() if each not in _NOTHING}
    return None if value in _NOTHING else value
