"""The conversation with a warm pod: one connection, a token, the order, the report."""

from __future__ import annotations

import asyncio
import contextlib
import json
import struct

from sandtable.sandbox.job import Job
from sandtable.sandbox.kubernetes.believing import longest_line
from sandtable.sandbox.kubernetes.lost import Lost
from sandtable.sandbox.kubernetes.manifest import PORT
from sandtable.sandbox.report import RunnerReport
from sandtable.sandbox.wire import order_of, parse_strictly

_LENGTH = struct.Struct(">I")
_CONNECT_S = 2.0
_LATE_S = 15.0


class Unreached(Exception):
    """No order was sent: the pod never saw the job."""


async def talk(address: str, token: str, nonce: str, job: Job) -> RunnerReport:
    """Raises Unreached, and Lost when the order was sent and no report came back."""
    try:
        async with asyncio.timeout(_CONNECT_S):
            reader, writer = await asyncio.open_connection(address, PORT)
    except (OSError, TimeoutError) as error:
        raise Unreached(f"{address}: {str(error) or 'no answer'}") from error
    try:
        async with asyncio.timeout(job.limits.wall_ms / 1e3 + _LATE_S):
            order = json.dumps(order_of(job), separators=(",", ":")).encode()
            writer.write(token.encode() + b"\n" + _LENGTH.pack(len(order)) + order)
            await writer.drain()
            return _report(await _frame(reader, longest_line(job)), nonce)
    except (OSError, EOFError, TimeoutError) as error:
        raise Lost(f"the connection to its pod broke off: {str(error) or type(error).__name__}") from error
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _frame(reader: asyncio.StreamReader, most: int) -> bytes:
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    if length > most:
        raise Lost(f"a report of {length} bytes is over the limit of {most}")
    return await reader.readexactly(length)


def _report(frame: bytes, nonce: str) -> RunnerReport:
    try:
        report = RunnerReport.model_validate(parse_strictly(frame))
    except (ValueError, RecursionError) as error:
        # pydantic's error is a ValueError, too.
        raise Lost(f"its report does not have the agreed form: {type(error).__name__}") from error
    if report.nonce != nonce:
        raise Lost("its report is not for this job")
    return report
