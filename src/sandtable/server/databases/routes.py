"""Connected databases over REST. What is copied from them is an import, and becomes a dataset like files do."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Request, Response

from sandtable.errors import InvalidInput
from sandtable.imports.copies import for_clients
from sandtable.imports.model import IMPORT_ID, Import
from sandtable.server import logs
from sandtable.server.access.sources import SeenSources
from sandtable.server.databases import views
from sandtable.server.errors import ErrorBody
from sandtable.sources.address import DatabaseAddress, read_address
from sandtable.sources.records import source_of

router = APIRouter(tags=["databases"])

_ANSWERS: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorBody, "description": "No such database."},
    504: {"model": ErrorBody, "description": "The database did not answer in time."},
}
_REFUSED: dict[int | str, dict[str, Any]] = {
    422: {
        "model": ErrorBody,
        "description": "The database cannot be reached or used. For a role that can write, `details` has `role`,"
        " `reasons`, and `grants`: the statements that make a role which can only read.",
    }
}
_ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {
        "description": "The tables are being copied; `Location` is where to look.",
        "headers": {
            "Location": {
                "description": "Where the import is.",
                "schema": {"type": "string", "pattern": f"^/imports/{IMPORT_ID}$"},
            }
        },
    }
}
_CONNECT_EXAMPLES: dict[str, Any] = {
    "shop": {
        "summary": "A role that can only read",
        "value": {"url": "postgresql://shop_reader@db.example.org/shop", "name": "shop", "schema": "shop"},
    },
}
_SNAPSHOT_EXAMPLES: dict[str, Any] = {
    "tables": {"summary": "Chosen tables", "value": {"tables": ["shop.orders", "shop.customers"]}},
    "again": {"summary": "The same tables as before", "value": {}},
}
_LIVE_EXAMPLES: dict[str, Any] = {
    "tables": {"summary": "Chosen tables", "value": {"tables": ["shop.orders"]}}
}

Name = Annotated[str, Path(max_length=128, examples=["shop"])]


def _sources(request: Request) -> SeenSources:
    return request.app.state.parts.sources


@router.post(
    "/database",
    operation_id="connect_database",
    summary="Connect a database",
    status_code=201,
    responses=_ANSWERS | _REFUSED,
)
async def connect_database(
    request: Request, body: Annotated[views.DatabaseBody, Body(openapi_examples=_CONNECT_EXAMPLES)]
) -> views.DatabaseLook:
    """What the role can do is tried, in a transaction that is rolled back, by a sealed process that can reach this one
    address. A role that can write is refused, unless `allow_writer` names it; nothing is kept then. A database of
    yours with this name is replaced."""
    address = _address(body.url)
    if body.password is not None and address.password is not None:
        raise InvalidInput(
            "the address has a password, and so has the body",
            suggestion="Send it as `password`, and leave it out of `url`.",
            field="password",
        )
    source = source_of(
        address,
        body.name,
        only_schema=body.only_schema,
        password_env="",
        allowed_writer=body.allow_writer,
    )
    try:
        password = body.password or address.password
        return views.DatabaseLook.of(*await _sources(request).connect(source, address, password))
    except InvalidInput as error:
        raise for_clients(error) from None


@router.get("/database", operation_id="list_databases", summary="The connected databases")
async def list_databases(request: Request) -> views.Databases:
    sources = _sources(request)
    every = await sources.all()
    return views.Databases(
        databases=tuple(views.DatabaseView(**views.DatabaseView.fields_of(seen)) for seen in every),
        may_connect=sources.may_connect,
        hosts=sources.hosts,
    )


@router.get(
    "/database/{name}",
    operation_id="look_at_database",
    summary="What the role can do, and the tables it can read now",
    responses=_ANSWERS | _REFUSED,
)
async def look_at_database(request: Request, name: Name) -> views.DatabaseLook:
    """The database is asked."""
    try:
        return views.DatabaseLook.of(*await _sources(request).look(name))
    except InvalidInput as error:
        raise for_clients(error) from None


@router.post(
    "/database/{name}/snapshot",
    operation_id="copy_tables",
    summary="Copy tables into a dataset, or copy them again",
    status_code=202,
    responses=_ANSWERS | _ACCEPTED,
)
async def copy_tables(
    request: Request,
    response: Response,
    name: Name,
    body: Annotated[views.TablesBody, Body(openapi_examples=_SNAPSHOT_EXAMPLES)],
) -> Import:
    """All tables are read at one moment of the database. They become the dataset of this name, or a newer version of it
    where anything changed; without `tables`, those that it has are copied again."""
    logs.bind(dataset_id=name)
    made = await _sources(request).snapshot(name, body.tables, body.title)
    response.headers["Location"] = f"/imports/{made.id}"
    return made


@router.post(
    "/database/{name}/live",
    operation_id="make_live_dataset",
    summary="Ask about tables where they are, without a copy",
    responses=_ANSWERS | _REFUSED,
)
async def make_live_dataset(
    request: Request,
    name: Name,
    body: Annotated[views.TablesBody, Body(openapi_examples=_LIVE_EXAMPLES)],
) -> views.LiveDataset:
    """The tables become the dataset of this name, or a newer version of it where their columns changed. Its questions
    are queries in the database, compiled from plans; their data are not pinned."""
    logs.bind(dataset_id=name)
    try:
        added = await _sources(request).make_live(name, body.tables, body.title)
    except InvalidInput as error:
        raise for_clients(error) from None
    return views.LiveDataset(
        dataset_id=added.record.id,
        version=added.record.dataset.version,
        outcome=added.outcome,
        notes=added.notes,
    )


@router.delete(
    "/database/{name}",
    operation_id="disconnect_database",
    summary="Forget a database and its password",
    status_code=204,
    responses=_ANSWERS,
)
async def disconnect_database(request: Request, name: Name) -> None:
    """Its dataset stays as it is."""
    await _sources(request).disconnect(name)


def _address(url: str) -> DatabaseAddress:
    try:
        return read_address(url)
    except InvalidInput as error:
        raise InvalidInput(error.message, suggestion=error.suggestion, field="url") from None
