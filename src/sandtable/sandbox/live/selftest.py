"""The self-test of a worker: from inside its seal, everything is tried that a driver must not be able to do."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from importlib.util import find_spec

from pydantic import BaseModel, ConfigDict, ValidationError

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.live.relay import Target
from sandtable.sandbox.live.worker import EXTRAS, LiveWorker, WorkerFailed, WorkerLost

_WITHIN_S = 60.0
_OF_A_TCP_SOCKET = frozenset(
    {
        "internet socket",
        "make a socket (socket)",
        "connect a socket (connect)",
        "send to an address (sendto)",
        "set a socket's options (setsockopt)",
        # The channel to the server.
        "hold a foreign socket or folder",
    }
)
"""What a driver needs: where its sockets lead is tried by itself."""
_DECLARED = "declared"


class _Attempt(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)

    name: str
    escaped: bool
    detail: str


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)

    attempts: list[_Attempt]
    reached: dict[str, str]


@dataclass(frozen=True, slots=True)
class WorkerReport:
    attempts: int = 0
    escaped: tuple[str, ...] = ()
    unavailable: str = ""
    """Why databases cannot be connected here."""


async def examine_worker() -> WorkerReport:
    """The declared address and another one are listened on by this process, for a moment."""
    if not any(find_spec(driver) for driver in EXTRAS):
        how = " or ".join(f"pip install 'sandtable[{extra}]'" for extra in EXTRAS.values())
        return WorkerReport(unavailable=f"no driver is installed: {how}")
    servers = [await asyncio.start_server(_close, "127.0.0.1", 0) for _ in range(2)]
    try:
        declared, other = (server.sockets[0].getsockname()[1] for server in servers)
        worker = await LiveWorker.start("probe", Target("127.0.0.1", declared))
        try:
            return _report(
                await worker.ask("probe", {"others": _others(declared, other)}, within_s=_WITHIN_S)
            )
        finally:
            await worker.aclose()
    except SandboxUnavailable as error:
        return WorkerReport(unavailable=error.message)
    except (TimeoutError, WorkerFailed, WorkerLost, ValidationError) as error:
        return WorkerReport(unavailable=f"the self-test did not finish: {type(error).__name__}")
    finally:
        for server in servers:
            server.close()


def _others(declared: int, other: int) -> list[tuple[str, str, int]]:
    """This machine by the ports that its own network has, a cloud's address of secrets, and one of no machine."""
    return [
        ("AF_INET", "127.0.0.1", declared),
        ("AF_INET", "127.0.0.1", other),
        ("AF_INET6", "::1", other),
        ("AF_INET", "169.254.169.254", 80),
        ("AF_INET", "192.0.2.1", 5432),
    ]


def _report(answer: object) -> WorkerReport:
    found = _Answer.model_validate(answer)
    if found.reached.pop(_DECLARED, "not tried"):
        return WorkerReport(unavailable="the declared address was not reached")
    attempts = [a for a in found.attempts if a.name not in _OF_A_TCP_SOCKET]
    escaped = [attempt.name for attempt in attempts if attempt.escaped]
    escaped += [f"reach {place}" for place, why_not in found.reached.items() if not why_not]
    return WorkerReport(len(attempts) + len(found.reached), tuple(escaped))


async def _close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()
