"""`sandtable serve`: parts, self-test, application, socket, and an orderly end.

Invariant: nothing listens before the sandbox has withstood its self-test, and on SIGTERM or SIGINT the
parts are closed after the last request has been answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import structlog

from sandtable.assemble import Parts, assemble
from sandtable.errors import SandtableError
from sandtable.server import logs
from sandtable.server.app import create_app
from sandtable.server.conversations import load_ahead
from sandtable.server.standing import Server, address, bound, configured, require, stopping
from sandtable.settings import Settings

GRACE_S = 10

log = structlog.get_logger("sandtable.server")


async def listen(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until a signal comes. `announce` hears the address once requests are answered."""
    logs.configure(settings.log_level)
    with bound(settings.host, settings.port) as listening:
        load_ahead()
        async with assemble(settings, serving=True) as parts:
            report = await parts.doctor()
            require(report)
            app = create_app(parts, report)
            server = Server(
                configured(app, grace_s=GRACE_S),
                lambda: announce(address(settings.host, listening)),
                app.state.listeners.aclose,
            )
            with stopping(server):
                async with _preparing(parts):
                    await server.serve(sockets=[listening])
            log.info("server_stopping")


@asynccontextmanager
async def _preparing(parts: Parts) -> AsyncGenerator[None, None]:
    """Converts the datasets meanwhile, has sandboxes ready for them and looks at what their columns hold:
    the first question need not wait."""

    async def prepare() -> None:
        for step in (parts.warm, parts.library.profile):
            for dataset in parts.library.datasets():
                try:
                    await step(await parts.library.ready(dataset.id))
                except SandtableError as error:
                    log.error("dataset_not_ready", dataset_id=dataset.id, reason=error.message)

    task = asyncio.create_task(prepare())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
