"""What a worker answers, validated: it talks to a database that nothing is known of, so nothing it says is trusted."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, FailFast, Field

from sandtable.engines.landing import Landing, Measure, Measured
from sandtable.engines.mysql import types as mysql
from sandtable.engines.postgres import types as postgres

_Name = Annotated[str, Field(min_length=1, max_length=255)]
_Count = Annotated[int, Field(ge=0, le=1 << 62)]
_MOST_TABLES = 5000
_MOST_COLUMNS = 2000
_MOST_NAMED = 20

TableKind = Literal["r", "p", "v", "m", "f"]
KINDS: dict[TableKind, str] = {
    "r": "table",
    "p": "table",
    "v": "view",
    "m": "materialized view",
    "f": "foreign table",
}


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class Identity(_Strict):
    role: _Name
    database: _Name
    server_version: _Count
    encrypted: bool


class FoundColumn(_Strict):
    """Of a PostgreSQL."""

    name: _Name
    type: _Name
    kind: str = Field(max_length=1)
    built_in: bool
    category: str = Field(max_length=1)
    modifier: int
    not_null: bool
    shown: str = Field(max_length=1000)

    @property
    def _type(self) -> postgres.PostgresType:
        return postgres.PostgresType(
            self.type, self.shown, self.modifier, self.kind, self.built_in, self.category
        )

    @property
    def measure(self) -> Measure | None:
        return postgres.measure_of(self._type)

    def landing(self, measured: Measured | None) -> Landing:
        return postgres.landing_of(self._type, measured)

    def live_landing(self) -> Landing:
        """Where the rows stay in the database, so that nothing is measured."""
        return postgres.live_landing_of(self._type)


class FoundMysqlColumn(_Strict):
    name: _Name
    type: _Name
    shown: str = Field(max_length=1000)
    precision: int = Field(ge=0, le=1000)
    scale: int = Field(ge=0, le=1000)
    not_null: bool

    @property
    def _type(self) -> mysql.MysqlType:
        return mysql.MysqlType(self.type, self.shown, self.precision, self.scale)

    @property
    def measure(self) -> Measure | None:
        return mysql.measure_of(self._type)

    def landing(self, measured: Measured | None) -> Landing:
        return mysql.landing_of(self._type, measured)

    def live_landing(self) -> Landing:
        raise NotImplementedError("no plan is compiled for this kind of database: see `live.require_pushed`")


class FoundReference(_Strict):
    columns: list[_Name] = Field(max_length=_MOST_COLUMNS)
    db_schema: _Name = Field(alias="schema")
    table: _Name
    to: list[_Name] = Field(max_length=_MOST_COLUMNS)


class FoundTable(_Strict):
    db_schema: _Name = Field(alias="schema")
    name: _Name
    kind: TableKind
    rows: _Count | None
    """As the database estimates them."""
    of_one_moment: bool = True
    """Read as it was at the beginning of the transaction, like the others."""
    columns: Annotated[list[FoundColumn | FoundMysqlColumn], FailFast()] = Field(
        min_length=1, max_length=_MOST_COLUMNS
    )
    key: list[_Name] = Field(max_length=_MOST_COLUMNS)
    refers: list[FoundReference] = Field(max_length=1000)

    @property
    def place(self) -> tuple[str, str]:
        return self.db_schema, self.name

    @property
    def shown(self) -> str:
        return f"{self.db_schema}.{self.name}"


class FoundTables(_Strict):
    tables: Annotated[list[FoundTable], FailFast()] = Field(max_length=_MOST_TABLES)


Power = Literal[
    "superuser",
    "create_role",
    "create_user",
    "create_database",
    "replication",
    "bypass_row_security",
    "predefined_writer",
    "create_schema",
]


class Preflight(_Strict):
    writable: list[Annotated[list[_Name], Field(min_length=2, max_length=2)]] = Field(max_length=_MOST_NAMED)
    writable_count: _Count
    creates_in: list[_Name] = Field(max_length=_MOST_NAMED)
    temporary_tables: bool
    server_files: bool
    schemas: list[_Name] = Field(max_length=_MOST_NAMED)
    powers: list[Power]
    privileges: list[Annotated[list[_Name], Field(min_length=2, max_length=2)]] = Field(
        default=[], max_length=_MOST_NAMED
    )
    """Further ones that a reader does not need, and where they are held."""
    also: list[_Name] = Field(default=[], max_length=_MOST_NAMED)
    """Privileges that change no data."""


class Counts(_Strict):
    columns: list[Annotated[list[_Count], Field(min_length=3, max_length=3)]] = Field(
        max_length=_MOST_COLUMNS
    )


class Copied(_Strict):
    rows: _Count
    bytes: _Count
