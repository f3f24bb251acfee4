"""The catalog of a dataset: what is said about it, by its data and by people."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query, Request
from pydantic import ValidationError

from sandtable.assemble import Parts
from sandtable.catalog.ready_datasets import ReadyDatasets
from sandtable.catalog.semantics.editions import AS_FOUND
from sandtable.catalog.semantics.model import Semantics
from sandtable.errors import InvalidInput, NotFound
from sandtable.quoting import quote
from sandtable.server import logs
from sandtable.server.callers import User
from sandtable.server.catalogs import views
from sandtable.server.catalogs.merging import merged, require_storable
from sandtable.server.errors import ErrorBody

router = APIRouter()

_NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"model": ErrorBody, "description": "No such thing."}}
_CHANGES: dict[str, Any] = {
    "unit": {
        "summary": "The unit of a column",
        "value": {
            "before": f"sha256:{'0' * 64}",
            "changes": {"tables": {"orders": {"columns": {"order_total": {"unit": "EUR"}}}}},
            "note": "All shops sell in euros.",
        },
    },
}
_DOCUMENTS: dict[str, Any] = {
    "calendar": {"summary": "A fiscal year", "value": {"fiscal_year_start": "april"}},
}

DatasetId = Annotated[str, Path(max_length=128, examples=["ecommerce"])]
Before = Annotated[
    str | None, Query(pattern=views.VERSION, description="Refuse if this is not the current catalog version.")
]
Note = Annotated[str, Query(max_length=views.LONGEST_NOTE, description="Why.")]


@router.get(
    "/datasets/{dataset_id}/catalog",
    operation_id="get_catalog",
    tags=["datasets"],
    summary="What is said about a dataset, and its earlier editions",
    responses=_NOT_FOUND,
)
async def get_catalog(request: Request, dataset_id: DatasetId) -> views.CatalogView:
    logs.bind(dataset_id=dataset_id)
    return await asyncio.to_thread(_view, _datasets(request), dataset_id)


@router.get(
    "/datasets/{dataset_id}/proposals",
    operation_id="get_proposals",
    tags=["datasets"],
    summary="Joins, metrics and masks that could be added to the catalog",
    responses=_NOT_FOUND,
)
async def get_proposals(request: Request, dataset_id: DatasetId) -> views.ProposalsView:
    """Each with its reason. Nothing of it is used before it is in the catalog. The sandbox counts the rows, once for
    each version of the data and the catalog."""
    logs.bind(dataset_id=dataset_id)
    datasets = _datasets(request)
    return views.ProposalsView.of(await datasets.proposals(await datasets.ready(dataset_id)))


@router.patch(
    "/datasets/{dataset_id}/catalog",
    operation_id="change_catalog",
    tags=["datasets"],
    summary="Correct what is said about a dataset",
    responses=_NOT_FOUND,
)
async def change_catalog(
    request: Request,
    dataset_id: DatasetId,
    user: User,
    body: Annotated[views.CatalogChanges, Body(openapi_examples=_CHANGES)],
) -> views.CatalogView:
    """The catalog gets a new version. Refused where the result does not fit the data (`problems` has each part), or
    when `before` is not the current version any more."""
    logs.bind(dataset_id=dataset_id)
    datasets = _datasets(request)

    def change() -> views.CatalogView:
        stated = datasets.editions.current(datasets.as_found(dataset_id).id).model_dump(
            mode="json", exclude_none=True
        )
        made = _document(dataset_id, merged(stated, body.changes))
        return _written(datasets, dataset_id, made, before=body.before, by=user, note=body.note)

    require_storable(body.changes)
    return await asyncio.to_thread(change)


@router.put(
    "/datasets/{dataset_id}/catalog",
    operation_id="replace_catalog",
    tags=["datasets"],
    summary="Replace all that people said about a dataset",
    responses=_NOT_FOUND,
)
async def replace_catalog(
    request: Request,
    dataset_id: DatasetId,
    user: User,
    body: Annotated[Semantics, Body(openapi_examples=_DOCUMENTS)],
    before: Before = None,
    note: Note = "",
) -> views.CatalogView:
    """For a document that was exported elsewhere. An empty one takes back all that people said."""
    logs.bind(dataset_id=dataset_id)
    require_storable(body.model_dump())
    return await asyncio.to_thread(
        _written, _datasets(request), dataset_id, body, before=before, by=user, note=note
    )


@router.post(
    "/datasets/{dataset_id}/catalog/restore",
    operation_id="restore_catalog",
    tags=["datasets"],
    summary="Use an earlier edition of the catalog again",
    responses=_NOT_FOUND,
)
async def restore_catalog(
    request: Request, dataset_id: DatasetId, user: User, body: views.CatalogRestore
) -> views.CatalogView:
    """It is written as the newest edition; those in between stay."""
    logs.bind(dataset_id=dataset_id)
    datasets = _datasets(request)

    def restore() -> views.CatalogView:
        semantics, since = _edition(datasets, dataset_id, body.version)
        note = f"Restored from {since}" if since else "Restored what the data show"
        return _written(datasets, dataset_id, semantics, before=body.before, by=user, note=note)

    return await asyncio.to_thread(restore)


def _datasets(request: Request) -> ReadyDatasets:
    parts: Parts = request.app.state.parts
    return parts.datasets


def _view(datasets: ReadyDatasets, dataset_id: str) -> views.CatalogView:
    dataset, editable = datasets.as_found(dataset_id), datasets.is_lasting(dataset_id)
    return views.CatalogView.of(dataset, datasets.editions, editable=editable)


def _written(
    datasets: ReadyDatasets, dataset_id: str, semantics: Semantics, *, before: str | None, by: str, note: str
) -> views.CatalogView:
    dataset = datasets.as_found(dataset_id)
    if not datasets.is_lasting(dataset_id):
        raise InvalidInput(
            f"{quote(dataset_id)} is there for this process alone, so that nothing said about it would last",
            suggestion="Add its files with `sandtable data add`, or in the browser.",
            dataset=dataset_id,
        )
    datasets.editions.write(dataset, semantics, before=before, by=by, note=note)
    return _view(datasets, dataset_id)


def _document(dataset_id: str, document: Any) -> Semantics:
    """Raises InvalidInput with every field that cannot be used."""
    try:
        return Semantics.model_validate(document)
    except ValidationError as error:
        problems = [f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}" for e in error.errors()[:100]]
        raise InvalidInput(
            f"the catalog of {quote(dataset_id)} cannot be changed so: {problems[0]}",
            suggestion="GET /docs has the fields of a catalog.",
            dataset=dataset_id,
            problems=problems,
        ) from error


def _edition(datasets: ReadyDatasets, dataset_id: str, version: str) -> tuple[Semantics, str]:
    """The newest edition that gives this version, and when it was written. Raises NotFound."""
    dataset = datasets.as_found(dataset_id)
    for edition in reversed(datasets.editions.editions(dataset_id)):
        if datasets.editions.version_of(dataset, edition) == version:
            return edition.semantics, edition.at
    if datasets.editions.as_found(dataset).catalog_version == version:
        return AS_FOUND, ""
    raise NotFound(
        f"{quote(dataset_id)} has no edition of its catalog with version {version}",
        suggestion=f"GET /datasets/{dataset_id}/catalog lists the editions.",
        dataset=dataset_id,
    )
