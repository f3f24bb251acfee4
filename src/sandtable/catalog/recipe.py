"""How a source file was read: its text, then the type of each column. JSON, a part of the data's version.

A recipe is made from evidence over all rows and can be edited. Applied to the same bytes it gives the same tables.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

ReadAs = Literal["text", "integer", "decimal", "percent", "money", "date", "timestamp", "time", "boolean"]
DatabaseKind = Literal["postgresql", "mysql"]
"""`mysql`: MariaDB, too."""
SourceKind = Literal["csv", "json", "ndjson", "parquet", "xlsx", "ods", "sqlite", "postgresql", "mysql"]
"""A database: CSV as PostgreSQL's COPY writes it, where a cell without quotes is no value and `""` is an empty text."""

PLAIN_EMPTY = ("",)
"""The cells that are empty in any file."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TextReading(_Frozen):
    """Stage one: which bytes are the cells of a table. Nothing is interpreted."""

    kind: SourceKind = "csv"
    compression: Literal["", "gz", "zst", "zip"] = ""
    member: str = ""
    """The file inside a zip."""
    sheet: str = ""
    """The sheet of a workbook, the table of a database."""
    encoding: str = "utf-8"
    delimiter: str = ","
    skipped_rows: int = Field(default=0, ge=0)
    """Rows above the header: titles, blank lines."""
    header: bool = True
    """False: the file has no header, and its columns are called `column_1` and so on."""
    ragged: Literal["refuse", "pad", "drop"] = "refuse"
    """Rows with fewer or more cells than the header: refused; filled with empty cells where cells are missing (more
    cells than the header are refused still); or left out."""
    repairs: tuple[str, ...] = ()
    """Names of the repairs that a person agreed to: see `Repair.id`."""


class ColumnReading(_Frozen):
    """Stage two: what the text of one column means."""

    header: str
    """As the file has it; may be empty or occur twice."""
    name: str = Field(min_length=1, max_length=255)
    """The column's name in the table."""
    read_as: ReadAs = "text"
    format: str = ""
    """Of dates, timestamps and times: the `strptime` format, such as `%d/%m/%Y`; empty for ISO. Of numbers: the group
    mark and the decimal mark, such as `,.` (1,234.50) or `.,` (1.234,50); the decimal mark alone where there are no
    groups; empty for plain digits with a point; `stored` for whole numbers that a database has as such. Of money, the
    most digits after the mark follow: `,.2`. Moments that are counted: `unix-seconds`, `unix-milliseconds` …"""
    unit: str = ""
    """`%`, or a currency such as `EUR`."""
    empty: tuple[str, ...] = PLAIN_EMPTY
    """Cells that hold no value, such as `N/A`. Nothing for text of a database, where an empty text is a value."""
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    """The words of a boolean, in lower case."""
    misfits: Literal["refuse", "empty"] = "refuse"
    """What becomes of cells that cannot be read so."""
    reason: str = ""
    """Why it is read so, in words: `all 1,200 rows`, `as in column ordered`, `chosen`. No part of the version."""


class Recipe(_Frozen):
    format: Literal[1] = 1
    text: TextReading = TextReading()
    columns: tuple[ColumnReading, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether it says no more than names and types of columns: such a recipe does not change the version."""
        return (
            self.text.model_copy(update={"delimiter": ","}) == TextReading(kind=self.text.kind)
            and self.text.kind in ("csv", "parquet")
            and all(
                column.model_copy(update={"read_as": "text", "reason": ""})
                == ColumnReading(header=column.name, name=column.name)
                for column in self.columns
            )
        )

    def subject(self) -> dict[str, object]:
        """What of it belongs to the version."""
        exclude = {"columns": {"__all__": {"reason"}}}
        return self.model_dump(mode="json", exclude=exclude)


class FileChoice(_Frozen):
    """One answer to a question about a file."""

    label: str
    """Such as `3 April 2024 (day first)`."""
    answer: str
    """What is sent back, and written on a command line: `day-first`, `text`, `decimal-comma`."""


class FileQuestion(_Frozen):
    """Something that the file's own evidence does not decide."""

    id: str
    """Names the place: `orders.ordered` for a column, `orders` for a table."""
    text: str
    """Such as: Is 03/04/2024 in column ordered 3 April or 4 March?"""
    choices: tuple[FileChoice, ...] = Field(min_length=2)


class Repair(_Frozen):
    """What can be done with a file that is refused as it is; recorded in the recipe."""

    id: str
    """`pad-rows`, `drop-rows`, `skip-rows:3`, `rename-duplicates`, `misfits-empty:price` …"""
    label: str
    """Such as: Fill the 3 short rows with empty cells."""


class Misfit(_Frozen):
    """A cell that does not fit the type of the rest of its column."""

    column: str
    row: int = Field(ge=1)
    """Counted in rows of data, the first is 1."""
    value: str
    """At most 200 characters."""
