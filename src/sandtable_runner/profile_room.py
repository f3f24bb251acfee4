"""How the columns of a profile share the bytes of its answer.

Invariant: a column loses values only when it has more than an even share, and its rarest ones first.
"""

from __future__ import annotations

from typing import Any

from sandtable_runner.encode import text_size

Column = dict[str, Any]
_NAMES_AND_NUMBERS = 160
"""Approximate bytes of a column beside its name, its ends, its values and its bins."""


class Room:
    """The bytes of the answer, shared by its columns. With too many columns, bins are dropped first, then ends."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._columns: list[Column] = []
        self._values: list[int] = []
        self._fixed = 0
        self._held = 0
        self._without: list[tuple[str, ...]] = []

    def take(self, column: Column) -> None:
        self._columns.append(column)
        for names in self._without:
            _clear(column, names)
        self._fixed += _fixed_size(column)
        self._values.append(_values_size(column))
        self._held += self._values[-1]
        for names in (("edges", "counts"), ("minimum", "maximum")):
            if self._fixed > self._most // 2 and names not in self._without:
                self._do_without(names)
        # Sharing reads every value, so it is not done for every column.
        if self._fixed + self._held > 2 * self._most:
            self.share()

    def _do_without(self, names: tuple[str, ...]) -> None:
        self._without.append(names)
        for column in self._columns:
            _clear(column, names)
        self._fixed = sum(map(_fixed_size, self._columns))

    def share(self) -> None:
        """Cut columns with more than an even share, the rarest values first."""
        share = _even_share(self._values, self._most - self._fixed)
        for index, column in enumerate(self._columns):
            if self._values[index] > share:
                _cut(column, share)
                self._values[index] = _values_size(column)
        self._held = sum(self._values)


def _clear(column: Column, names: tuple[str, ...]) -> None:
    for name in names:
        column[name] = [] if isinstance(column[name], list) else None


def _even_share(sizes: list[int], room: int) -> int:
    """The largest share for each, when columns that need less leave the rest to the others."""
    left = room
    for taken, size in enumerate(sorted(sizes)):
        share = max(0, left) // (len(sizes) - taken)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def _cut(column: Column, share: int) -> None:
    kept, size = 0, 0
    for value in column["values"]:
        size += _pair_size(value)
        if size > share:
            break
        kept += 1
    del column["values"][kept:]
    column["complete"] = False


def _fixed_size(column: Column) -> int:
    ends = sum(_cell_size(column[end]) for end in ("minimum", "maximum"))
    bins = sum(len(repr(number)) + 2 for name in ("edges", "counts") for number in column[name])
    return _NAMES_AND_NUMBERS + text_size(column["name"]) + ends + bins


def _values_size(column: Column) -> int:
    return sum(map(_pair_size, column["values"]))


def _pair_size(pair: list[Any]) -> int:
    return _cell_size(pair[0]) + len(repr(pair[1])) + 6


def _cell_size(cell: Any) -> int:
    return text_size(cell) if isinstance(cell, str) else len(repr(cell))
