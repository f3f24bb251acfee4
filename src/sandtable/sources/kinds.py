"""What differs between the kinds of databases that can be connected: addresses, words, and the numbers of errors.

What a worker does with each is `sandtable_runner.live`; what each type becomes is `engines`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from sandtable.catalog.recipe import DatabaseKind

Explained = tuple[str, str]
"""What the database does, and what a person can do."""


@dataclass(frozen=True, slots=True)
class Kind:
    name: DatabaseKind
    schemes: tuple[str, ...]
    port: int
    form: str
    """An address, for people."""
    account: str
    """What the database calls the one who asks."""
    temporary_tables: str
    """What a person should know of an account that can make them."""
    socket: Callable[[str, int], str]
    """The path of the Unix socket in an address."""
    reader: Callable[[str, str, Collection[str]], list[str]]
    """Statements that make an account that can only read: its name, the schema, and where accounts make tables now."""
    error: str
    """What the database calls the number of an error."""
    errors: Mapping[str, Explained]
    timed_out: frozenset[str]
    """Errors of a statement that was ended because it took too long."""
    one_schema: bool = False
    """The address names the schema, because a database is one."""
    options: frozenset[str] = frozenset()
    """Further ones of its addresses."""


_LATER = "Try again when it runs."


def _of_postgres(account: str, schema: str, creates_in: Collection[str]) -> list[str]:
    quoted, role = _quoted(schema, '"'), _quoted(account, '"')
    return [
        f"CREATE ROLE {role} LOGIN PASSWORD '…';",
        f"GRANT USAGE ON SCHEMA {quoted} TO {role};",
        " ".join(("GRANT SELECT ON ALL TABLES IN SCHEMA", quoted, f"TO {role};")),
        *(["REVOKE CREATE ON SCHEMA public FROM PUBLIC;"] if "public" in creates_in else []),
    ]


POSTGRESQL = Kind(
    name="postgresql",
    schemes=("postgresql", "postgres"),
    port=5432,
    form="postgresql://ROLE@HOST:5432/DATABASE",
    account="role",
    temporary_tables="It can create temporary tables, as every role can unless that is revoked.",
    socket=lambda folder, port: f"{folder}/.s.PGSQL.{port}",
    reader=_of_postgres,
    error="SQLSTATE",
    errors={
        "42501": ("may not read this", "Grant it: GRANT SELECT ON … TO the role, and USAGE on the schema."),
        "53300": ("has no free connection", "Try again later."),
        "55P03": ("has a lock on this table", "Try again when nothing changes the table's definition."),
        "57P01": ("ended the connection", _LATER),
        "57P02": ("ended the connection", _LATER),
        "57P03": ("does not accept connections now", _LATER),
    },
    timed_out=frozenset({"57014"}),
)


def _of_mysql(account: str, schema: str, _: Collection[str]) -> list[str]:
    # In GRANT, the name of a schema is a pattern.
    pattern = schema.replace("\\", "\\\\").replace("_", "\\_").replace("%", "\\%")
    user = f"{_quoted(account, '`')}@'%'"
    return [f"CREATE USER {user} IDENTIFIED BY '…';", f"GRANT SELECT ON {_quoted(pattern, '`')}.* TO {user};"]


_NOT_GRANTED = (
    "may not read this",
    "Grant it: GRANT SELECT ON … TO the user; a view needs the rights of its definer.",
)
_LOCKED = ("has a lock on this table", "Try again when nothing changes the table's definition.")
MYSQL = Kind(
    name="mysql",
    schemes=("mysql", "mariadb"),
    port=3306,
    form="mysql://USER@HOST:3306/DATABASE",
    account="user",
    temporary_tables="It can create temporary tables.",
    socket=lambda path, _: path,
    reader=_of_mysql,
    error="error",
    errors={
        "1044": _NOT_GRANTED,
        "1045": _NOT_GRANTED,
        "1142": _NOT_GRANTED,
        "1143": _NOT_GRANTED,
        "1227": _NOT_GRANTED,
        "1356": _NOT_GRANTED,
        "1370": _NOT_GRANTED,
        "1205": _LOCKED,
        "1412": ("changed the table's definition", "Try again."),
        "1317": ("ended the statement", "Try again."),
    },
    timed_out=frozenset({"1969", "3024"}),
    one_schema=True,
    options=frozenset({"socket"}),
)

KINDS_OF_DATABASES: dict[DatabaseKind, Kind] = {kind.name: kind for kind in (POSTGRESQL, MYSQL)}
FORMS = " or ".join(kind.form for kind in KINDS_OF_DATABASES.values())


def kind_of_scheme(scheme: str) -> Kind | None:
    return next((kind for kind in KINDS_OF_DATABASES.values() if scheme in kind.schemes), None)


def _quoted(name: str, mark: str) -> str:
    """Shown to a person; never sent."""
    return mark + name.replace(mark, mark * 2) + mark
