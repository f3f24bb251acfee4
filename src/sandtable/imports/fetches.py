"""What fetches files, for those that seldom do: the HTTP client is loaded at the first file."""

from __future__ import annotations

from typing import Protocol

from sandtable.catalog.own.uploads import Upload, Uploads
from sandtable.catalog.reading.filenames import FetchedFrom
from sandtable.catalog.stored.source import Progress


class Fetches(Protocol):
    """What `Addresses` and `Imports` need of `fetching.Fetcher`."""

    async def fetch(self, address: str, user: str, progress: Progress) -> Upload:
        """Raises NotFetched, NotPublic, TooLarge, NoSpace."""
        ...

    async def fetch_again(self, known: FetchedFrom, user: str, progress: Progress) -> Upload | None:
        """None where the server says that the file has not changed since. Raises as `fetch`."""
        ...


def require_address(text: str) -> None:
    """Raises NotFetched for anything but `http` and `https` without a user name."""
    from sandtable.imports.fetching import read_address  # loads the HTTP client

    read_address(text)


class LoadedFetcher:
    """Implements `Fetches` by `fetching.Fetcher`, which it loads when a file is fetched."""

    def __init__(self, uploads: Uploads, timeout_s: float, *, private: bool) -> None:
        """`private`: whether any address may be connected to, and not public ones alone."""
        self._uploads = uploads
        self._timeout_s = timeout_s
        self._private = private

    async def fetch(self, address: str, user: str, progress: Progress) -> Upload:
        return await self._fetcher().fetch(address, user, progress)

    async def fetch_again(self, known: FetchedFrom, user: str, progress: Progress) -> Upload | None:
        return await self._fetcher().fetch_again(known, user, progress)

    def _fetcher(self) -> Fetches:
        # These load the HTTP client, which most commands and servers never need.
        from sandtable.imports.fetching import Fetcher
        from sandtable.imports.public_addresses import CheckedConnections, is_public

        connections = CheckedConnections((lambda _: True) if self._private else is_public)
        return Fetcher(self._uploads, connections, self._timeout_s)
