"""How expected trouble is told: one line with its code, one with what to do, never a traceback."""

from __future__ import annotations

import click

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
    ErrorCode.RUNNER_TIMEOUT: FAILED,
    ErrorCode.RUNNER_RESOURCE_EXCEEDED: FAILED,
    ErrorCode.RUNNER_INTERNAL_ERROR: FAILED,
}


def explain(error: Exception, *, as_json: bool) -> int:
    """Tells of an expected error and answers with the exit code; raises an unexpected one again."""
    if not isinstance(error, SandtableError):
        raise error
    if as_json:
        print_json({"error": error.problem.model_dump(mode="json")})
    else:
        tell(error.problem)
    return EXIT_CODES[error.code]


def tell(problem: Problem) -> None:
    click.echo(f"error[{problem.code}]: {clean(problem.message, newlines=True)}", err=True)
    for other in problem.details.get("errors", ())[1:]:
        click.echo(f"  also: {clean(str(other.get('message', other)))}", err=True)
    if problem.suggestion:
        click.echo(f"  → {clean(problem.suggestion)}", err=True)
