"""The id of a dataset that is added: an id that is taken is refused where a person wrote it, and numbered otherwise."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sandtable.catalog.own.records import OwnDataset, OwnRecords
from sandtable.catalog.reading.filenames import NamedFile, dataset_id
from sandtable.catalog.registry import Catalog
from sandtable.errors import InvalidInput
from sandtable.quoting import quote

_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")


def is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def takes_files(record: OwnDataset) -> OwnDataset:
    """The record. Raises InvalidInput for one that is from a database: its tables are all of one moment."""
    if record.current.origins != {None}:
        raise InvalidInput(
            f"{quote(record.id)} is from a connected database, and takes no files",
            suggestion="Add the files as a dataset of their own, or choose other tables with"
            f" `sandtable data snapshot {record.id} --table …`.",
        )
    return record


def name_for(
    files: Sequence[NamedFile],
    wanted: str | None,
    catalog: Catalog,
    records: OwnRecords,
    owner: str | None = None,
) -> tuple[str, tuple[str, ...]]:
    """The id for these files, which may be that of a dataset made from files of the same names; and what is to be said
    of it. With an `owner`, only one that is theirs or everyone's. Raises InvalidInput."""
    if wanted is not None:
        _require_free(wanted, files, catalog, records, owner)
        return wanted, ()
    first = name = dataset_id(files[0])
    number = 1
    while name in catalog or (records.taken(name) and not _is_of(name, files, records, owner)):
        number += 1
        name = f"{first[:120]}_{number}"
    if name == first or (first not in catalog and not _is_whose(first, records, owner)):
        # Of a dataset that belongs to somebody else nothing is said.
        return name, ()
    owner = "is a built-in dataset" if first in catalog else "was added from other files"
    return name, (f"The dataset is called {name}, because {first} {owner}.",)


def _require_free(
    wanted: str, files: Sequence[NamedFile], catalog: Catalog, records: OwnRecords, owner: str | None
) -> None:
    if not is_id(wanted):
        raise InvalidInput(
            f"{quote(wanted)} cannot be the id of a dataset",
            suggestion="Use letters, digits, `_`, `-` and `.`, at most 128, beginning with a letter or a digit.",
        )
    if wanted in catalog:
        raise InvalidInput(f"{quote(wanted)} is a built-in dataset", suggestion="Choose another id.")
    if records.taken(wanted) and not _is_of(wanted, files, records, owner):
        raise InvalidInput(
            f"{quote(wanted)} was added from other files",
            suggestion=f"Choose another id, or add the files to it as further tables (`--to {wanted}`).",
        )


def _is_whose(name: str, records: OwnRecords, owner: str | None) -> bool:
    record = records.get(name)
    return owner is None or record is None or record.owner in ("", owner)


def _is_of(name: str, files: Sequence[NamedFile], records: OwnRecords, owner: str | None) -> bool:
    record = records.get(name)
    if record is None or not _is_whose(name, records, owner):
        return False
    origins = {file.copied.source if file.copied else None for file in files}
    if origins == record.current.origins != {None}:
        # Another choice of a database's tables.
        return True
    return {s.table.lower() for s in record.current.sources} == {file.table.lower() for file in files}
