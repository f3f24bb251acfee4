"""Which databases are connected, on disk in the home.

    sources/<name>.json       the record: where the database is and who asks there; no secret
    sources/<name>.password   the password, mode 0600; not there where an environment variable is named, or none needed

Invariant: a password is in that file, in the worker, and nowhere else.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandtable.catalog.names import nearest
from sandtable.catalog.own.names import is_id
from sandtable.catalog.own.records import now
from sandtable.catalog.recipe import DatabaseKind
from sandtable.catalog.stored.source import read_file, replace_file
from sandtable.errors import InvalidInput, NotFound, RunnerBroken
from sandtable.private import private_folder
from sandtable.quoting import quote
from sandtable.settings import environment_variable
from sandtable.sources.address import DatabaseAddress
from sandtable.sources.kinds import FORMS, KINDS_OF_DATABASES, Kind

FOLDER = "sources"
_ENDING = ".password"


def is_password(path: str) -> bool:
    """Whether this path, relative to the home, is that of a password."""
    return path.startswith(f"{FOLDER}/") and path.endswith(_ENDING)


class Source(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    kind: DatabaseKind = "postgresql"
    name: str
    """Also the id of the dataset that its snapshots become."""
    host: str
    port: int = Field(ge=1, le=65535)
    database: str
    role: str
    sslmode: Literal["disable", "require", "verify-ca", "verify-full"]
    roots: str = ""
    only_schema: str = ""
    """The one schema that is looked at; all that the role may read when empty. A MySQL's is its database."""
    password_env: str = ""
    allowed_writer: str = ""
    """The role that is used although it can write."""
    connected_at: str = ""
    owner: str = ""
    """The user of a server that it belongs to; empty for one that was connected on the command line."""

    @property
    def place(self) -> str:
        """For people."""
        return f"{self.database} on {self.host}" + ("" if self.port == self.known.port else f":{self.port}")

    @property
    def known(self) -> Kind:
        """What is particular to its kind."""
        return KINDS_OF_DATABASES[self.kind]


def source_of(
    address: DatabaseAddress, name: str, *, only_schema: str, password_env: str, allowed_writer: str
) -> Source:
    """Raises InvalidInput."""
    if not is_id(name):
        raise InvalidInput(
            f"{quote(name)} cannot be the name of a source",
            suggestion="Use letters, digits, `_`, `-` and `.`, at most 128, beginning with a letter or a digit.",
        )
    if password_env and not (password_env.isascii() and password_env.isidentifier()):
        raise InvalidInput(
            "this cannot be the name of an environment variable",
            suggestion="Name one, such as SHOP_ENDING.",
        )
    if password_env and address.password is not None:
        raise InvalidInput(
            "the address has a password, and --password-env names another place for it",
            suggestion="Leave the password out of the address.",
        )
    if not only_schema and KINDS_OF_DATABASES[address.kind].one_schema:
        only_schema = address.database
    return Source.model_validate(
        {
            "kind": address.kind,
            "name": name,
            "host": address.host,
            "port": address.port,
            "database": address.database,
            "role": address.role,
            "sslmode": address.sslmode,
            "roots": address.roots,
            "only_schema": only_schema,
            "password_env": password_env,
            "allowed_writer": allowed_writer,
            "connected_at": now(),
        }
    )


class SourceRecords:
    """All calls are short, and block."""

    def __init__(self, home: Path) -> None:
        self._folder = home / FOLDER

    def list(self) -> tuple[Source, ...]:
        names = sorted(path.stem for path in self._folder.glob("*.json")) if self._folder.is_dir() else []
        return tuple(self.get(name) for name in names)

    def get(self, name: str) -> Source:
        """Raises NotFound, and RunnerBroken for a record that cannot be read."""
        path = self._folder / f"{name}.json"
        if not is_id(name) or not path.is_file():
            names = sorted(each.stem for each in self._folder.glob("*.json"))
            alike = nearest(name, names)
            raise NotFound(
                f"no source {quote(name)} is connected"
                + (f"; did you mean {quote(alike)}?" if alike else ""),
                suggestion=f"Connected are: {', '.join(names) or 'none'}. Connect one: sandtable data connect URL"
                f" --name NAME, where URL is {FORMS}.",
                source=name,
                nearest=alike,
            )
        try:
            return Source.model_validate_json(read_file(path))
        except (OSError, ValidationError) as error:
            raise RunnerBroken(
                f"the record of source {quote(name)} cannot be read",
                suggestion="Connect it again under the same name.",
            ) from error

    def write(self, source: Source, password: str | None) -> None:
        private_folder(self._folder)
        secret = self._secret(source.name)
        if password is None or source.password_env:
            secret.unlink(missing_ok=True)
        else:
            replace_file(secret, password.encode(), 0o600)
        replace_file(
            self._folder / f"{source.name}.json", source.model_dump_json(indent=1).encode("utf-8"), 0o600
        )

    def remove(self, name: str) -> Source:
        source = self.get(name)
        self._secret(name).unlink(missing_ok=True)
        (self._folder / f"{name}.json").unlink()
        return source

    def password(self, source: Source) -> str | None:
        """Raises InvalidInput where its environment variable is not set."""
        if not source.password_env:
            secret = self._secret(source.name)
            return read_file(secret).decode() if secret.is_file() else None
        return password_from(source.password_env)

    def _secret(self, name: str) -> Path:
        return self._folder / f"{name}{_ENDING}"


def password_from(variable: str) -> str:
    value = environment_variable(variable)
    if not value:
        raise InvalidInput(
            f"the environment variable {variable} has no password in it",
            suggestion=f"Set {variable}, or connect the source again.",
        )
    return value
