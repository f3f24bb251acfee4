"""Resumable uploads by the tus protocol 1.0.0: core, creation, expiration and termination.

HEAD is what GET answers (`guard.Heads`), so that the offset of an upload can also be read as JSON.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable, Coroutine
from email.utils import formatdate
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Path, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict

from sandtable.catalog.own.uploads import UPLOAD_ID, Upload, Uploads
from sandtable.errors import ErrorCode, InvalidInput, Problem, SandtableError
from sandtable.server.bodies import blocks
from sandtable.server.callers import User
from sandtable.server.errors import ErrorBody, answer_to, error_response
from sandtable.server.files.writers import Writers
from sandtable.stopping import in_thread

VERSION = "1.0.0"
EXTENSIONS = "creation,expiration,termination"
_DIGITS = 18

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class TusRoute(APIRoute):
    """Refuses another version of the protocol, and names ours in every answer."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def handle_tus(request: Request) -> Response:
            given = request.headers.get("tus-resumable")
            if given != VERSION and (given is not None or request.method not in ("GET", "OPTIONS")):
                response = error_response(_OTHER_VERSION, request.scope, 412, {"Tus-Version": VERSION})
            else:
                try:
                    response = await handle(request)
                except SandtableError as error:
                    response = answer_to(error, request)
            response.headers["Tus-Resumable"] = VERSION
            return response

        return handle_tus


_OTHER_VERSION = Problem(
    code=ErrorCode.VALIDATION_ERROR,
    message=f"the request does not speak tus {VERSION}",
    suggestion=f"Send the header `Tus-Resumable: {VERSION}`.",
)

router = APIRouter(tags=["files"], route_class=TusRoute)

UploadId = Annotated[str, Path(max_length=128, json_schema_extra={"examples": ["0" * 32]})]


async def _speaks_tus(version: Annotated[Literal["1.0.0"], Header(alias="Tus-Resumable")]) -> None:
    """Describes the header for the OpenAPI document; `TusRoute` checks it."""


_SPOKEN = [Depends(_speaks_tus)]


def _number(name: str) -> Any:
    return Header(ge=0, lt=10**_DIGITS, alias=name)


_TEXT_HEADER: dict[str, Any] = {"schema": {"type": "string"}}
_TUS: dict[str, Any] = {"Tus-Resumable": {"description": "The version of the protocol.", **_TEXT_HEADER}}
_OFFSET = _TUS | {
    "Upload-Offset": {
        "description": "How many bytes have arrived.",
        "schema": {"type": "integer", "minimum": 0},
    },
    "Upload-Expires": {"description": "When it is removed, unless more bytes arrive.", **_TEXT_HEADER},
}
_LOCATION = _TUS | {
    "Location": {
        "description": "Where the bytes go.",
        "schema": {"type": "string", "pattern": f"^/uploads/{UPLOAD_ID}$"},
    }
}
_VERSION_REFUSED: dict[int | str, dict[str, Any]] = {
    412: {"model": ErrorBody, "description": f"The request does not speak tus {VERSION}."}
}
_NO_SPACE: dict[int | str, dict[str, Any]] = {
    507: {"model": ErrorBody, "description": "The disk, or the quota of the data that people add, is full."}
}
_NO_UPLOAD: dict[int | str, dict[str, Any]] = {404: {"model": ErrorBody, "description": "No such upload."}}


