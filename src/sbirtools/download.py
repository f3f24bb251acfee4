"""Downloads one file over HTTP: resumes, retries dropped connections, and moves the complete file into place.

Invariant: bytes are appended only to bytes of the same file: the server confirms it by `If-Range`, or the
partial file comes from this same call and its length agrees. Otherwise the download restarts from zero.
"""

from __future__ import annotations

import http.client
import re
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from sbirtools.errors import DownloadError, NotCsv
from sbirtools.looks import ENOUGH, require_csv
from sbirtools.partial import Origin, Partial, address_of, alone, disk_trouble

Progress = Callable[[int, int | None], None]
"""Called with the bytes received so far, and the total if the server sends it."""

_ATTEMPTS = 5
"""Consecutive attempts without a byte of progress."""
_SILENCE_S = 30.0
_CHUNK = 64 << 10
_LONGEST_PAUSE_S = 8.0
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")


wait = time.sleep


class _Dropped(Exception):
    """The connection closed before the file was complete; another attempt may succeed."""


@dataclass(frozen=True, slots=True)
class Transfer:
    url: str
    target: Path
    progress: Progress | None = None
    unless: Callable[[], bool] = lambda: False
    """Whether the download is no longer needed; called once the lock is held."""

    @property
    def where(self) -> str:
        """The URL without its query, which may hold a key."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname}{':' + str(parts.port) if parts.port else ''}{parts.path}"


def fetch(transfer: Transfer) -> Path:
    """The complete target. Raises DownloadError; an interrupt keeps the partial file for the next call."""
    _require_http(transfer.url)
    partial = Partial(transfer.target)
    with alone(transfer.target):
        if transfer.unless():
            return transfer.target
        origin = partial.origin()
        if origin is None or origin.address != address_of(transfer.url) or not origin.validator:
            partial.discard()
        _persist(transfer, partial)
        _require_csv(transfer, partial)
        with disk_trouble(transfer.target.parent):
            partial.publish()
    return transfer.target


def _require_csv(transfer: Transfer, partial: Partial) -> None:
    try:
        require_csv(partial.head(ENOUGH), transfer.where)
    except NotCsv:
        partial.discard()
        raise


def _require_http(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable or not url.isprintable() or " " in url:
        raise DownloadError(
            f"{url[:200]!r} is not an address to download from",
            suggestion="Give one that begins with https:// or http://. A file you already have belongs at "
            "the path that `sbirtools.get_cache_path()` names.",
        )
    if urlsplit(url).username is not None:
        raise DownloadError("the address holds a user name", suggestion="Give one without user and password.")


def _persist(transfer: Transfer, partial: Partial) -> None:
    fruitless = 0
    while True:
        before = partial.size()
        try:
            return _attempt(transfer, partial)
        except _Dropped as error:
            fruitless = 1 if partial.size() > before else fruitless + 1
            if fruitless >= _ATTEMPTS:
                raise DownloadError(
                    f"{transfer.where} gave up {_ATTEMPTS} times in a row: {error}",
                    suggestion="Try again later: the download goes on where it stopped.",
                ) from error
            wait(min(_LONGEST_PAUSE_S, 0.5 * 2 ** (fruitless - 1)))


def _attempt(transfer: Transfer, partial: Partial) -> None:
    have, origin = partial.size(), partial.origin()
    request = urllib.request.Request(  # noqa: S310 - the scheme was checked, and the opener knows no other
        transfer.url, headers={"Accept-Encoding": "identity", "User-Agent": "sbirtools"}
    )
    if have and origin is not None:
        request.add_header("Range", f"bytes={have}-")
        if origin.validator:
            request.add_header("If-Range", origin.validator)
    try:
        with _opener().open(request, timeout=_SILENCE_S) as response:
            _receive(transfer, partial, response)
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 416 and have:
                return _beyond_the_end(partial, error.headers.get("Content-Range", ""), have)
        raise _answered(transfer, error) from error
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
        raise _unreached(transfer, error) from error


def _opener() -> urllib.request.OpenerDirector:
    """Opens HTTP and HTTPS only: a redirect cannot lead to a file or to FTP."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _receive(transfer: Transfer, partial: Partial, response: http.client.HTTPResponse) -> None:
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise DownloadError(
            f"{transfer.where} sends the file compressed, though it was asked not to",
            suggestion="Download and unpack it by other means, and put it where `get_cache_path()` says.",
        )
    have = _agreed_start(transfer, partial, response)
    origin = partial.origin()
    total = origin.total if origin else None
    partial.require_space(None if total is None else total - have)
    with disk_trouble(transfer.target.parent):
        file = partial.file.open("ab")
    with file:
        try:
            have = _pump(transfer, response, file, have, total)
        except NotCsv:
            partial.discard()
            raise
    if total is not None and have < total:
        raise _Dropped(f"{have:,} of {total:,} bytes came")
    if total is not None and have > total:
        partial.discard()
        raise _Dropped(f"more came than the {total:,} bytes that were announced")


