"""Our errors as those of A2A.

Invariant: a client never gets the text of an unexpected exception; the log has it.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import structlog
from a2a.utils.errors import A2AError, InternalError, InvalidParamsError

from sandtable.errors import InvalidInput, NotFound, SandtableError

log = structlog.get_logger("sandtable.server")


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
    kind = InvalidParamsError if isinstance(error, InvalidInput | NotFound) else InternalError
    return kind(problem.in_words, {"code": str(problem.code)})
