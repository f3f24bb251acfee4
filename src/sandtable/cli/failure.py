"""Prints errors: one line with the code, one with a suggestion, and a traceback only on request."""

from __future__ import annotations

import traceback

import click

from sandtable.cli.config import debugging
from sandtable.cli.file_questions import options_in
from sandtable.cli.show import clean, print_json
from sandtable.errors import ErrorCode, Problem, SandtableError

FAILED, UNUSABLE, REFUSED, NO_SANDBOX = 1, 2, 3, 4

EXIT_CODES: dict[ErrorCode, int] = {
    ErrorCode.VALIDATION_ERROR: UNUSABLE,
    ErrorCode.NOT_FOUND: UNUSABLE,
    ErrorCode.UNAUTHORIZED: UNUSABLE,
    ErrorCode.SQL_POLICY_VIOLATION: REFUSED,
    ErrorCode.PYTHON_POLICY_VIOLATION: REFUSED,
    ErrorCode.SANDBOX_UNAVAILABLE: NO_SANDBOX,
    ErrorCode.QUEUE_FULL: FAILED,
    ErrorCode.RATE_LIMITED: FAILED,
    ErrorCode.CANCELLED: FAILED,
    ErrorCode.DATA_DAMAGED: FAILED,
    ErrorCode.RUNNER_TIMEOUT: FAILED,
    ErrorCode.RUNNER_RESOURCE_EXCEEDED: FAILED,
    ErrorCode.RUNNER_INTERNAL_ERROR: FAILED,
}


def explain(error: Exception, *, as_json: bool) -> int:
    """Prints an error and returns the exit code."""
    problem = error.problem if isinstance(error, SandtableError) else _unforeseen(error)
    if as_json:
        print_json({"error": problem.model_dump(mode="json")})
    else:
        tell(problem)
    return EXIT_CODES[problem.code]


def misused(error: click.ClickException) -> int:
    """A usage error as a JSON object."""
    context = getattr(error, "ctx", None)
    path = f"sandtable {context.info_name}" if context and context.parent else "sandtable"
    problem = Problem(
        code=ErrorCode.VALIDATION_ERROR, message=error.format_message(), suggestion=f"See `{path} --help`."
    )
    print_json({"error": problem.model_dump(mode="json")})
    return error.exit_code


def _unforeseen(error: Exception) -> Problem:
    if debugging():
        traceback.print_exception(error)
    code = ErrorCode.RUNNER_INTERNAL_ERROR
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return Problem(
            code=code,
            message=f"{where}{error.strerror or error}",
            suggestion="Check that SANDTABLE_HOME and the output may be written, and that there is space left.",
        )
    return Problem(
        code=code,
        message=f"Sandtable met an unexpected error: {type(error).__name__}: {error}",
        suggestion="This is a defect: please report it. With SANDTABLE_LOG_LEVEL=debug it says where it happened.",
    )


def tell(problem: Problem) -> None:
    click.echo(f"error[{problem.code}]: {clean(problem.message, newlines=True)}", err=True)
    for other in problem.details.get("errors", ())[1:]:
        click.echo(f"  also: {clean(str(other.get('message', other)))}", err=True)
    if problem.suggestion:
        click.echo(f"  → {clean(problem.suggestion)}", err=True)
    for line in options_in(problem.details):
        click.echo(f"  {clean(line)}", err=True)
