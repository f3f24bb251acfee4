"""`sandtable execd` inside the test's own process, over a scripted tier, on a real socket or without one."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from sandtable.sandbox.executor import Hello, Kind
from sandtable.sandbox.fake import FakeExecutor, Script
from sandtable.sandbox.job import DataRef, Job
from sandtable.sandbox.remote.proof import HEADER, Token
from sandtable.server.execd.app import create_execd_app
from tests.sandbox.remote.process import TOKEN
from tests.sandbox.stores import write_digests

VERSION = "c" * 64
SLOW = "SELECT slow"


class FakeTier(FakeExecutor):
    def __init__(self, engine: str = "fakedb 1.0") -> None:
        super().__init__()
        self.engine = engine
        self.warmed: list[Job] = []
        self.on(SLOW, Script(delay_s=3600))

    async def start(self, kind: Kind = "sql") -> Hello:
        return Hello(self.engine, ("paper walls",))

    async def warm(self, job: Job) -> None:
        self.warmed.append(job)


class OneSocketServer(uvicorn.Server):
    def __init__(self, app: FastAPI) -> None:
        super().__init__(uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1))

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """The test's process keeps its own."""
        yield


def make_data(root: Path) -> Path:
    folder = root / "versions" / VERSION
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "orders.parquet").write_bytes(b"rows")
    write_digests(folder)
    return root


def job(job_id: str = "job-1", text: str = "SELECT 42", **given: Any) -> Job:
    return Job(
        **{
            "id": job_id,
            "mode": "sql",
            "dataset_id": "shop",
            "dataset_version": f"sha256:{VERSION}",
            "data": (DataRef(table="orders", path="orders.parquet"),),
            "text": text,
            **given,
        }
    )


def make_app(tier: FakeTier, data: Path, **given: Any) -> FastAPI:
    return create_execd_app(tier, given.pop("token", TOKEN), data=make_data(data), **given)


@asynccontextmanager
async def serving(app: FastAPI) -> AsyncGenerator[str, None]:
    """The address, while it answers there."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = OneSocketServer(app)
        task = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started:
            await asyncio.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task


class Caller:
    """Speaks to an app without a socket, with proofs."""

    def __init__(self, app: FastAPI, token: str = TOKEN) -> None:
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://execd")
        self.token = Token(token)

    def proof(self, method: str, target: str, body: bytes = b"", later_s: float = 0.0) -> str:
        return self.token.claim(method, target, body, time.time() + later_s).header()

    async def send(
        self, method: str, target: str, body: Any = None, proof: str | None = None
    ) -> httpx.Response:
        content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {HEADER: proof if proof is not None else self.proof(method, target, content)}
        headers |= {"content-type": "application/json"} if content else {}
        return await self.client.request(method, target, content=content, headers=headers)

    async def submit(self, given: Job, **query: Any) -> httpx.Response:
        target = "/v1/jobs" + ("?" + str(httpx.QueryParams(query)) if query else "")
        return await self.send("POST", target, given.model_dump(mode="json"))
