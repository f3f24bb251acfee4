"""`sandtable execd`: sandbox, self-test, application, socket, and graceful shutdown.

Invariant: it listens only after the sandbox has passed its self-test, and on SIGTERM or SIGINT the sandboxes are
ended after the last request has been answered, or after the grace time.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import structlog

from sandtable.assemble.telemetry import open_tracer
from sandtable.assemble.tiers import local_executor
from sandtable.errors import InvalidInput
from sandtable.observing import UNOBSERVED, Observer
from sandtable.sandbox.executor import Tier
from sandtable.sandbox.job import Mode
from sandtable.sandbox.remote.proof import Token
from sandtable.sandbox.remote.protocol import Offer
from sandtable.sandbox.selftest import examine
from sandtable.server import logs
from sandtable.server.execd.admit import SERVED
from sandtable.server.execd.app import create_execd_app
from sandtable.server.redaction import secrets_of
from sandtable.server.standing import Server, addresses, bound, configured, require, stopping
from sandtable.settings import Settings

GRACE_S = 10
KEEP_ALIVE_S = 75
SERVICE = "sandtable-execd"
"""In traces, unless OTEL_SERVICE_NAME says another name."""
_WAITING_PER_PLACE = 2
_HERE = ("auto", "local", "multiprocessing")

log = structlog.get_logger("sandtable.execd")


async def listen_execd(settings: Settings, announce: Callable[[tuple[str, ...], Offer], None]) -> None:
    """Serves until a signal. `announce` is called with the addresses and the offer once the server accepts requests.

    Raises InvalidInput, SandboxUnavailable.
    """
    logs.configure(settings.log_level, form=settings.log_format, secrets=secrets_of(settings))
    token = _token(settings)
    store = settings.home / "data"
    async with AsyncExitStack() as stack:
        traces = await open_tracer(settings, stack, service=SERVICE)
        observer = UNOBSERVED if traces is None else Observer(tracer=traces)
        executor = _tier(settings, store, observer)
        _open(store)
        with bound(settings.execd_host, settings.execd_port) as listening:
            stack.push_async_callback(executor.aclose)
            require(await examine(executor, store))
            app = create_execd_app(
                executor,
                token,
                data=store,
                modes=_modes(settings),
                most=settings.places * _WAITING_PER_PLACE,
                tracer=observer.tracer,
            )
            offer = await app.state.execd.offer()
            config = configured(app, grace_s=GRACE_S, keep_alive_s=KEEP_ALIVE_S)
            server = Server(config, lambda: announce(addresses(listening), offer))
            with stopping(server):
                await server.serve(sockets=[listening])
            log.info("execd_stopping")


def _tier(settings: Settings, store: Path, observer: Observer) -> Tier:
    if settings.backend not in _HERE:
        raise InvalidInput(
            f"`sandtable execd` executes in the sandbox of its own machine, not by `{settings.backend}`",
            suggestion="Unset SANDTABLE_BACKEND for it; the servers that use it have SANDTABLE_BACKEND=remote.",
        )
    return local_executor(settings, store, observer)


def _token(settings: Settings) -> str:
    if settings.execd_token is None:
        raise InvalidInput(
            "`sandtable execd` needs a token that it shares with the servers that use it",
            suggestion="Make one with `openssl rand -hex 32`, and set SANDTABLE_EXECD_TOKEN to it on both sides.",
        )
    secret = settings.execd_token.get_secret_value()
    Token(secret)
    return secret


def _modes(settings: Settings) -> tuple[Mode, ...]:
    """Servers decide whether Python may run; this service can only refuse it."""
    return tuple(mode for mode in SERVED if mode != "python" or settings.python != "off")


def _open(store: Path) -> None:
    """Creates the folder; on a read-only file system it must exist already."""
    try:
        (store / "versions").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"there are no data at {store / 'versions'}, and the folder cannot be made: {error.strerror or error}",
            suggestion="Mount the server's data folder there, or set SANDTABLE_HOME to a folder that holds `data`.",
        ) from error
