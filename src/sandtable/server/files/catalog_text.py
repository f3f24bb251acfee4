"""What a dataset means, as a file: the whole catalog as YAML, and files of other semantic layers put over it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel

from sandtable.assemble import Parts
from sandtable.catalog.semantics.applying import semantics_of
from sandtable.catalog.semantics.exchange.importing import Format, prepare, read_file, write
from sandtable.catalog.semantics.exchange.ossie_writing import write_ossie
from sandtable.catalog.semantics.model import UnusedSemantics
from sandtable.catalog.semantics.yaml_text import write_yaml
from sandtable.catalog.semantics.yaml_tree import write_values
from sandtable.errors import InvalidInput
from sandtable.quoting import quote
from sandtable.server import logs
from sandtable.server.callers import User
from sandtable.server.errors import ErrorBody
from sandtable.stopping import in_thread

router = APIRouter()

YAML = "text/yaml"
"""Without a schema: it would be one of what the text says."""
_NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"model": ErrorBody, "description": "No such dataset."}}
_TEXT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The catalog.", "content": {YAML: {"schema": {}}}}
}
_BODY: dict[str, Any] = {
    "required": True,
    "content": {
        YAML: {"schema": {}, "example": "title: Web shop\n"},
        "application/json": {"schema": {"type": "object"}, "example": {"title": "Web shop"}},
    },
}

DatasetId = Annotated[str, Path(max_length=128, examples=["ecommerce"])]


class CatalogChange(BaseModel):
    place: str
    """Such as `tables.orders.columns.amount.unit`."""
    before: Any
    after: Any


class ImportedCatalog(BaseModel):
    """What a file made of a catalog."""

    dataset: str
    format: Format
    written: bool
    catalog_version: str
    changes: list[CatalogChange]
    unused: list[UnusedSemantics]
    """Parts of the file that cannot be used here, each with its reason."""


def _parts(request: Request) -> Parts:
    return request.app.state.parts


@router.get(
    "/datasets/{dataset_id}/catalog.yaml",
    operation_id="export_catalog",
    tags=["datasets"],
    summary="The catalog of a dataset as a file",
    response_class=Response,
    responses=_NOT_FOUND | _TEXT,
)
async def export_catalog(
    request: Request,
    dataset_id: DatasetId,
    format: Annotated[
        str, Query(pattern="^(yaml|ossie)$", description="Our own file, or Apache Ossie.")
    ] = "yaml",
) -> Response:
    """Every table and column, with what is known of each."""
    logs.bind(dataset_id=dataset_id)
    text = await in_thread(_exported, _parts(request), dataset_id, format)
    name = f"{dataset_id}.{'ossie.yaml' if format == 'ossie' else 'yaml'}"
    return Response(
        text.encode("utf-8", "backslashreplace"),
        media_type=YAML,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _exported(parts: Parts, dataset_id: str, form: str) -> str:
    editions = parts.datasets.editions
    dataset = parts.datasets.as_found(dataset_id)
    whole = editions.whole(dataset)
    if form == "ossie":
        return write_values(write_ossie(whole, editions.describe(dataset).dataset))
    return write_yaml(whole, semantics_of(dataset))


@router.put(
    "/datasets/{dataset_id}/catalog.yaml",
    operation_id="import_catalog",
    tags=["datasets"],
    summary="Describe a dataset by a file",
    responses=_NOT_FOUND,
    openapi_extra={"requestBody": _BODY},
)
async def import_catalog(
    request: Request,
    dataset_id: DatasetId,
    user: User,
    before: Annotated[
        str | None, Query(max_length=100, description="The catalog version that the file was made for.")
    ] = None,
    note: Annotated[str, Query(max_length=400, description="Why it was changed.")] = "",
    dry_run: Annotated[bool, Query(description="Only say what would change.")] = False,
) -> ImportedCatalog:
    """The file is a catalog of ours, which replaces the one that is there, or a semantic model of Apache Ossie or a
    semantic manifest of dbt, which are put over it. Refused when `before` is given and is not the current version any
    more."""
    logs.bind(dataset_id=dataset_id)
    try:
        text = (await request.body()).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("the file is not UTF-8", suggestion="Save it as UTF-8.") from error
    return await in_thread(_imported, _parts(request), dataset_id, text, user, before, note, dry_run)


def _imported(
    parts: Parts, dataset_id: str, text: str, user: str, before: str | None, note: str, dry_run: bool
) -> ImportedCatalog:
    editions = parts.datasets.editions
    dataset = parts.datasets.as_found(dataset_id)
    if not parts.datasets.is_lasting(dataset_id):
        raise InvalidInput(
            f"{quote(dataset_id)} is of this process alone: nothing that is said about it would last",
            suggestion="Add its files with `sandtable data add`.",
            dataset=dataset_id,
        )
    found = prepare(editions, dataset, read_file(text))
    if not dry_run:
        write(editions, dataset, found, before=before, by=user, note=note)
    return ImportedCatalog(
        dataset=dataset.id,
        format=found.format,
        written=not dry_run,
        catalog_version=found.catalog_version,
        changes=[CatalogChange(place=c.place, before=c.before, after=c.after) for c in found.changes],
        unused=list(found.unused),
    )
