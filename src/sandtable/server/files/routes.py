"""Imports, and the files and readings of the datasets that they made."""

from __future__ import annotations

import asyncio
from pathlib import PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Request, Response

from sandtable.assemble import Parts
from sandtable.catalog.own.records import OwnDataset
from sandtable.catalog.own.uploads import Upload, Uploads, file_name
from sandtable.errors import InvalidInput, NotFound
from sandtable.imports.model import IMPORT_ID, Import, ImportOrder
from sandtable.quoting import quote
from sandtable.server import logs
from sandtable.server.bodies import blocks
from sandtable.server.callers import User
from sandtable.server.errors import ErrorBody
from sandtable.server.files import views
from sandtable.server.files.form import FormIntake
from sandtable.stopping import in_thread

router = APIRouter()

_NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"model": ErrorBody, "description": "No such thing."}}
_NO_SPACE: dict[int | str, dict[str, Any]] = {
    507: {"model": ErrorBody, "description": "The disk, or the quota of the data that people add, is full."}
}
_ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {
        "description": "The files are being read; `Location` is where to look.",
        "headers": {
            "Location": {
                "description": "Where the import is.",
                "schema": {"type": "string", "pattern": f"^/imports/{IMPORT_ID}$"},
            }
        },
    }
}
_FORM: dict[str, Any] = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file"],
                "additionalProperties": False,
                "properties": {
                    "file": {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}},
                    "dataset_id": {"type": "string", "description": "A dataset that was added before."},
                    "title": {"type": "string", "maxLength": 1000},
                },
            }
        }
    },
}
_IMPORT_EXAMPLES: dict[str, Any] = {
    "text": {"summary": "A pasted table", "value": {"text": "city,people\nBern,134794\n", "name": "cities"}},
}

DatasetId = Annotated[str, Path(max_length=128, examples=["ecommerce"])]
ImportId = Annotated[str, Path(max_length=128)]
FileId = Annotated[str, Path(max_length=128)]


def _parts(request: Request) -> Parts:
    return request.app.state.parts


def _accepted(response: Response, found: Import) -> Import:
    response.headers["Location"] = f"/imports/{found.id}"
    return found


@router.post(
    "/upload",
    operation_id="upload",
    tags=["files"],
    summary="Send files and import them",
    status_code=202,
    responses=_NOT_FOUND | _NO_SPACE | _ACCEPTED,
    openapi_extra={"requestBody": _FORM},
)
async def upload(request: Request, response: Response, user: User) -> Import:
    """All files of the request together are one dataset, or tables of the dataset `dataset_id`. Their bytes go to disk
    while they arrive; when one cannot be taken, none is."""
    parts = _parts(request)
    intake = FormIntake(request.headers["content-type"], parts.uploads, user)
    intake.announce(request.headers.get("content-length", ""))
    try:
        async for block in blocks(request.receive):
            await in_thread(intake.feed, block)
        form = await in_thread(intake.done)
        dataset_id = form.fields.get("dataset_id") or None
        order = ImportOrder(
            uploads=tuple(form.uploads), dataset_id=dataset_id, title=form.fields.get("title", ""), user=user
        )
        return _accepted(response, await _new(parts, order))
    except BaseException:
        await in_thread(intake.discard)
        raise


@router.post(
    "/imports",
    operation_id="begin_import",
    tags=["files"],
    summary="Import uploads, a file at an address, or a pasted table",
    status_code=202,
    responses=_NOT_FOUND | _NO_SPACE | _ACCEPTED,
)
async def begin_import(
    request: Request,
    response: Response,
    user: User,
    body: Annotated[views.ImportBody, Body(openapi_examples=_IMPORT_EXAMPLES)],
) -> Import:
    body.require_one()
    parts = _parts(request)
    order = ImportOrder(
        uploads=tuple(body.uploads or ()),
        url=body.url or "",
        dataset_id=body.dataset_id,
        title=body.title,
        user=user,
    )
    if body.text is None:
        return _accepted(response, await _new(parts, order))
    pasted = await in_thread(_pasted, parts.uploads, body.text, body.name, user)
    try:
        return _accepted(response, await _new(parts, order.model_copy(update={"uploads": (pasted.id,)})))
    except BaseException:
        await in_thread(parts.uploads.remove, pasted.id)
        raise


@router.get("/imports", operation_id="list_imports", tags=["files"], summary="Imports, newest first")
async def list_imports(request: Request) -> list[Import]:
    return await _parts(request).imports.all()


@router.get(
    "/imports/{import_id}",
    operation_id="get_import",
    tags=["files"],
    summary="How far an import has come, and what it asks",
    responses=_NOT_FOUND,
)
async def get_import(request: Request, import_id: ImportId) -> Import:
    return await _parts(request).imports.get(import_id)


@router.post(
    "/imports/{import_id}/answers",
    operation_id="answer_import",
    tags=["files"],
    summary="Answer questions about files, and agree to repairs",
    status_code=202,
    responses=_NOT_FOUND | _ACCEPTED,
)
async def answer_import(
    request: Request, response: Response, import_id: ImportId, body: views.AnswersBody
) -> Import:
    """The files are read again with them."""
    body.require_some()
    return _accepted(response, await _parts(request).imports.answer(import_id, body.answers, body.repairs))


