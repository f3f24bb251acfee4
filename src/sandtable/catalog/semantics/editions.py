"""The documents that people wrote about datasets, on disk: every edition of each is kept.

    catalogs/<id>.json     the editions of one dataset, the newest last; that one is current
    catalogs/lock          held while one is written

Invariant: a file is replaced by one rename, and only when its newest edition is the one that the change was made from.
Several processes use one folder: a file is read again when its stamp has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandtable.catalog.model import Dataset
from sandtable.catalog.own.records import now
from sandtable.catalog.semantics.applying import Described, described, semantics_of, with_version
from sandtable.catalog.semantics.model import Semantics
from sandtable.catalog.stored.source import FileStamp, locked_folder, read_file, replace_file
from sandtable.errors import InvalidInput, NotFound
from sandtable.quoting import quote
from sandtable.recent import Recent

log = structlog.get_logger(__name__)

CATALOGS = "catalogs"
Check = Callable[[Dataset], tuple[str, ...]]
"""What is wrong with the metrics of a dataset, in words."""

_MOST_EDITIONS = 1000
_MOST_KNOWN = 256
AS_FOUND = Semantics()
"""Says nothing: the description that comes with the data."""


class Edition(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    at: str
    """When it was written, in ISO form."""
    by: str = ""
    note: str = Field(default="", max_length=400)
    semantics: Semantics


class _Editions(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    id: str
    editions: tuple[Edition, ...] = Field(min_length=1, max_length=_MOST_EDITIONS)


class CatalogEditions:
    def __init__(self, root: Path, check: Check | None = None) -> None:
        """`root` of the data store. Nothing is created before the first edition."""
        self._folder = root / CATALOGS
        self._check = check
        self._read: dict[str, tuple[FileStamp, tuple[Edition, ...]]] = {}
        self._logged: set[tuple[str, str]] = set()
        self._described: Recent[tuple[int, int], tuple[Dataset, Semantics, Described]] = Recent(_MOST_KNOWN)
        """By identity: datasets and documents are immutable, and kept here as long as their identities are keys."""

    def editions(self, dataset_id: str) -> tuple[Edition, ...]:
        """The newest last. Empty for a dataset about which nothing was written."""
        path = self._path(dataset_id)
        try:
            stamp = FileStamp.of(path.lstat())
            known = self._read.get(dataset_id)
            if known is not None and known[0] == stamp and stamp.settled:
                return known[1]
            found = _Editions.model_validate_json(read_file(path)).editions
        except FileNotFoundError:
            return ()
        except (OSError, ValidationError) as error:
            # Without it, the dataset would be answered about by another description than the one that a person wrote.
            raise InvalidInput(
                f"what the catalog says about {quote(dataset_id)} cannot be read: {str(error)[:300]}",
                suggestion=f"Restore {CATALOGS}/{path.name} in the data folder, or remove it.",
                dataset=dataset_id,
            ) from error
        if known is not None and known[1] == found:
            # The same objects, so that what was made of them is found again.
            found = known[1]
        self._read[dataset_id] = (stamp, found)
        return found

    def current(self, dataset_id: str) -> Semantics:
        found = self.editions(dataset_id)
        return found[-1].semantics if found else AS_FOUND

    def describe(self, dataset: Dataset) -> Described:
        """The dataset by its current edition, and what of that does not fit its tables."""
        return self._by(dataset, self.current(dataset.id))

    def described(self, dataset: Dataset) -> Dataset:
        """As `describe`; what does not fit is logged once."""
        found = self.describe(dataset)
        if found.misfits and (key := (dataset.id, found.dataset.catalog_version)) not in self._logged:
            self._logged.add(key)
            log.warning("catalog_does_not_fit", dataset_id=dataset.id, misfits=list(found.misfits[:20]))
        return found.dataset

    def listed(self, dataset: Dataset) -> Dataset:
        """As `described`; where the catalog cannot be read, as the data describe the dataset."""
        try:
            return self.described(dataset)
        except InvalidInput as error:
            log.error("catalog_not_read", dataset_id=dataset.id, reason=error.message)
            return self.as_found(dataset)

    def as_found(self, dataset: Dataset) -> Dataset:
        """As its data describe it, whatever people wrote about the id."""
        return self._by(dataset, AS_FOUND).dataset

    def at(self, dataset: Dataset, catalog_version: str) -> Dataset:
        """The dataset as it was described by that version of its catalog. Raises NotFound."""
        documents = [edition.semantics for edition in reversed(self.editions(dataset.id))]
        for semantics in (*documents, AS_FOUND):
            made = self._by(dataset, semantics).dataset
            if made.catalog_version == catalog_version:
                return made
        raise NotFound(
            f"catalog version {catalog_version} of {quote(dataset.id)} is not here",
            suggestion="Import the catalog that was exported where the run was made, and try again.",
            dataset=dataset.id,
        )

    def version_of(self, dataset: Dataset, edition: Edition) -> str:
        """The catalog version that `dataset`, as its data describe it, has by this edition."""
        return self._by(dataset, edition.semantics).dataset.catalog_version

    def _by(self, dataset: Dataset, semantics: Semantics) -> Described:
        key = (id(dataset), id(semantics))
        known = self._described.get(key)
        if known is not None and known[0] is dataset and known[1] is semantics:
            return known[2]
        found = Described(with_version(dataset)) if semantics is AS_FOUND else described(dataset, semantics)
        self._described.put(key, (dataset, semantics, found))
        return found

    def write(
        self,
        dataset: Dataset,
        semantics: Semantics,
        *,
        before: str | None = None,
        by: str = "",
        note: str = "",
    ) -> Described:
        """A new edition. `dataset`: as the data describe it. `before`: the catalog version that the change was made
        from; None to replace whatever is there. Raises InvalidInput where the document does not fit the data."""
        made = self.fitted(dataset, semantics)
        with locked_folder(self._folder):
            editions = self.editions(dataset.id)
            present = self.describe(dataset).dataset.catalog_version
            if before is not None and before != present:
                raise InvalidInput(
                    f"the catalog of {quote(dataset.id)} was changed meanwhile",
                    suggestion="Load it again and repeat the change.",
                    dataset=dataset.id,
                    catalog_version=present,
                )
            if semantics == self.current(dataset.id):
                return made
            edition = Edition(at=now(), by=by, note=note, semantics=semantics)
            kept = _Editions(id=dataset.id, editions=(*editions, edition)[-_MOST_EDITIONS:])
            replace_file(self._path(dataset.id), kept.model_dump_json(indent=1, exclude_none=True).encode())
        log.info("catalog_changed", dataset_id=dataset.id, catalog_version=made.dataset.catalog_version)
        return made

    def fitted(self, dataset: Dataset, semantics: Semantics) -> Described:
        """The dataset by that document. Raises InvalidInput where it does not fit the data."""
        made = described(dataset, semantics)
        problems = self.problems(made)
        if problems:
            raise InvalidInput(
                f"the catalog does not fit {quote(dataset.id)}: {problems[0]}"
                + (f", and {len(problems) - 1} more" if len(problems) > 1 else ""),
                suggestion="Correct these parts, or remove them.",
                dataset=dataset.id,
                problems=list(problems[:100]),
            )
        return made

    def problems(self, made: Described) -> tuple[str, ...]:
        """Why a dataset cannot be described so, in words."""
        return made.misfits or (self._check(made.dataset) if self._check else ())

    def remove(self, dataset_id: str) -> None:
        """With its dataset."""
        if self._path(dataset_id).exists():
            with locked_folder(self._folder):
                self._path(dataset_id).unlink(missing_ok=True)
        self._read.pop(dataset_id, None)

    def whole(self, dataset: Dataset) -> Semantics:
        """All that is said about the dataset now, by its data and by its current edition, for an export."""
        current = self.current(dataset.id)
        said = semantics_of(self.describe(dataset).dataset)
        return said.model_copy(update={"questions": current.questions, "unused": current.unused})

    def _path(self, dataset_id: str) -> Path:
        return self._folder / f"{dataset_id}.json"
