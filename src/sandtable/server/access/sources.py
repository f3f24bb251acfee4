"""Connected databases as the principal may see them: their own.

Invariant: a server connects to an address that a user names only where an administrator asks, or where the operator
listed the host. A record keeps neither a file nor a socket of the server that a request named.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sandtable.accounts.asking import asking, audit, owner_name
from sandtable.accounts.refusals import NotAllowed
from sandtable.catalog.names import nearest
from sandtable.catalog.own.datasets import Added
from sandtable.catalog.own.records import OwnDataset
from sandtable.catalog.ready_datasets import ReadyDatasets
from sandtable.errors import InvalidInput, NotFound
from sandtable.imports.desk import Imports
from sandtable.imports.model import Import, ImportOrder
from sandtable.quoting import quote
from sandtable.server.access.datasets import right_on
from sandtable.sources.address import DatabaseAddress
from sandtable.sources.records import Source
from sandtable.sources.sources import Connected, Sources

MayConnect = Literal["any", "listed", "none"]


@dataclass(frozen=True, slots=True)
class SeenSource:
    source: Source
    dataset_id: str | None
    """The dataset that its tables became, where there is one."""
    copied_at: str | None
    copied: tuple[str, ...] = ()
    """The tables that it has, by their names in the database."""
    live: bool = False
    """Whether its rows stay in the database."""


class SeenSources:
    """Has what routes use of `Sources`."""

    def __init__(
        self, every: Sources, imports: Imports, datasets: ReadyDatasets, hosts: Sequence[str]
    ) -> None:
        self._every = every
        self._imports = imports
        self._datasets = datasets
        self.hosts = tuple(host.lower() for host in hosts)
        self._naming = asyncio.Lock()

    @property
    def may_connect(self) -> MayConnect:
        if asking().principal.may("admin"):
            return "any"
        return "listed" if self.hosts else "none"

    async def all(self) -> list[SeenSource]:
        found = asking()
        every = await asyncio.to_thread(self._every.records.list)
        mine = [source for source in every if found.owns(source.owner)]
        for source in mine:
            found.note_look("source", source.name, source.owner)
        return [await self._seen(source) for source in mine]

    async def connect(
        self, source: Source, address: DatabaseAddress, password: str | None
    ) -> tuple[SeenSource, Connected]:
        """Remembers it where its role is a reader, or the one that `source` allows. Raises NotAllowed."""
        self._require_may_connect(source)
        _require_remote(address)
        owner = owner_name(asking().principal.user)
        if not asking().owns(owner):
            raise NotAllowed("a database belongs to a person", suggestion="Sign in first.")
        await asyncio.to_thread(self._free_name, source.name, owner)
        found = await self._every.look(source, password)
        async with self._naming:
            # Another may have got the name meanwhile.
            name = await asyncio.to_thread(self._free_name, source.name, owner)
            named = source.model_copy(update={"name": name, "owner": owner})
            await asyncio.to_thread(self._every.records.write, named, password)
        audit.info(
            "database_connected",
            who=asking().principal.user,
            source=name,
            host=source.host,
            port=source.port,
            role=found.identity.role,
            can_write=bool(found.overruled),
        )
        return await self._seen(named), replace(found, source=named)

    async def look(self, name: str) -> tuple[SeenSource, Connected]:
        """What it has now, and what its role can do. Raises NotFound, NotAllowed."""
        source = await asyncio.to_thread(self._own, name)
        self._require_may_connect(source)
        password = await asyncio.to_thread(self._every.records.password, source)
        return await self._seen(source), await self._every.look(source, password)

    async def snapshot(self, name: str, tables: Sequence[str], title: str) -> Import:
        """Begins to copy these tables, or those that its dataset has. Raises NotFound, NotAllowed."""
        source = await asyncio.to_thread(self._own, name)
        self._require_may_connect(source)
        made = await asyncio.to_thread(self._dataset_of, source)
        if not tables and made is None:
            raise _none_chosen(name)
        order = ImportOrder(
            source=name,
            tables=tuple(tables) or _tables_of(made),
            dataset_id=name if made else None,
            title=title or ("" if made else name),
            user=asking().principal.user,
            owner=source.owner,
        )
        return await self._imports.new(order)

    async def make_live(self, name: str, tables: Sequence[str], title: str) -> Added:
        """These tables, or those that its dataset has, stay in the database and are asked there. Raises NotFound,
        NotAllowed."""
        source = await asyncio.to_thread(self._own, name)
        self._require_may_connect(source)
        made = await asyncio.to_thread(self._dataset_of, source)
        wanted = tuple(tables) or _tables_of(made)
        if not wanted:
            raise _none_chosen(name)
        return await self._every.make_live(name, wanted, title=title, owner=source.owner)

    async def disconnect(self, name: str) -> None:
        """Its dataset stays. Raises NotFound."""
        await asyncio.to_thread(self._own, name)
        await self._every.disconnect(name)

    # What may be done

    def _own(self, name: str) -> Source:
        found, every = asking(), self._every.records.list()
        mine = {source.name: source for source in every if found.owns(source.owner)}
        source = mine.get(name)
        if source is not None:
            found.note_look("source", name, source.owner)
            return source
        alike = nearest(name, list(mine))
        raise NotFound(
            f"no database {quote(name)} is connected" + (f"; did you mean {quote(alike)}?" if alike else ""),
            suggestion="GET /database lists those that are; POST /database connects one.",
            nearest=alike,
        )

    def _require_may_connect(self, source: Source) -> None:
        if self.may_connect == "any" or _is_listed(self.hosts, source.host.lower(), source.port):
            return
        audit.info("database_refused", who=asking().principal.user, host=source.host, port=source.port)
        raise NotAllowed(
            f"only an administrator connects a database on {quote(source.host)}",
            suggestion="Ask an administrator to connect it and to share its dataset, or the operator to list the host"
            " in SANDTABLE_DATABASE_HOSTS.",
        )

    def _free_name(self, wanted: str, owner: str) -> str:
        """The name with a number where it is taken by what the principal may not see. Raises InvalidInput."""
        found, name, number = asking(), wanted, 1
        sources = {source.name: source for source in self._every.records.list()}
        while True:
            source, record = sources.get(name), self._datasets.own.find(name)
            hidden = (source is not None and source.owner != owner and not found.owns(source.owner)) or (
                record is not None and record.owner != owner and right_on(record, found) is None
            )
            if not hidden:
                break
            number += 1
            name = f"{wanted[:120]}_{number}"
        others = (source is not None and source.owner != owner) or (
            any(name == each.id for each in self._datasets.datasets())
            if record is None
            else record.owner != owner or not _is_copied_from(record, name)
        )
        if others:
            raise InvalidInput(
                f"the name {quote(name)} is taken by another dataset or database",
                suggestion="Choose another name: the tables become a dataset of that name.",
                field="name",
            )
        return name

    def _dataset_of(self, source: Source) -> OwnDataset | None:
        record = self._datasets.own.find(source.name)
        return record if record is not None and _is_copied_from(record, source.name) else None

    async def _seen(self, source: Source) -> SeenSource:
        made = await asyncio.to_thread(self._dataset_of, source)
        if made is None:
            return SeenSource(source, None, None)
        if made.dataset.live is not None:
            return SeenSource(source, made.id, None, _tables_of(made), live=True)
        last = await self._imports.copied_at(source.name)
        return SeenSource(source, made.id, max(filter(None, (last, made.current.at))), _tables_of(made))


def _require_remote(address: DatabaseAddress) -> None:
    """Raises InvalidInput for what only a person at the server's machine may name."""
    if address.host.startswith("/"):
        raise InvalidInput(
            "a Unix socket of the server cannot be named over the network",
            suggestion="Name a host, or connect it on the server's machine: sandtable data connect.",
            field="url",
        )
    if address.roots:
        raise InvalidInput(
            "a file of the server cannot be named over the network",
            suggestion="Leave sslrootcert out: certificates of the authorities that the server knows are used. For"
            " others, connect it on the server's machine: sandtable data connect.",
            field="url",
        )


def _none_chosen(name: str) -> InvalidInput:
    return InvalidInput(
        f"no table of {quote(name)} is chosen",
        suggestion="Send `tables`; GET /database/{name} lists them.",
        field="tables",
    )


def _is_listed(hosts: Iterable[str], host: str, port: int) -> bool:
    return any(
        each in ("*", host, f"{host}:{port}") or (each.startswith(".") and host.endswith(each))
        for each in hosts
    )


def _is_copied_from(record: OwnDataset, name: str) -> bool:
    return record.current.origins == {name}


def _tables_of(made: OwnDataset | None) -> tuple[str, ...]:
    return () if made is None else tuple(made.current.tables_there)
