"""Errors that a client gets before, or in place of, the SDK's routes: refused requests, and a server that stops.

Invariant: they have the form of the binding that the path belongs to. Nothing here loads the SDK.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandtable.errors import Problem

_DOMAIN = "sandtable"
_UNSUPPORTED_TYPE, _INVALID_REQUEST, _INTERNAL = -32005, -32600, -32603
_GRPC_NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    415: "INVALID_ARGUMENT",
    422: "INVALID_ARGUMENT",
    503: "UNAVAILABLE",
}


def error_body(problem: Problem, status: int, path: str) -> Mapping[str, Any]:
    of_a2a = status == 415
    info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "CONTENT_TYPE_NOT_SUPPORTED" if of_a2a else str(problem.code),
        "domain": "a2a-protocol.org" if of_a2a else _DOMAIN,
        "metadata": {},
    }
    if path.rstrip("/") == "/a2a":
        code = _UNSUPPORTED_TYPE if of_a2a else _INVALID_REQUEST if status < 500 else _INTERNAL
        return rpc_error(code, problem.in_words, [info])
    name = _GRPC_NAMES.get(status, "INTERNAL" if status >= 500 else "FAILED_PRECONDITION")
    return {"error": {"code": status, "status": name, "message": problem.in_words, "details": [info]}}


def ended(problem: Problem) -> Mapping[str, Any]:
    """The last event of a stream that ends for this reason, in place of its task's."""
    return error_body(problem, 401, "/a2a")


def rpc_error(code: int, message: str, data: list[Any] | None = None) -> dict[str, Any]:
    more = {} if data is None else {"data": data}
    return {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message, **more}}


STOPPED = rpc_error(_INTERNAL, "the server stops; get the task, or subscribe to it again, in a moment")
"""The last event of a stream that a shutdown ends."""
