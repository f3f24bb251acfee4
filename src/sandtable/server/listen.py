"""`sandtable serve`: parts, self-test, application, socket, and graceful shutdown.

Invariant: it listens only after the sandbox has passed its self-test, and on SIGTERM or SIGINT the parts are
closed after the last request has been answered.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import structlog

from sandtable.assemble import Parts, assemble
from sandtable.catalog.file_tables import NOTHING_DECIDED, Decided
from sandtable.catalog.registry import registry_folder
from sandtable.errors import InvalidInput, SandtableError, folders_named
from sandtable.server import logs
from sandtable.server.acceptor import room_here
from sandtable.server.app import begin_shutdown, create_app
from sandtable.server.callers import Callers
from sandtable.server.errors import HOME
from sandtable.server.lazy_conversation import load_ahead
from sandtable.server.standing import (
    Server,
    addresses,
    bound,
    configured,
    is_reachable_by_others,
    require,
    stopping,
)
from sandtable.settings import Settings

GRACE_S = 10
_OPEN = "everybody who can reach this address can run queries here and read all runs, without signing in"

log = structlog.get_logger("sandtable.server")


async def listen(
    settings: Settings,
    announce: Callable[[tuple[str, ...], str], None],
    data: Sequence[Path] = (),
    decided: Decided = NOTHING_DECIDED,
) -> None:
    """Serves until a signal. `announce` is called with the addresses, and a warning or None, once the server accepts
    requests. The files of `data` are a dataset of this server only.

    Raises InvalidInput, SandboxUnavailable.
    """
    logs.configure(settings.log_level)
    with bound(settings.host, settings.port) as listening:
        warning = _about_access(settings, listening)
        load_ahead()
        async with assemble(settings, serving=True) as parts:
            report = await parts.doctor()
            require(report)
            if data:
                await parts.datasets.add_files(data, decided=decided)
            app = create_app(parts, report)
            server = Server(
                configured(app, grace_s=GRACE_S, room=room_here(Callers(settings).trusts)),
                lambda: announce(addresses(listening), warning),
                partial(begin_shutdown, app, GRACE_S),
            )
            with stopping(server), folders_named(_folder_names(settings)):
                async with _preparing(parts, app.openapi):
                    await server.serve(sockets=[listening])
            log.info("server_stopping")


def _folder_names(settings: Settings) -> dict[str, str]:
    folders = {registry_folder(settings): "SANDTABLE_DATASETS", settings.home: HOME}
    return {str(folder): name for folder, name in folders.items()}


def _about_access(settings: Settings, listening: socket.socket) -> str:
    """A warning about who can use this server, if any; raises InvalidInput if the settings leave that undecided."""
    if not is_reachable_by_others(listening):
        return ""
    if settings.insecure:
        log.warning("open_to_everybody", host=settings.host, reason=_OPEN)
        return _OPEN
    if settings.trusted_proxies:
        return ""
    raise InvalidInput(
        f"other machines can reach {settings.host}, and Sandtable has no accounts that would keep them out",
        suggestion=(
            "Name the proxy that signs people in (SANDTABLE_TRUSTED_PROXIES=ADDRESS), or say that everybody may use"
            " it (`--insecure`, SANDTABLE_INSECURE=true), or listen on 127.0.0.1."
        ),
    )


@asynccontextmanager
async def _preparing(parts: Parts, describe: Callable[[], object]) -> AsyncGenerator[None, None]:
    """In the background, converts the datasets, prepares sandboxes for them and profiles their columns, so that the
    first question need not wait. `describe` builds the OpenAPI document, which is then cached: built by the first
    request, it would block all others."""

    async def prepare() -> None:
        for step in (parts.warm, parts.datasets.profile):
            for dataset in parts.datasets.datasets():
                try:
                    await step(await parts.datasets.ready(dataset.id))
                except SandtableError as error:
                    log.error("dataset_not_ready", dataset_id=dataset.id, reason=error.message)
        await asyncio.to_thread(describe)

    task = asyncio.create_task(prepare())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
