"""What the name of a dataset's version pins: the data themselves, or only their form.

Invariant: data that stay in a database are pinned by nothing here. No report calls them verified.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from sandtable.catalog.live import LiveDatabase
from sandtable.catalog.recipe import DatabaseKind


class _Pin(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class ContentPin(_Pin):
    """The version is the digest of the bytes of every table, and of its schema."""

    kind: Literal["content"] = "content"


class LivePin(_Pin):
    """The version is the digest of the schema alone: the rows are those that the database held at that moment."""

    kind: Literal["live"] = "live"
    engine: DatabaseKind
    source: str = Field(min_length=1, max_length=200)
    """The name of the connected source; its address is not recorded."""

    @classmethod
    def of(cls, database: LiveDatabase) -> LivePin:
        return cls(engine=database.kind, source=database.source)


Pin = Annotated[ContentPin | LivePin, Field(discriminator="kind")]
