"""Fetches a file from an address that a person gives, into an upload.

Invariant: only public addresses are connected to, also after a redirect (`imports.public_addresses`). Size and time are
bounded, and a file that did not arrive completely leaves nothing. No proxy is used: it would resolve the name itself.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import unquote

import httpcore
import httpx2

from sandtable.catalog.own.uploads import BLOCK, Upload, Uploads, file_name
from sandtable.catalog.reading.filenames import FetchedFrom, ending_of
from sandtable.catalog.stored.source import Progress
from sandtable.errors import InvalidInput
from sandtable.imports.public_addresses import CheckedConnections
from sandtable.quoting import quote
from sandtable.stopping import in_thread

MOST_REDIRECTS = 5
LONGEST_ADDRESS = 4000
CONNECT_S = 10.0
STALLED_S = 30.0
_HEADERS = [(b"User-Agent", b"sandtable"), (b"Accept", b"*/*"), (b"Accept-Encoding", b"identity")]
_NOT_MODIFIED = 304
_LONGEST_CONDITION = 500
_REDIRECTS = (301, 302, 303, 307, 308)
_ENDINGS = {
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "text/plain": ".txt",
    "application/json": ".json",
    "application/x-ndjson": ".ndjson",
    "application/vnd.apache.parquet": ".parquet",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.oasis.opendocument.spreadsheet": ".ods",
    "application/zip": ".zip",
    "application/vnd.sqlite3": ".sqlite",
    "application/x-sqlite3": ".sqlite",
}
_COMPRESSED = {"": "", "identity": "", "gzip": ".gz", "x-gzip": ".gz", "zstd": ".zst"}
_HOST = re.compile(rb"[A-Za-z0-9._-]{1,254}|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")
_DISPOSITION = re.compile(
    r""";\s*filename(?:\*\s*=\s*(?P<charset>[\w-]+)'[^']*'(?P<encoded>[^;\s]+)|\s*=\s*(?:"(?P<quoted>[^"]*)"|(?P<plain>[^;\s]+)))""",
    re.IGNORECASE,
)


class NotFetched(InvalidInput):
    """The address did not give a file."""


class Fetcher:
    def __init__(self, uploads: Uploads, connections: CheckedConnections, timeout_s: float) -> None:
        self._uploads = uploads
        self._connections = connections
        self._timeout_s = timeout_s

    async def fetch(self, address: str, user: str, progress: Progress) -> Upload:
        """Raises NotFetched, NotPublic, TooLarge, NoSpace."""
        upload = await self.fetch_again(FetchedFrom(address=address), user, progress)
        assert upload is not None
        return upload

    async def fetch_again(self, known: FetchedFrom, user: str, progress: Progress) -> Upload | None:
        """None where the server says that the file has not changed since. Raises as `fetch`."""
        url = read_address(known.address)
        asked = [(b"If-None-Match", known.etag), (b"If-Modified-Since", known.modified)]
        conditions = [(name, value.encode("latin-1")) for name, value in asked if value]
        try:
            async with (
                asyncio.timeout(self._timeout_s),
                self._answered(url, conditions) as (found, answer),
            ):
                if conditions and answer.status == _NOT_MODIFIED:
                    return None
                return await self._kept(found, answer, known.address, user, progress)
        except TimeoutError as error:
            raise NotFetched(
                f"{_host(url)} did not send the whole file within {self._timeout_s:g} s",
                suggestion="Download the file, and add it; SANDTABLE_FETCH_TIMEOUT_S is the limit.",
            ) from error
        except httpcore.TimeoutException as error:
            raise NotFetched(
                f"{_host(url)} does not answer", suggestion="Check the address, or try again later."
            ) from error
        except (
            httpcore.NetworkError,
            httpcore.ProtocolError,
            httpcore.UnsupportedProtocol,
            OSError,
        ) as error:
            raise NotFetched(
                f"{_host(url)} cannot be reached, or broke the connection",
                suggestion="Check the address, or try again later.",
            ) from error

    @asynccontextmanager
    async def _answered(
        self, url: httpx2.URL, conditions: Sequence[tuple[bytes, bytes]]
    ) -> AsyncGenerator[tuple[httpx2.URL, httpcore.Response], None]:
        waits = {"connect": CONNECT_S, "read": STALLED_S, "write": STALLED_S, "pool": CONNECT_S}
        tls = await asyncio.to_thread(httpx2.create_ssl_context)
        # A connection is used once: what is left unread of a redirect stays unread.
        async with httpcore.AsyncConnectionPool(
            ssl_context=tls, max_keepalive_connections=0, network_backend=self._connections
        ) as pool:
            for _ in range(MOST_REDIRECTS + 1):
                request = httpcore.Request(
                    b"GET",
                    httpcore.URL(
                        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                    ),
                    headers=[(b"Host", url.netloc), *_HEADERS, *conditions],
                    extensions={"timeout": waits},
                )
                answer = await pool.handle_async_request(request)
                try:
                    if answer.status not in _REDIRECTS:
                        yield url, answer
                        return
                    location = _headers(answer).get("location", "")
                finally:
                    await answer.aclose()
                url = read_address(_joined(url, location))
        raise NotFetched(
            f"{_host(url)} redirects more than {MOST_REDIRECTS} times",
            suggestion="Use the address of the file itself.",
        )

    async def _kept(
        self, url: httpx2.URL, answer: httpcore.Response, address: str, user: str, progress: Progress
    ) -> Upload:
        headers = _headers(answer)
        _require_file(url, answer.status, headers)
        announced = headers.get("content-length", "")
        size = int(announced) if announced.isdecimal() and len(announced) < 19 else None
        name = _name(url, headers)
        fetched = FetchedFrom(
            address=address,
            etag=_condition(headers.get("etag", "")),
            modified=_condition(headers.get("last-modified", "")),
        )
        upload = await in_thread(self._uploads.begin, name, size, user, fetched)
        try:
            offset, held = 0, bytearray()
            async for chunk in answer.aiter_stream():
                held += chunk
                if len(held) >= BLOCK:
                    offset = await in_thread(self._uploads.append, upload.id, offset, bytes(held))
                    held.clear()
                    progress(offset, size or 0)
            await in_thread(self._uploads.append, upload.id, offset, bytes(held))
            found = await in_thread(self._uploads.find, upload.id)
            if size not in (None, found.offset):
                raise NotFetched(
                    f"{_host(url)} sent {found.offset:,} of {size:,} bytes", suggestion="Try again."
                )
            return await in_thread(self._uploads.complete, upload.id)
        except BaseException:
            await in_thread(self._uploads.remove, upload.id)
            raise


