"""Starts a worker that tries to get out, beside a listener that must not be reached; prints what it reached."""

from __future__ import annotations

import asyncio
import json
import os

from sandtable.errors import SandtableError
from sandtable.sandbox.live.relay import Target
from sandtable.sandbox.live.worker import LiveWorker

DECLARED_ANSWERS = b"declared"


async def probe() -> dict[str, object]:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(DECLARED_ANSWERS)
        await writer.drain()
        writer.close()

    declared = await asyncio.start_server(answer, "127.0.0.1", 0)
    other = await asyncio.start_server(answer, "127.0.0.1", 0)
    ports = [server.sockets[0].getsockname()[1] for server in (declared, other)]
    others = [
        ("AF_INET", "127.0.0.1", ports[0]),
        ("AF_INET", "127.0.0.1", ports[1]),
        ("AF_INET", "192.0.2.1", 5432),
        ("AF_INET", "169.254.169.254", 80),
        ("AF_INET6", "::1", ports[1]),
    ]
    # What a secret of the server would be: the worker's environment is its own.
    os.environ["SANDTABLE_TEST_SECRET"] = "x"
    worker = await LiveWorker.start("probe", Target("127.0.0.1", ports[0]))
    try:
        found = await worker.ask("probe", {"others": others}, within_s=60)
    finally:
        await worker.aclose()
        declared.close()
        other.close()
    escaped = [each["name"] for each in found["attempts"] if each["escaped"]]
    return {"escaped": escaped, "attempts": len(found["attempts"]), "reached": found["reached"]}


def main() -> None:
    try:
        print(json.dumps(asyncio.run(probe())))
    except SandtableError as error:
        print(json.dumps({"code": error.code, "message": error.message}))


if __name__ == "__main__":
    main()
