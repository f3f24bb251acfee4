"""gRPC: the server, its bounds, and its end.

Invariant: what a call may send, how many may be under way and how long one may wait are bounded, whatever deadline a
client sets. Two servers cannot share the port by accident.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import grpc
import grpc.aio
from a2a.server.request_handlers.grpc_handler import GrpcHandler
from a2a.types import CancelTaskRequest, SendMessageRequest
from a2a.types.a2a_pb2_grpc import add_A2AServiceServicer_to_server
from a2a.utils.errors import A2AError
from fastapi import FastAPI

from sandtable.accounts.asking import Asking, asked_by
from sandtable.errors import InvalidInput, RateLimited
from sandtable.runs.pace import RETRY_AFTER
from sandtable.server.a2a.calls import CallRefused, GrpcCalls, GrpcProof
from sandtable.server.a2a.following import MOST
from sandtable.server.a2a.problems import translated
from sandtable.server.guard import MAX_BODY
from sandtable.server.open_streams import NOT_PROVEN
from sandtable.settings import Settings

_OPTIONS: tuple[tuple[str, int], ...] = (
    ("grpc.max_receive_message_length", MAX_BODY),
    ("grpc.max_send_message_length", 32 << 20),
    ("grpc.max_metadata_size", 16 << 10),
    ("grpc.absolute_max_metadata_size", 32 << 10),
    ("grpc.max_concurrent_streams", 100),
    ("grpc.max_connection_idle_ms", 600_000),
    # A client that is gone without a word holds its calls for this long.
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 20_000),
    ("grpc.so_reuseport", 0),
)
_WRITES = (SendMessageRequest, CancelTaskRequest)
_NOT_READY: Any = object()


class GrpcServer:
    def __init__(self, settings: Settings) -> None:
        """Binds the port. Raises InvalidInput."""
        self._settings = settings
        self._server = grpc.aio.server(options=_OPTIONS, maximum_concurrent_rpcs=MOST)
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        address = f"{host}:{settings.a2a_grpc_port}"
        try:
            self.port = self._server.add_insecure_port(address)
        except RuntimeError as error:
            raise InvalidInput(
                f"cannot listen on {address} for gRPC",
                suggestion="Choose another port with SANDTABLE_A2A_GRPC_PORT, or end the program that uses it.",
            ) from error

    async def start(self, app: FastAPI) -> None:
        proof = GrpcProof(self._settings, app.state.accounts, app.state.shares)
        add_A2AServiceServicer_to_server(_Servicer(app, proof), self._server)
        await self._server.start()

    async def stop(self, grace_s: float) -> None:
        await self._server.stop(grace_s)


class _Servicer(GrpcHandler):
    """Proves who calls, and waits for the conversation, which may still be opening, before the first call."""

    def __init__(self, app: FastAPI, proof: GrpcProof) -> None:
        super().__init__(_NOT_READY, GrpcCalls())
        self._app = app
        self._proof = proof

    async def _handle_unary(
        self, request: Any, context: Any, handler_func: Any, default_response: Any
    ) -> Any:
        found = await self._ready(request, context)
        if found is None:
            return default_response
        with asked_by(found):
            return await super()._handle_unary(request, context, handler_func, default_response)

    async def _handle_stream(
        self, request: Any, context: Any, handler_func: Any
    ) -> AsyncGenerator[Any, None]:
        found = await self._ready(request, context)
        if found is None:
            return
        call, streams = asyncio.current_task(), self._app.state.open_streams
        assert call is not None
        with asked_by(found), streams.joined(found.principal, call) as stream:
            try:
                async for item in super()._handle_stream(request, context, handler_func):
                    yield item
            except asyncio.CancelledError:
                if not stream.ended:
                    raise
                call.uncancel()
                await context.abort(grpc.StatusCode.UNAUTHENTICATED, NOT_PROVEN.in_words)

    async def _ready(self, request: Any, context: Any) -> Asking | None:
        """Who calls; None for a call that was refused."""
        try:
            with translated():
                found = await self._proof.of(context)
                if self.request_handler is _NOT_READY:
                    self.request_handler = (await self._app.state.a2a.get()).handler
            kind = "write" if isinstance(request, _WRITES) else "read"
            self._app.state.rates.require_call(kind, found.principal.user)
        except CallRefused as refused:
            await context.abort(refused.code, str(refused))
            return None
        except RateLimited as limited:
            context.set_trailing_metadata((("retry-after", str(limited.problem.details[RETRY_AFTER])),))
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, limited.problem.in_words)
            return None
        except A2AError as error:
            await self.abort_context(error, context)
            return None
        return found
