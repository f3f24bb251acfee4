"""One error shape for everything that goes wrong over HTTP, including the framework's own errors.

Invariant: a response with status ≥ 400 is `{"error": {code, message, suggestion, details}, "request_id"}`,
and never holds a traceback or the text of an unexpected exception.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

from sandtable.accounts.refusals import NotAllowed, TooManyAttempts
from sandtable.boards.model import EditionPassed
from sandtable.catalog.names import nearest
from sandtable.catalog.own.uploads import NoSpace, OtherOffset, TooLarge
from sandtable.conversations.model import ThreadBusy
from sandtable.conversations.text import TooLong
from sandtable.errors import ErrorCode, Problem, SandtableError, renamed
from sandtable.quoting import quote
from sandtable.runs.pace import RETRY_AFTER
from sandtable.runs.quotas import QuotaFull
from sandtable.server.adapter import adapter_of
from sandtable.server.bodies import Stalled
from sandtable.store.run_store import StoreUnavailable

log = structlog.get_logger("sandtable.server")

STATUS: dict[ErrorCode, int] = {
    ErrorCode.VALIDATION_ERROR: 422,
    ErrorCode.SQL_POLICY_VIOLATION: 422,
    ErrorCode.PYTHON_POLICY_VIOLATION: 422,
    ErrorCode.RUNNER_TIMEOUT: 504,
    ErrorCode.RUNNER_RESOURCE_EXCEEDED: 503,
    ErrorCode.RUNNER_INTERNAL_ERROR: 500,
    ErrorCode.SANDBOX_UNAVAILABLE: 503,
    ErrorCode.QUEUE_FULL: 503,
    ErrorCode.RATE_LIMITED: 429,
    ErrorCode.CANCELLED: 409,
    ErrorCode.DATA_DAMAGED: 503,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.UNAUTHORIZED: 401,
}
_STATUS_OF_CLASS: tuple[tuple[type[SandtableError], int], ...] = (
    (StoreUnavailable, 503),
    (QuotaFull, 507),
    (NoSpace, 507),
    (ThreadBusy, 409),
    (EditionPassed, 409),
    (OtherOffset, 409),
    (TooLong, 413),
    (TooLarge, 413),
    (Stalled, 408),
    (NotAllowed, 403),
    (TooManyAttempts, 429),
)
"""Where the code alone does not say it."""
REQUEST_ID = "sandtable.request_id"
RETRY_SECONDS = "5"
"""Every answer with status 503 says when to come back; this where nothing is known."""
_RETRY_SECONDS = {429: "1", 503: RETRY_SECONDS}
_SPACE_SECONDS = "60"
"""For data that do not fit: space becomes free when unfinished uploads end, or people remove data."""
HOME = "SANDTABLE_HOME"
_FOR_THE_LOG = frozenset({"stderr", "complaint"})


class ErrorBody(BaseModel):
    """The body of every response with status ≥ 400."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "error": {
                        "code": "NOT_FOUND",
                        "message": "no dataset `ecomerce`; did you mean `ecommerce`?",
                        "suggestion": "The datasets are: ecommerce, support, sensors.",
                        "details": {"dataset": "ecomerce", "nearest": "ecommerce"},
                    },
                    "request_id": "5f0c9d3e8a7b4c21",
                }
            ]
        }
    )

    error: Problem
    request_id: str


def error_response(
    problem: Problem, scope: Scope, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    problem = without_home(problem, scope)
    body: dict[str, Any] = {"error": problem.model_dump(), "request_id": scope.get(REQUEST_ID, "")}
    code = status or STATUS[problem.code]
    if adapter := adapter_of(scope):
        body |= adapter.error_fields(problem)
        if adapter.error_body is not None:
            body = {**adapter.error_body(problem, code, scope["path"])}
    # ASCII, because a message may quote text that UTF-8 cannot encode.
    content = json.dumps(body, default=str).encode("ascii")
    return Response(
        content,
        status_code=code,
        headers={**_usual_headers(code, problem), **(headers or {})},
        media_type="application/json",
    )


def _usual_headers(status: int, problem: Problem) -> dict[str, str]:
    if status == 401:
        return {"WWW-Authenticate": 'Bearer realm="Sandtable"'}
    return retry_after(problem, status)


def retry_after(problem: Problem, status: int) -> dict[str, str]:
    """The header that says when to come back: as the queue or the limit that refused it knows, else by the status."""
    known = problem.details.get(RETRY_AFTER)
    if isinstance(known, int | float) and known >= 0 and status >= 400:
        return {"Retry-After": str(math.ceil(known))}
    return {"Retry-After": _RETRY_SECONDS[status]} if status in _RETRY_SECONDS else {}


def without_home(problem: Problem, scope: Scope) -> Problem:
    """Removes the operator's folders, and what a sandbox process wrote about itself: both are for the log only."""
    parts = getattr(getattr(scope.get("app"), "state", None), "parts", None)
    details = {name: value for name, value in problem.details.items() if name not in _FOR_THE_LOG}
    if parts is None:
        return problem.model_copy(update={"details": details})
    return renamed(problem.model_copy(update={"details": details}), {str(parts.settings.home): HOME})


def unexpected(scope: Scope) -> Response:
    problem = Problem(
        code=ErrorCode.RUNNER_INTERNAL_ERROR,
        message="the server met an unexpected error",
        suggestion="Try again; if it happens again, report it with this request_id: the log has the cause.",
    )
    return error_response(problem, scope)


def install(app: FastAPI, routes: Iterable[BaseRoute]) -> None:
    app.state.routes = tuple(route for route in routes if isinstance(route, Route))
    app.add_exception_handler(SandtableError, _known)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _refused_by_framework)