class UploadView(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str
    name: str
    bytes: int
    offset: int
    """How many of them have arrived."""


def _uploads(request: Request) -> Uploads:
    return request.app.state.parts.uploads


def _writers(request: Request) -> Writers:
    return request.app.state.writers


@router.options(
    "/uploads",
    operation_id="describe_uploads",
    summary="Which tus is spoken",
    status_code=204,
    responses={204: {"description": "In headers: `Tus-Version`, `Tus-Extension` and `Tus-Max-Size`."}},
)
async def describe_uploads(request: Request) -> Response:
    most = str(_uploads(request).limits.file_bytes)
    headers = {"Tus-Version": VERSION, "Tus-Extension": EXTENSIONS, "Tus-Max-Size": most}
    return Response(status_code=204, headers=headers)


@router.post(
    "/uploads",
    operation_id="begin_upload",
    dependencies=_SPOKEN,
    summary="Begin a resumable upload",
    status_code=201,
    responses=_VERSION_REFUSED
    | _NO_SPACE
    | {201: {"description": "Send the bytes there.", "headers": _LOCATION}},
)
async def begin_upload(
    request: Request,
    user: User,
    length: Annotated[int, _number("Upload-Length")],
    metadata: Annotated[
        str,
        Header(
            alias="Upload-Metadata",
            max_length=4096,
            description="`filename` and the file's name in Base64, separated by a space.",
        ),
    ],
) -> Response:
    """The file's name says what it is: `orders.csv`, `sales.xlsx`."""
    upload = await asyncio.to_thread(_uploads(request).begin, _name_in(metadata), length, user)
    headers = _headers(request, upload) | {"Location": f"/uploads/{upload.id}"}
    return Response(status_code=201, headers=headers)


@router.get(
    "/uploads/{upload_id}",
    operation_id="get_upload",
    summary="How much of an upload has arrived",
    responses=_NO_UPLOAD | _VERSION_REFUSED | {200: {"headers": _OFFSET}},
)
async def get_upload(request: Request, response: Response, upload_id: UploadId) -> UploadView:
    """`HEAD` has the same headers: `Upload-Offset`, `Upload-Length` and `Upload-Expires`."""
    upload = await asyncio.to_thread(_uploads(request).find, upload_id)
    response.headers.update(_headers(request, upload))
    size = upload.offset if upload.bytes is None else upload.bytes
    return UploadView(id=upload.id, name=upload.name, bytes=size, offset=upload.offset)


@router.patch(
    "/uploads/{upload_id}",
    operation_id="continue_upload",
    dependencies=_SPOKEN,
    summary="Send bytes of an upload",
    status_code=204,
    responses=_NO_UPLOAD
    | _VERSION_REFUSED
    | _NO_SPACE
    | {
        204: {"description": "All bytes of the request are on disk.", "headers": _OFFSET},
        409: {"model": ErrorBody, "description": "Another offset than that of the upload."},
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/offset+octet-stream": {"schema": {"type": "string", "format": "binary"}}
            },
        }
    },
)
async def continue_upload(
    request: Request, upload_id: UploadId, offset: Annotated[int, _number("Upload-Offset")]
) -> Response:
    """The bytes that arrived before a connection broke stay: continue at the offset. A request ends an earlier one
    that still writes to the same upload."""
    uploads = _uploads(request)
    found = await asyncio.to_thread(uploads.find, upload_id)
    await _writers(request).write(found.id, _receive(request, uploads, found.id, offset))
    upload = await asyncio.to_thread(uploads.find, upload_id)
    return Response(status_code=204, headers=_headers(request, upload))


@router.delete(
    "/uploads/{upload_id}",
    operation_id="delete_upload",
    dependencies=_SPOKEN,
    summary="Give an upload up",
    status_code=204,
    responses=_NO_UPLOAD | _VERSION_REFUSED | {204: {"headers": _TUS}},
)
async def delete_upload(request: Request, upload_id: UploadId) -> Response:
    uploads = _uploads(request)
    await asyncio.to_thread(uploads.find, upload_id)
    if await request.app.state.parts.imports.uses(upload_id):
        raise InvalidInput(
            "the upload is being imported", suggestion="Cancel the import: DELETE /imports/{import_id}."
        )
    await _writers(request).end(upload_id)
    await asyncio.to_thread(uploads.remove, upload_id)
    return Response(status_code=204)


async def _receive(request: Request, uploads: Uploads, upload_id: str, offset: int) -> None:
    announced = request.headers.get("content-length", "0")
    # Refuses a wrong offset and too many bytes before any of them is read.
    await in_thread(uploads.require_fit, upload_id, offset, int(announced) if announced.isdecimal() else 0)
    try:
        async for block in blocks(request.receive):
            offset = await in_thread(uploads.append, upload_id, offset, block)
    finally:
        await in_thread(uploads.sync, upload_id)


def _headers(request: Request, upload: Upload) -> dict[str, str]:
    expires = formatdate(_uploads(request).expires_at(upload), usegmt=True)
    size = {} if upload.bytes is None else {"Upload-Length": str(upload.bytes)}
    return {"Upload-Offset": str(upload.offset), "Upload-Expires": expires, **size}


def _name_in(metadata: str) -> str:
    """The file's name in `Upload-Metadata`. Raises InvalidInput."""
    pairs = (pair.strip().partition(" ") for pair in metadata.split(","))
    found = {key: value.strip() for key, _, value in pairs}
    encoded = found.get("filename") or found.get("name") or ""
    try:
        name = base64.b64decode(encoded, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        name = ""
    if not name:
        raise InvalidInput(
            "`Upload-Metadata` holds no file name",
            suggestion="Send `Upload-Metadata: filename` with the name in Base64.",
        )
    return name
