"""What is different between two versions of a dataset: tables, rows, columns, types, cells that do not fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ConfigDict, Field

from sandtable.catalog.model import Dataset, Table
from sandtable.catalog.stored.conversions import Findings


class VersionChanges(BaseModel):
    """Columns are named with their table: `orders.price`."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    tables_added: tuple[str, ...] = ()
    tables_removed: tuple[str, ...] = ()
    rows: dict[str, tuple[int | None, int | None]] = Field(default_factory=dict)
    """By table, before and after."""
    columns_added: tuple[str, ...] = ()
    columns_removed: tuple[str, ...] = ()
    retyped: dict[str, tuple[str, str]] = Field(default_factory=dict)
    """By column, before and after."""
    reread: tuple[str, ...] = ()
    """Columns of the same type that are read in another way, such as by another date format."""
    misfits: dict[str, int] = Field(default_factory=dict)
    """By column, cells that do not fit, where there are more than before."""

    @property
    def in_words(self) -> tuple[str, ...]:
        return tuple(self._words())

    def _words(self) -> Iterator[str]:
        yield from (f"table {name} added" for name in self.tables_added)
        yield from (f"table {name} removed" for name in self.tables_removed)
        for table, (before, after) in self.rows.items():
            yield f"{table}: {_count(before)} rows before, {_count(after)} now"
        yield from (f"column {name} added" for name in self.columns_added)
        yield from (f"column {name} removed" for name in self.columns_removed)
        yield from (f"column {name} was {old} and is {new}" for name, (old, new) in self.retyped.items())
        yield from (f"column {name} is read in another way" for name in self.reread)
        for name, count in self.misfits.items():
            yield f"{count:,} cell{'s' * (count != 1)} of {name} do{'es' * (count == 1)} not fit"


def _count(rows: int | None) -> str:
    return "unknown" if rows is None else f"{rows:,}"


def changes_of(
    before: Dataset, after: Dataset, found_before: Mapping[str, Findings], found_after: Mapping[str, Findings]
) -> VersionChanges:
    pairs = [(old, new) for new in after.tables if (old := before.table(new.name)) is not None]
    both = [
        (f"{new.name}.{column.name}", old, new, column.name)
        for old, new in pairs
        for column in new.columns
        if old.column(column.name) is not None
    ]
    types = {place: (_type(old, name), _type(new, name)) for place, old, new, name in both}
    known = _misfits(found_before)
    return VersionChanges(
        tables_added=tuple(t.name for t in after.tables if before.table(t.name) is None),
        tables_removed=tuple(t.name for t in before.tables if after.table(t.name) is None),
        rows={new.name: (old.rows, new.rows) for old, new in pairs if old.rows != new.rows},
        columns_added=tuple(place for old, new in pairs for place in _lacking(old, new)),
        columns_removed=tuple(place for old, new in pairs for place in _lacking(new, old)),
        retyped={place: each for place, each in types.items() if each[0] != each[1]},
        reread=tuple(
            place
            for place, old, new, name in both
            if types[place][0] == types[place][1] and _reading(old, name) != _reading(new, name)
        ),
        misfits={p: n for p, n in _misfits(found_after).items() if n > known.get(p, 0)},
    )


def _lacking(table: Table, other: Table) -> Iterator[str]:
    """Columns of the other that the table does not have."""
    return (f"{other.name}.{c.name}" for c in other.columns if table.column(c.name) is None)


def _type(table: Table, name: str) -> str:
    column = table.column(name)
    return "" if column is None else f"{column.sql_type} in {column.unit}" if column.unit else column.sql_type


def _reading(table: Table, name: str) -> object:
    columns = table.recipe.columns if table.recipe else ()
    found = (c.model_copy(update={"reason": ""}) for c in columns if c.name.lower() == name.lower())
    return next(found, None)


def _misfits(findings: Mapping[str, Findings]) -> dict[str, int]:
    return {f"{t}.{c}": n for t, found in findings.items() for c, n in found.misfit_counts.items()}
