"""The request and response models of connected databases: the source of their OpenAPI description.

Invariant: no answer has a field for a password, or for the name of a variable that holds one.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sandtable.server.access.sources import MayConnect, SeenSource
from sandtable.sources.answers import KINDS, FoundTable
from sandtable.sources.landing import MOST_TABLES
from sandtable.sources.live import PUSHED
from sandtable.sources.sources import Connected

NAME = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$"
_SECRET: dict[str, Any] = {"format": "password", "writeOnly": True}


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Shown(BaseModel):
    model_config = ConfigDict(frozen=True)


class DatabaseBody(_Body):
    url: str = Field(
        min_length=1,
        max_length=2000,
        repr=False,
        description="Such as `postgresql://ROLE@HOST:5432/DATABASE`. Files and sockets of the server cannot be named.",
    )
    name: str = Field(
        pattern=NAME, description="Of the database here, and the id of the dataset that its tables become."
    )
    password: str | None = Field(
        None,
        max_length=1000,
        repr=False,
        json_schema_extra=_SECRET,
        description="Of the role; or a part of `url`. It is in no answer.",
    )
    only_schema: str = Field(
        "", max_length=255, alias="schema", description="The one schema that is looked at; else all."
    )
    allow_writer: str = Field(
        "", max_length=255, description="The name of the role, to use it although it can write."
    )


class TablesBody(_Body):
    """Tables to copy, or to ask about where they are."""

    tables: list[str] = Field(
        default_factory=list,
        max_length=MOST_TABLES,
        description="As GET /database/{name} names them; empty: those that the dataset has, as they are now.",
        json_schema_extra={"items": {"type": "string", "maxLength": 600}},
    )
    title: str = Field("", max_length=1000, description="Of the dataset.")


class LiveDataset(_Shown):
    dataset_id: str
    version: str
    """Of the columns; the rows are not pinned."""
    outcome: Literal["added", "changed", "unchanged"]
    notes: tuple[str, ...]


class DatabaseView(_Shown):
    name: str
    kind: str
    """Such as `postgresql`."""
    host: str
    port: int
    database: str
    role: str
    place: str
    """For people: `shop on db.example.org`."""
    sslmode: str
    only_schema: str
    """The one schema that is looked at; empty for all."""
    allowed_writer: str
    """The role that is used although it can write."""
    owner: str
    """Whose it is; empty for one that was connected on the server's machine."""
    connected_at: str
    dataset_id: str | None
    """The dataset that its tables became, where there is one."""
    copied_at: str | None
    """When they were last copied."""
    copied: tuple[str, ...]
    """The tables that the dataset has, by their names in the database."""
    live: bool
    """Whether the dataset's rows stay in the database."""
    can_be_live: bool
    """Whether its tables can be asked about where they are."""

    @classmethod
    def fields_of(cls, seen: SeenSource) -> dict[str, Any]:
        source = seen.source
        named = ("name", "kind", "host", "port", "database", "role", "place", "sslmode", "only_schema")
        more = ("allowed_writer", "owner", "connected_at")
        shown = {name: getattr(source, name) for name in (*named, *more)}
        made = {"dataset_id": seen.dataset_id, "copied_at": seen.copied_at, "copied": seen.copied}
        return {**shown, **made, "live": seen.live, "can_be_live": source.kind in PUSHED}


class DatabaseTable(_Shown):
    name: str
    """With its schema: `shop.orders`."""
    kind: str
    """`table`, `view` …"""
    rows: int | None
    """As the database estimates them."""
    columns: int

    @classmethod
    def of(cls, table: FoundTable) -> DatabaseTable:
        return cls(name=table.shown, kind=KINDS[table.kind], rows=table.rows, columns=len(table.columns))


class DatabaseLook(DatabaseView):
    """A database as it is now: what its role can do, and the tables that it can read."""

    encrypted: bool
    overruled: tuple[str, ...]
    """What the role can do beside reading, where a person allowed it."""
    remarks: tuple[str, ...]
    """What a person should know, and what is no reason to refuse the role."""
    tables: tuple[DatabaseTable, ...]

    @classmethod
    def of(cls, seen: SeenSource, found: Connected) -> DatabaseLook:
        return cls(
            **DatabaseView.fields_of(seen),
            encrypted=found.identity.encrypted,
            overruled=found.overruled,
            remarks=tuple(found.remarks),
            tables=tuple(map(DatabaseTable.of, found.tables)),
        )


class Databases(_Shown):
    databases: tuple[DatabaseView, ...]
    may_connect: MayConnect
    """Whether the asking user may connect a database on any host, on those in `hosts`, or on none."""
    hosts: tuple[str, ...]
    """Those that the operator listed for everyone."""