def _agreed_start(transfer: Transfer, partial: Partial, response: http.client.HTTPResponse) -> int:
    """How many of the bytes on disk are kept, according to the server's response."""
    have, origin = partial.size(), partial.origin()
    if response.status == 206 and origin is not None:
        found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        start, total = (found.group(1), found.group(2)) if found else (None, None)
        same = _validator(response) in ("", origin.validator) and (
            origin.total is None or total == str(origin.total)
        )
        if start == str(have) and same:
            return have
        partial.discard()
        raise _Dropped("the file changed meanwhile, or the server sent another part than the one asked for")
    length = response.headers.get("Content-Length", "")
    total = int(length) if length.isdigit() else None
    with disk_trouble(transfer.target.parent):
        partial.begin(Origin(address_of(transfer.url), _validator(response), total))
    return 0


def _validator(response: http.client.HTTPResponse) -> str:
    etag = response.headers.get("ETag", "")
    return etag if etag.startswith('"') else response.headers.get("Last-Modified", "")


def _pump(
    transfer: Transfer, response: http.client.HTTPResponse, file: BinaryIO, have: int, total: int | None
) -> int:
    tell = transfer.progress or (lambda done, total: None)
    tell(have, total)
    while chunk := response.read(_CHUNK):
        if have == 0:
            kind = response.headers.get("Content-Type", "")
            require_csv(chunk, transfer.where, content_type=kind, whole=False)
        with disk_trouble(transfer.target.parent):
            file.write(chunk)
            file.flush()
        have += len(chunk)
        tell(have, total)
    return have


def _beyond_the_end(partial: Partial, content_range: str, have: int) -> None:
    """After a 416 response: the file is complete, unless the server reports another length."""
    found = _RANGE.fullmatch(content_range)
    if found and found.group(2) == str(have):
        return
    partial.discard()
    raise _Dropped("the file is shorter than what was loaded of it before")


def _answered(transfer: Transfer, error: urllib.error.HTTPError) -> Exception:
    if error.code in _PASSING:
        return _Dropped(f"it answered {error.code} {error.reason}")
    suggestions = {
        404: "Check the address; sbir.gov moves its files now and then.",
        410: "The file is gone from there: look for its new address on sbir.gov.",
        401: "The address needs a login: give one that does not.",
        403: "The server does not let you have it: try it in a browser, from the same machine.",
    }
    return DownloadError(
        f"{transfer.where} answered {error.code} {error.reason}",
        suggestion=suggestions.get(error.code, "Check the address in a browser."),
    )


def _unreached(transfer: Transfer, error: Exception) -> Exception:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, socket.gaierror):
        host = urlsplit(transfer.url).hostname
        return DownloadError(
            f"no such host: {host}", suggestion="Check the address and the network connection."
        )
    if isinstance(reason, OSError) and type(reason).__name__ == "SSLCertVerificationError":
        return DownloadError(
            f"{transfer.where} could not prove who it is: {reason}",
            suggestion="Check the address and this machine's certificates.",
        )
    if isinstance(error, urllib.error.URLError) and "unknown url type" in str(reason):
        return DownloadError(f"{transfer.where} leads away from HTTP: {reason}")
    return _Dropped(str(reason) or type(reason).__name__)
