"""Our errors as those of A2A.

Invariant: a client never gets the text of an unexpected exception; the log has it.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import structlog
from a2a.utils.errors import A2AError, InternalError, InvalidParamsError, InvalidRequestError

from sandtable.accounts.refusals import NotAllowed
from sandtable.errors import InvalidInput, NotFound, SandtableError

log = structlog.get_logger("sandtable.server")

_KINDS: tuple[tuple[type[SandtableError], type[A2AError]], ...] = (
    (InvalidInput, InvalidParamsError),
    (NotFound, InvalidParamsError),
    # The protocol has no kind of its own for what only an owner may do.
    (NotAllowed, InvalidRequestError),
)


@contextmanager
def translated() -> Generator[None, None, None]:
    try:
        yield
    except A2AError:
        raise
    except SandtableError as error:
        raise _translated(error) from error
    except Exception as error:
        log.exception("a2a_request_broke")
        raise InternalError("the server met an unexpected error; its log has the cause") from error


def _translated(error: SandtableError) -> A2AError:
    problem = error.problem
    kind = next((kind for known, kind in _KINDS if isinstance(error, known)), InternalError)
    return kind(problem.in_words, {"code": str(problem.code)})
