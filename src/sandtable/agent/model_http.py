"""One HTTP request to a chat model and the reply to it, bounded in bytes, pieces and time.

Invariant: whatever the endpoint sends, no more than MOST_HEAD and the limit for its body are read; nothing is
decompressed, no redirect is followed, TLS certificates are verified. The outcome is a value.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import unquote, urlsplit

import httpcore
import httpx
import structlog

from sandtable.agent.endpoint import Endpoint
from sandtable.agent.model_trouble import Fault

MOST_HEAD = 32 << 10
"""Bytes before the body: the head, and interim responses (1xx) before it."""
MOST_REPLY = 1 << 20
MOST_ERROR = 64 << 10
"""Bytes of a body; of one that explains an error, what is longer is cut."""
MOST_PIECES = 10_000
"""Chunks of a body: each one costs as much to read as many bytes."""
CONNECT_S = 10.0
_ERROR_S = 5.0
_READ = 16 << 10
_PIECES_AT_A_TIME = 64
_OURS = {b"accept-encoding", b"connection", b"content-length", b"transfer-encoding"}
_SECRET = {b"authorization", b"x-api-key", b"api-key"}
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    method: str
    scheme: bytes
    host: bytes
    port: int | None
    target: bytes
    headers: tuple[tuple[bytes, bytes], ...] = field(repr=False)
    content: bytes = field(repr=False)

    @property
    def path(self) -> str:
        return self.target.partition(b"?")[0].decode("ascii", "replace")

    @property
    def secrets(self) -> tuple[str, ...]:
        """The credentials in its headers, with and without a scheme such as `Bearer`."""
        values = [value.decode("latin-1") for name, value in self.headers if name.lower() in _SECRET]
        return tuple(text for value in values for text in (value, value.rpartition(" ")[2]))


@dataclass(frozen=True, slots=True)
class HttpReply:
    status: int
    body: bytes
    retry_after: str = ""
    location: str = ""


class _TooLarge(Exception):
    """More bytes or pieces than may be read."""


class _Compressed(Exception):
    """A body in an encoding that the request did not offer to take."""


class ModelHttp:
    def __init__(self, endpoint: Endpoint, timeout_s: float) -> None:
        self._endpoint = endpoint
        # Reading the certificate authorities takes long: once, and only for those who need them.
        self._tls = httpx.create_ssl_context() if urlsplit(endpoint.url).scheme == "https" else None
        connect_s = min(timeout_s, CONNECT_S)
        self._waits = {"connect": connect_s, "read": timeout_s, "write": timeout_s, "pool": timeout_s}

    async def ask(self, request: HttpRequest) -> HttpReply | Fault:
        try:
            return await self._ask(request)
        except _TooLarge:
            return Fault("too_large")
        except _Compressed:
            return Fault("compressed")
        except (httpcore.ConnectError, httpcore.ConnectTimeout, httpcore.ProxyError, UnicodeError):
            return Fault("unreachable")
        except httpcore.TimeoutException:
            return Fault("timeout")
        except (httpcore.LocalProtocolError, httpcore.UnsupportedProtocol):
            return Fault("unsendable")
        except (httpcore.NetworkError, httpcore.RemoteProtocolError, OSError):
            return Fault("broken_off")
        except Exception as error:  # noqa: BLE001 - an endpoint may send anything, and a library may trip over it
            _log.warning("chat model's reply broke the client", error=type(error).__name__)
            return Fault("broken_off")

    async def _ask(self, request: HttpRequest) -> HttpReply:
        # A connection is used once: another one may belong to another event loop, and holds what is left unread.
        sockets = _BoundedSockets(MOST_HEAD)
        async with self._connections(sockets) as connections:
            sent = httpcore.Request(
                request.method,
                httpcore.URL(
                    scheme=request.scheme, host=request.host, port=request.port, target=request.target
                ),
                headers=self._headers(request),
                content=request.content,
                extensions={"timeout": self._waits},
            )
            response = await connections.handle_async_request(sent)
            try:
                return await _read(response, sockets)
            finally:
                await response.aclose()

    def _connections(self, sockets: _BoundedSockets) -> httpcore.AsyncConnectionPool:
        common: dict[str, Any] = {
            "ssl_context": self._tls,
            "max_connections": 1,
            "max_keepalive_connections": 0,
            "network_backend": sockets,
        }
        proxy = self._endpoint.proxy
        if proxy is None:
            return httpcore.AsyncConnectionPool(**common)
        parts = urlsplit(proxy)
        login = (unquote(parts.username or "").encode(), unquote(parts.password or "").encode())
        return httpcore.AsyncHTTPProxy(
            f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}",
            proxy_auth=login if parts.username else None,
            proxy_ssl_context=self._tls if parts.scheme == "https" else None,
            **common,
        )

    def _headers(self, request: HttpRequest) -> list[tuple[bytes, bytes]]:
        login = self._endpoint.login
        ours = _OURS | {b"authorization"} if login else _OURS
        kept = [(name, value) for name, value in request.headers if name.lower() not in ours]
        if login:
            proof = base64.b64encode(":".join(login).encode())
            kept.append((b"Authorization", b"Basic " + proof))
        kept.append((b"Content-Length", str(len(request.content)).encode()))
        return [*kept, (b"Accept-Encoding", b"identity"), (b"Connection", b"close")]


async def _read(response: httpcore.Response, sockets: _BoundedSockets) -> HttpReply:
    succeeded = 200 <= response.status < 300
    most = MOST_REPLY if succeeded else MOST_ERROR
    encoding = _header(response.headers, b"content-encoding")
    if encoding.lower() not in ("", "identity"):
        if succeeded:
            raise _Compressed
        most = 0
    # Chunks have heads of their own.
    sockets.left += 2 * most
    body = bytearray()
    try:
        async with asyncio.timeout(None if succeeded else _ERROR_S):
            if most:
                await _gather(response, body, most)
    except (
        _TooLarge,
        TimeoutError,
        httpcore.TimeoutException,
        httpcore.NetworkError,
        httpcore.ProtocolError,
    ):
        # The status already says what is wrong.
        if succeeded:
            raise
    return HttpReply(
        response.status,
        bytes(body[:most]),
        retry_after=_header(response.headers, b"retry-after"),
        location=_header(response.headers, b"location"),
    )


async def _gather(response: httpcore.Response, body: bytearray, most: int) -> None:
    pieces = 0
    # It is a generator, although its declared type is an iterator.
    async with aclosing(cast(AsyncGenerator[bytes, None], response.aiter_stream())) as coming:
        async for piece in coming:
            body += piece
            pieces += 1
            if len(body) > most or pieces > MOST_PIECES:
                raise _TooLarge
            if pieces % _PIECES_AT_A_TIME == 0:
                # Data that has already arrived is returned without yielding to the event loop: let other tasks run.
                await asyncio.sleep(0)


def _header(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> str:
    return next((value.decode("latin-1").strip() for name, value in headers if name.lower() == wanted), "")


class _BoundedSockets(httpcore.AsyncNetworkBackend):
    """Opens connections that yield no more than `left` bytes together."""

    def __init__(self, left: int) -> None:
        self.left = left
        self._sockets: Any = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        stream = await self._sockets.connect_tcp(host, port, timeout, local_address, socket_options)
        return _BoundedStream(stream, self)

    async def sleep(self, seconds: float) -> None:
        await self._sockets.sleep(seconds)


class _BoundedStream(httpcore.AsyncNetworkStream):
    def __init__(self, stream: httpcore.AsyncNetworkStream, sockets: _BoundedSockets) -> None:
        self._stream, self._sockets = stream, sockets

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - as above
        data = await self._stream.read(min(max_bytes, _READ), timeout)
        self._sockets.left -= len(data)
        if self._sockets.left < 0:
            raise _TooLarge
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - as above
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - as above
    ) -> httpcore.AsyncNetworkStream:
        stream = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        return _BoundedStream(stream, self._sockets)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