@router.delete(
    "/imports/{import_id}",
    operation_id="delete_import",
    tags=["files"],
    summary="Cancel an import, or forget one that has ended",
    status_code=204,
    responses=_NOT_FOUND,
)
async def delete_import(request: Request, import_id: ImportId) -> None:
    """Its uploads are removed. The dataset that a finished one made stays."""
    await _parts(request).imports.cancel(import_id)


@router.get(
    "/files", operation_id="list_files", tags=["files"], summary="The files of datasets that people added"
)
async def list_files(request: Request) -> list[views.FileView]:
    records = await asyncio.to_thread(_parts(request).datasets.own.list)
    return [file for record in reversed(records) for file in views.FileView.all_of(record)]


@router.delete(
    "/files/{file_id}",
    operation_id="delete_file",
    tags=["files"],
    summary="Take a file out of its dataset",
    status_code=204,
    responses=_NOT_FOUND,
)
async def delete_file(request: Request, file_id: FileId) -> None:
    """Its tables go, and the dataset gets a new version; the dataset goes with its last file."""
    own = _parts(request).datasets.own
    for record in await asyncio.to_thread(own.list):
        for source in record.current.sources:
            if views.file_id(record.id, source.table) == file_id:
                await own.remove_file(record.id, source.table)
                return
    raise NotFound(f"no file {quote(file_id)}", suggestion="GET /files lists the files.")


@router.delete(
    "/datasets/{dataset_id}",
    operation_id="delete_dataset",
    tags=["datasets"],
    summary="Remove a dataset that was added",
    status_code=204,
    responses=_NOT_FOUND,
)
async def delete_dataset(request: Request, dataset_id: DatasetId) -> None:
    """With its versions and files. Runs and capsules stay."""
    logs.bind(dataset_id=dataset_id)
    await _own(_parts(request), dataset_id)
    await _parts(request).datasets.own.remove(dataset_id)


@router.get(
    "/datasets/{dataset_id}/reading",
    operation_id="get_reading",
    tags=["datasets"],
    summary="How the files of an added dataset were read, and its versions",
    responses=_NOT_FOUND,
)
async def get_reading(request: Request, dataset_id: DatasetId) -> views.Reading:
    logs.bind(dataset_id=dataset_id)
    return views.Reading.of(await _own(_parts(request), dataset_id))


@router.patch(
    "/datasets/{dataset_id}/reading",
    operation_id="correct_reading",
    tags=["datasets"],
    summary="Read the kept files in another way",
    status_code=202,
    responses=_NOT_FOUND | _ACCEPTED,
)
async def correct_reading(
    request: Request, response: Response, dataset_id: DatasetId, user: User, body: views.AnswersBody
) -> Import:
    """`answers` names columns: `{"orders.ordered": "date:%d/%m/%Y"}`. The dataset gets a new version."""
    logs.bind(dataset_id=dataset_id)
    body.require_some()
    parts = _parts(request)
    await _own(parts, dataset_id)
    return _accepted(response, await parts.imports.again(dataset_id, user, body.answers, body.repairs))


@router.get(
    "/datasets/{dataset_id}/meanings",
    operation_id="get_meanings",
    tags=["datasets"],
    summary="What the columns mean, and which hold personal data",
    responses=_NOT_FOUND,
)
async def get_meanings(request: Request, dataset_id: DatasetId) -> views.Meanings:
    """Proposals with their reasons, from types, units, names and values."""
    logs.bind(dataset_id=dataset_id)
    datasets = _parts(request).datasets
    dataset = await datasets.ready(dataset_id)
    return views.Meanings.of(dataset, await datasets.profile(dataset))


async def _new(parts: Parts, order: ImportOrder) -> Import:
    if order.dataset_id is not None:
        await _own(parts, order.dataset_id)
    return await parts.imports.new(order)


async def _own(parts: Parts, dataset_id: str) -> OwnDataset:
    """Raises NotFound, and InvalidInput for one that was not added."""
    found = await asyncio.to_thread(parts.datasets.own.find, dataset_id)
    if found is not None:
        return found
    parts.datasets.get(dataset_id)
    raise InvalidInput(
        f"{quote(dataset_id)} was not added from files that people sent",
        suggestion="Choose a dataset whose `own` is true in GET /datasets; the others stay as they are.",
    )


def _pasted(uploads: Uploads, text: str, name: str, user: str) -> Upload:
    ending = ".tsv" if "\t" in text.partition("\n")[0] else ".csv"
    stem = PurePosixPath(file_name(name)).stem
    content = text.encode("utf-8", "replace")
    begun = uploads.begin(f"{stem}{ending}", len(content), user)
    try:
        uploads.append(begun.id, 0, content)
        return uploads.complete(begun.id)
    except BaseException:
        uploads.remove(begun.id)
        raise
