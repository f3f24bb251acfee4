"""A turn for a caller that gets its failure as an event."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

import structlog

from sandtable.agent.events import Error
from sandtable.errors import SandtableError

log = structlog.get_logger(__name__)

T = TypeVar("T")


async def with_failure(turn: AsyncGenerator[T, None]) -> AsyncGenerator[T | Error, None]:
    try:
        async with aclosing(turn) as closing:
            async for event in closing:
                yield event
    except SandtableError as error:
        log.warning("turn_failed", code=error.code, reason=error.message)
        yield Error.of(error)
    except Exception as error:
        log.exception("turn_broke")
        yield Error.of(error)