async def _known(request: Request, error: Exception) -> Response:
    assert isinstance(error, SandtableError)
    return answer_to(error, request)


def answer_to(error: SandtableError, request: Request) -> Response:
    return response_to(error, request.scope)


def response_to(error: SandtableError, scope: Scope) -> Response:
    if _FOR_THE_LOG & error.details.keys():
        log.error("request_failed", path=scope["path"], reason=error.message, **error.details)
    status = next((status for kind, status in _STATUS_OF_CLASS if isinstance(error, kind)), None)
    later = {"Retry-After": _SPACE_SECONDS} if isinstance(error, NoSpace) else None
    return error_response(error.problem, scope, status, later)


async def _refused_by_framework(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = {"Allow": ", ".join(_methods(request))} if error.status_code == 405 else error.headers
    return error_response(_framework_problem(request, error), request.scope, error.status_code, headers)


def _methods(request: Request) -> list[str]:
    """The methods that the path allows: the framework names only those of its first route."""
    found: set[str] = set()
    for route in request.app.state.routes:
        if route.matches(request.scope)[0] != Match.NONE:
            found |= route.methods
    return sorted(found - {"HEAD"})


def _framework_problem(request: Request, error: HTTPException) -> Problem:
    path, method = request.url.path, request.method
    if error.status_code == 404:
        return Problem(
            code=ErrorCode.NOT_FOUND,
            message=f"nothing is at {path}",
            suggestion="GET /docs lists what this server answers.",
        )
    if error.status_code == 405:
        return Problem(
            code=ErrorCode.VALIDATION_ERROR,
            message=f"{path} does not answer {method}",
            suggestion=f"Use {' or '.join(_methods(request))}.",
        )
    if error.status_code == 400:
        return Problem(
            code=ErrorCode.VALIDATION_ERROR,
            message="the body could not be read as JSON: it is not UTF-8, or nested too deeply",
            suggestion="Send a JSON object in UTF-8.",
        )
    return Problem(code=ErrorCode.VALIDATION_ERROR, message=str(error.detail))


async def _malformed(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    known = _field_names(request)
    errors = [_in_words(detail, known) for detail in error.errors()]
    first, more = errors[0], len(errors) - 1
    rest = f" (and {more} more problem{'s' if more > 1 else ''})" if more else ""
    problem = Problem(
        code=ErrorCode.VALIDATION_ERROR,
        message=first["message"] + rest,
        suggestion=first["suggestion"],
        details={"errors": errors},
    )
    return error_response(problem, request.scope)


def _field_names(request: Request) -> list[str]:
    """The fields that the body of this request may have."""
    body = getattr(request.scope.get("route"), "body_field", None)
    model = body.field_info.annotation if body is not None else None
    return list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []


def _in_words(detail: Mapping[str, Any], known: list[str]) -> dict[str, str]:
    where, *path = [str(part) for part in detail["loc"]]
    field = ".".join(path)
    kind, message = str(detail["type"]), str(detail["msg"])
    if kind == "json_invalid":
        reason = detail.get("ctx", {}).get("error", "it cannot be read")
        return _said("", f"the body is not JSON: {reason} at character {field}", "Send a JSON object.")
    if kind == "missing":
        if not field:
            return _said("", "the request has no body", "Send a JSON object.")
        return _said(field, f"{quote(field)} is missing", f"Add {quote(field)} to the {where}.")
    if kind == "extra_forbidden":
        alike = nearest(field, known)
        hint = f"; did you mean {quote(alike)}?" if alike else ""
        return _said(field, f"unknown field {quote(field)}{hint}", f"Fields here: {', '.join(known)}.")
    if not field:
        return _said("", "the body must be a JSON object", "Send a JSON object.")
    words = message.replace("Input should be", "must be").replace("Value error, ", "")
    return _said(
        field, f"{quote(field)} {words}" if words.startswith("must") else f"{quote(field)}: {words}", ""
    )


def _said(field: str, message: str, suggestion: str) -> dict[str, str]:
    return {"field": field, "message": message, "suggestion": suggestion or f"Correct {quote(field)}."}