def read_address(text: str) -> httpx2.URL:
    """Raises NotFetched for anything but `http` and `https` without a user name."""
    try:
        if len(text) > LONGEST_ADDRESS:
            raise ValueError
        url = httpx2.URL(text.strip())
        if url.scheme not in ("http", "https") or not _HOST.fullmatch(url.raw_host) or url.userinfo:
            raise ValueError
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        raise NotFetched(
            f"{quote(text)} is not an address that files can be fetched from",
            suggestion="Use an address such as https://example.org/orders.csv, without a user name.",
        ) from error
    return url


def _joined(url: httpx2.URL, location: str) -> str:
    try:
        return str(url.join(location)) if location else ""
    except (httpx2.InvalidURL, ValueError):
        return ""


def _host(url: httpx2.URL) -> str:
    return quote(url.host)


def _headers(answer: httpcore.Response) -> dict[str, str]:
    """The first of each name."""
    found: dict[str, str] = {}
    for name, value in answer.headers:
        found.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
    return found


def _condition(value: str) -> str:
    """As it can be sent back; empty where it cannot."""
    return value if len(value) <= _LONGEST_CONDITION and value.isascii() and value.isprintable() else ""


def _kind(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _require_file(url: httpx2.URL, status: int, headers: Mapping[str, str]) -> None:
    if status != 200:
        raise NotFetched(
            f"{_host(url)} answers with status {status}",
            suggestion="Check the address; download a file that needs a login, and add it.",
            status=status,
        )
    if _kind(headers) in ("text/html", "application/xhtml+xml"):
        raise NotFetched(
            f"{_host(url)} answers with a web page, not with a data file",
            suggestion="Use the address of the file itself, such as that of a download link.",
        )
    if headers.get("content-encoding", "").strip().lower() not in _COMPRESSED:
        raise NotFetched(
            f"{_host(url)} sends the file in an encoding that was not asked for",
            suggestion="Download the file, and add it.",
        )


def _name(url: httpx2.URL, headers: Mapping[str, str]) -> str:
    """By `Content-Disposition`, else the last part of the path; one without an ending gets that of the content type."""
    given = _DISPOSITION.search(";" + headers.get("content-disposition", "").partition(";")[2])
    if given is None:
        name = file_name(unquote(url.path))
    elif given["encoded"]:
        name = file_name(
            unquote(given["encoded"], "utf-8" if given["charset"].lower() == "utf-8" else "latin-1")
        )
    else:
        text = given["quoted"] if given["quoted"] is not None else given["plain"]
        # Browsers and servers write UTF-8 there, which HTTP reads as Latin-1.
        name = file_name(text.encode("latin-1").decode("utf-8", "replace"))
    if not ending_of(Path(name)):
        name += _ENDINGS.get(_kind(headers), "")
    packed = _COMPRESSED[headers.get("content-encoding", "").strip().lower()]
    return name if name.lower().endswith(packed) else name + packed
