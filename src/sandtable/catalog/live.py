"""Tables that a connected database holds: where each lies, and how its columns are read.

Invariant: the names here are the database's own. They reach a query as quoted identifiers only.
"""

from __future__ import annotations

from typing import Literal

from pydantic.dataclasses import dataclass

from sandtable.catalog.recipe import DatabaseKind

Read = Literal["plain", "utc", "text", "double", "bits"]
"""How a column is read: as it is, as a time in UTC, as its text, as a number of double precision, as the number that
its bits are."""


@dataclass(frozen=True)
class RemoteColumn:
    name: str
    """In the dataset."""
    source: str
    """In the database."""
    type: str
    """The database's type as a person writes it, such as `numeric(10,2)`."""
    read: Read = "plain"


@dataclass(frozen=True)
class RemoteTable:
    name: str
    """In the dataset."""
    db_schema: str
    db_table: str
    columns: tuple[RemoteColumn, ...]

    def column(self, name: str) -> RemoteColumn | None:
        """By its name in the dataset, regardless of case."""
        wanted = name.lower()
        return next((each for each in self.columns if each.name.lower() == wanted), None)


@dataclass(frozen=True)
class LiveDatabase:
    """What a dataset whose rows stay in a database is read from."""

    kind: DatabaseKind
    source: str
    """The name of the connected source."""
    tables: tuple[RemoteTable, ...]

    def table(self, name: str) -> RemoteTable | None:
        wanted = name.lower()
        return next((each for each in self.tables if each.name.lower() == wanted), None)
