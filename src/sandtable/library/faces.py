"""A session as a blocking and as an async class. Both only delegate to `LiveSession`."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from sandtable.library.bridge import BRIDGE, await_for, wait_for
from sandtable.library.session import LiveSession
from sandtable.library.work import Data, decided_of

P = ParamSpec("P")
T = TypeVar("T")
Method = Callable[Concatenate[LiveSession, P], Coroutine[Any, Any, T]]


def _waiting(method: Method[P, T]) -> Callable[Concatenate[_Face, P], T]:
    @wraps(method)
    def call(self: _Face, *args: P.args, **kwargs: P.kwargs) -> T:
        return wait_for(method(self._live, *args, **kwargs))

    return call


def _awaited(method: Method[P, T]) -> Callable[Concatenate[_Face, P], Coroutine[Any, Any, T]]:
    @wraps(method)
    async def call(self: _Face, *args: P.args, **kwargs: P.kwargs) -> T:
        return await await_for(method(self._live, *args, **kwargs))

    return call


class _Face:
    def __init__(
        self,
        data: Data = None,
        timeout: float = 30.0,
        *,
        names: Mapping[str, str] | None = None,
        check: bool = True,
        memory_mb: int | None = None,
        answers: Mapping[str, str] | None = None,
        repairs: Sequence[str] = (),
    ) -> None:
        self._live = LiveSession(data, timeout, names, check, memory_mb, decided_of(answers, repairs))
        # A session that is not closed explicitly releases its process when it is garbage-collected.
        weakref.finalize(self, BRIDGE.later, self._live.close).atexit = False


class Session(_Face):
    """Python in several pieces, with variables kept between them, in one sealed sandbox.

        with sandtable.Session(data="sales.csv") as session:
            session.run("top = df.nlargest(10, 'amount')")
            print(session.run("print(top.city.unique())").stdout)

    The arguments are those of `sandtable.run`; `timeout` is for each piece. The sandbox starts with the first piece
    and ends with `close()` or the `with` block. The data is loaded once. Every piece leaves a signed capsule.
    """

    run = _waiting(LiveSession.run)
    close = _waiting(LiveSession.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncSession(_Face):
    """`sandtable.Session` for async programs: `async with aio.Session(data=…) as session: await session.run(…)`."""

    run = _awaited(LiveSession.run)
    close = _awaited(LiveSession.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
