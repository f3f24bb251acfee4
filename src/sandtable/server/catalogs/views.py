"""The request and response models of the catalog: the source of their OpenAPI description."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sandtable.catalog.model import Dataset
from sandtable.catalog.proposed.proposals import Proposals
from sandtable.catalog.semantics.applying import semantics_of
from sandtable.catalog.semantics.editions import AS_FOUND, CatalogEditions
from sandtable.catalog.semantics.model import MetricSemantics, Semantics

VERSION = r"^sha256:[0-9a-f]{64}$"
LONGEST_NOTE = 400
_MOST_SHOWN = 100


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Shown(BaseModel):
    model_config = ConfigDict(frozen=True)


class CatalogChanges(_Body):
    before: str = Field(pattern=VERSION, description="The catalog version that the changes were made from.")
    changes: dict[str, Any] = Field(
        description="A JSON merge patch (RFC 7396) of `stated`. null removes what was said: then what the data show"
        " holds again. `joins` and `metrics` are all of them."
    )
    note: str = Field("", max_length=LONGEST_NOTE, description="Why, for people who read the history.")


class CatalogRestore(_Body):
    before: str = Field(pattern=VERSION, description="The catalog version that is current.")
    version: str = Field(pattern=VERSION, description="One of `editions`, or `found_version`.")


class EditionView(_Shown):
    version: str
    """Of the whole description of today's data by this edition."""
    at: str
    by: str
    note: str


class JoinProposalView(_Shown):
    many: str
    one: str
    reason: str
    matched: int
    """Rows of the first table that find a partner."""
    missing: int
    """Rows that find none; rows without a value are not counted."""


class MetricProposalView(_Shown):
    name: str
    semantics: MetricSemantics
    reason: str


class MaskProposalView(_Shown):
    table: str
    column: str
    reason: str


class KeyProposalView(_Shown):
    table: str
    columns: tuple[str, ...]
    """They identify a row together."""
    reason: str


class ProposalsView(_Shown):
    keys: tuple[KeyProposalView, ...]
    joins: tuple[JoinProposalView, ...]
    metrics: tuple[MetricProposalView, ...]
    masks: tuple[MaskProposalView, ...]

    @classmethod
    def of(cls, found: Proposals) -> ProposalsView:
        return cls(
            keys=tuple(
                KeyProposalView(table=each.table, columns=each.columns, reason=each.reason)
                for each in found.keys
            ),
            joins=tuple(
                JoinProposalView(
                    many=each.join.many,
                    one=each.join.one,
                    reason=each.reason,
                    matched=each.matched,
                    missing=each.missing,
                )
                for each in found.joins
            ),
            metrics=tuple(
                MetricProposalView(name=each.name, semantics=each.semantics, reason=each.reason)
                for each in found.metrics
            ),
            masks=tuple(
                MaskProposalView(table=each.table, column=each.column, reason=each.reason)
                for each in found.masks
            ),
        )


class CatalogView(_Shown):
    catalog_version: str
    editable: bool
    """False for data of this process alone: nothing that is said about them would last."""
    semantics: Semantics
    """The whole description that is in force."""
    stated: Semantics
    """What people said; null says nothing."""
    found: Semantics
    """The whole description as the data show it, without what people said."""
    found_version: str
    misfits: tuple[str, ...]
    """What people said about tables and columns that are not there any more."""
    editions: tuple[EditionView, ...]
    """The newest 100, the newest first. The first is current."""

    @classmethod
    def of(cls, dataset: Dataset, editions: CatalogEditions, *, editable: bool) -> CatalogView:
        """`dataset`: as its data describe it."""
        found = editions.as_found(dataset)
        described = editions.describe(dataset) if editable else None
        written = editions.editions(dataset.id) if editable else ()
        shown = reversed(written[-_MOST_SHOWN:])
        return cls(
            catalog_version=described.dataset.catalog_version if described else found.catalog_version,
            editable=editable,
            semantics=editions.whole(dataset) if editable else semantics_of(found),
            stated=written[-1].semantics if written else AS_FOUND,
            found=semantics_of(found),
            found_version=found.catalog_version,
            misfits=described.misfits if described else (),
            editions=tuple(
                EditionView(
                    version=editions.version_of(dataset, each), at=each.at, by=each.by, note=each.note
                )
                for each in shown
            ),
        )
