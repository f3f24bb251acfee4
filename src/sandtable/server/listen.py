"""`sandtable serve`: parts, self-test, application, socket, and graceful shutdown.

Invariant: it listens only after the sandbox has passed its self-test, and on SIGTERM or SIGINT the parts are
closed after the last request has been answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path

import structlog

from sandtable.accounts.accounts import Accounts
from sandtable.assemble import Parts, assemble
from sandtable.assemble.accounts import accounts_are_on, accounts_of
from sandtable.catalog.reading.file_tables import NOTHING_DECIDED, Decided
from sandtable.catalog.registry import registry_folder
from sandtable.errors import InvalidInput, SandtableError, folders_named
from sandtable.server import logs
from sandtable.server.a2a import ports as a2a_ports
from sandtable.server.acceptor import room_here
from sandtable.server.app import begin_shutdown, create_app, finish_work
from sandtable.server.callers import Callers
from sandtable.server.errors import HOME
from sandtable.server.lazy_conversation import load_ahead
from sandtable.server.redaction import secrets_of
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

_NO_USERS = (
    "there is no user yet who could sign in; `sandtable user add NAME --admin` makes the first administrator"
)
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
    logs.configure(settings.log_level, form=settings.log_format, secrets=secrets_of(settings))
    with bound(settings.host, settings.port) as listening:
        reachable = is_reachable_by_others(listening)
        asks = accounts_are_on(settings, reachable=reachable)
        warning = "" if asks or not reachable else _about_access(settings)
        load_ahead()
        async with (
            a2a_ports.opened(settings) as agent_ports,
            assemble(settings, serving=True) as parts,
            _accounts(parts, asks=asks) as accounts,
        ):
            warning = warning or await _about_users(accounts)
            report = await parts.doctor()
            require(report)
            if data:
                await parts.datasets.add_files(data, decided=decided)
            app = create_app(parts, report, accounts=accounts)
            room = room_here(Callers(settings, accounts=asks).trusts)
            server = Server(
                configured(app, grace_s=settings.grace_s, room=room),
                lambda: announce(addresses(listening), warning),
                partial(begin_shutdown, app, settings.grace_s),
                partial(finish_work, app),
            )
            with stopping(server), folders_named(_folder_names(settings)):
                also = agent_ports.serving(app, room, settings.grace_s) if agent_ports else nullcontext()
                async with _preparing(parts, app.openapi), also:
                    await server.serve(sockets=[listening])
            log.info("server_stopping")


def _folder_names(settings: Settings) -> dict[str, str]:
    folders = {registry_folder(settings): "SANDTABLE_DATASETS", settings.home: HOME}
    return {str(folder): name for folder, name in folders.items()}


def _about_access(settings: Settings) -> str:
    """A warning about who can use a server without accounts that others can reach, if any; raises InvalidInput if the
    settings leave that undecided."""
    if settings.insecure:
        log.warning("open_to_everybody", host=settings.host, reason=_OPEN)
        return _OPEN
    if settings.trusted_proxies:
        return ""
    raise InvalidInput(
        f"other machines can reach {settings.host}, and accounts, which would keep them out, are off",
        suggestion=(
            "Remove SANDTABLE_ACCOUNTS=off, or name the proxy that signs people in"
            " (SANDTABLE_TRUSTED_PROXIES=ADDRESS), or say that everybody may use it (`--insecure`,"
            " SANDTABLE_INSECURE=true), or listen on 127.0.0.1."
        ),
    )


async def _about_users(accounts: Accounts | None) -> str:
    """How to begin, where no one can sign in yet."""
    if accounts is None or not await accounts.people.is_empty():
        return ""
    log.warning("no_users", reason=_NO_USERS)
    return _NO_USERS


@asynccontextmanager
async def _accounts(parts: Parts, *, asks: bool) -> AsyncGenerator[Accounts | None, None]:
    if not asks:
        yield None
        return
    accounts = accounts_of(parts.settings, parts.database)
    await accounts.open()
    try:
        yield accounts
    finally:
        await accounts.aclose()


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
