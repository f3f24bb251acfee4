"""The OpenAPI document: what the routes declare, and what holds for every request.

Invariant: each operation lists every status that it, an error handler, a middleware or the connection can answer, with
the shape and the headers of that answer. A route declares only what is special about it.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from sandtable.capsule.bounds import DOCUMENT_BYTES
from sandtable.sandbox.job import Limits
from sandtable.server.connections import MAX_HEAD, MAX_HEADERS, MAX_TARGET
from sandtable.server.errors import ErrorBody
from sandtable.server.guard import MAX_BODY

NO_NUL = "^[^\\u0000]*$"
_METHODS_WITH_BODY = ("post", "put", "patch", "delete")
_DEFAULT_VALIDATION = ("HTTPValidationError", "ValidationError")
"""Schemas that FastAPI declares for 422, which this server never returns."""

_EVERY_REQUEST = {
    "400": "The request cannot be read: its Host header, a NUL character in its address, a body that is not JSON in"
    " UTF-8.",
    "401": "The server asks who its users are, and the request proves no identity.",
    "403": "A page of another origin sent it, it names a user without coming from a trusted proxy, or its user,"
    " API key or client may not do this.",
    "408": "The request did not arrive in time.",
    "414": f"The address has more than {MAX_TARGET} characters.",
    "421": "The Host header has a name that is not this server's.",
    "422": "The request cannot be used; the message says why.",
    "429": "The user sends more requests than one user may.",
    "431": f"The head of the request has more than {MAX_HEAD >> 10} KiB or {MAX_HEADERS} headers.",
    "500": "The server met an unexpected error; the log has its cause under the request id.",
    "503": "The sandbox, the store or a queue takes nothing now, the server stops, or the data are damaged.",
}
_EVERY_BODY = {
    "413": f"The body has more than {MAX_BODY >> 20} MiB ({DOCUMENT_BYTES >> 20} MiB for `POST /verify`), or a text"
    " in it is too long.",
    "415": "The body is not `application/json` (or what the operation names instead), or is compressed.",
}
_HEADERS: dict[str, Any] = {
    "X-Request-Id": {
        "description": "The request's id: the one that was sent, where it was usable, or one made here.",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$"},
    },
    "Retry-After": {
        "description": "Seconds to wait before the next attempt.",
        "schema": {"type": "integer", "minimum": 0},
    },
}


class DescribedApi(FastAPI):
    limits: Limits | None = None
    """Limits of one run on this server."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            document = _completed(super().openapi())
            if self.limits is not None:
                _state_most(document, max_rows=self.limits.rows, timeout_ms=self.limits.wall_ms)
            self.openapi_schema = document
        return self.openapi_schema


def response_of(document: dict[str, Any], response: dict[str, Any]) -> dict[str, Any]:
    """The full description of a response that an operation refers to."""
    name = response.get("$ref", "").rpartition("/")[2]
    return document["components"]["responses"][name] if name else response


def _completed(document: dict[str, Any]) -> dict[str, Any]:
    components = document["components"]
    for name in _DEFAULT_VALIDATION:
        components["schemas"].pop(name, None)
    components["schemas"].setdefault(
        "ErrorBody", ErrorBody.model_json_schema(ref_template="#/components/schemas/{model}")
    )
    components["headers"] = _HEADERS
    components["responses"] = {
        f"Status{status}": _answer(status, text) for status, text in (_EVERY_REQUEST | _EVERY_BODY).items()
    }
    for operations in document["paths"].values():
        for method, operation in operations.items():
            _complete(method, operation)
    return document


def _state_most(document: dict[str, Any], **most: int) -> None:
    fields = document["components"]["schemas"]["RunBody"]["properties"]
    for name, value in most.items():
        number = next(choice for choice in fields[name]["anyOf"] if choice["type"] == "integer")
        number["maximum"] = value


def _complete(method: str, operation: dict[str, Any]) -> None:
    responses = operation["responses"]
    for status in (*_EVERY_REQUEST, *(_EVERY_BODY if method in _METHODS_WITH_BODY else ())):
        if status not in responses or _is_default_validation(responses[status]):
            responses[status] = {"$ref": f"#/components/responses/Status{status}"}
    for status, response in responses.items():
        if "$ref" not in response:
            response["headers"] = _headers(status) | response.get("headers", {})
    operation["responses"] = dict(sorted(responses.items()))
    for parameter in operation.get("parameters", ()):
        _forbid_nul(parameter["schema"])


def _answer(status: str, description: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
    return {"description": description, "headers": _headers(status), "content": content}


def _headers(status: str) -> dict[str, Any]:
    names = ("X-Request-Id", "Retry-After") if status in ("429", "503") else ("X-Request-Id",)
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _is_default_validation(response: dict[str, Any]) -> bool:
    schema = response.get("content", {}).get("application/json", {}).get("schema", {})
    return schema.get("$ref", "").endswith("/HTTPValidationError")


def _forbid_nul(schema: dict[str, Any]) -> None:
    """Excludes NUL from parameters: the guard refuses URLs that hold one."""
    for choice in (schema, *schema.get("anyOf", ())):
        if choice.get("type") == "string" and "enum" not in choice:
            choice.setdefault("pattern", NO_NUL)
