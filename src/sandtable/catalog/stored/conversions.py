"""What a set of source files became: remembered, so that the same files are converted once."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from sandtable.catalog.convert import ConvertedTable
from sandtable.catalog.recipe import Misfit, Repair


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Findings(_Frozen):
    """What a conversion noticed about a table."""

    misfits: tuple[Misfit, ...] = ()
    misfit_counts: dict[str, int] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    repairs: tuple[Repair, ...] = ()

    @classmethod
    def of(cls, made: ConvertedTable) -> Findings:
        return cls(
            misfits=made.misfits, misfit_counts=made.misfit_counts, notes=made.notes, repairs=made.repairs
        )


class Conversion(_Frozen):
    version: str
    sources: dict[str, str]
    """By table, the name of its file as a table."""
    findings: dict[str, Findings] = Field(default_factory=dict)
    """By table."""
