"""What was found of a role, judged: only one that can do nothing but read is used, unless a person overrules it."""

from __future__ import annotations

from sandtable.errors import InvalidInput
from sandtable.quoting import quote
from sandtable.sources.answers import Identity, Power, Preflight
from sandtable.sources.records import Source

_POWERS: dict[Power, str] = {
    "superuser": "it is a superuser",
    "create_role": "it can create roles",
    "create_user": "it can create users",
    "create_database": "it can create databases",
    "replication": "it can replicate the whole cluster",
    "predefined_writer": "it is a member of a role that PostgreSQL predefines for maintenance or writing",
    "create_schema": "it can create schemas in this database",
}
_SHOWN = 5


def reasons_against(found: Preflight) -> list[str]:
    """What the role can do that a reader cannot."""
    if "superuser" in found.powers:
        return [_POWERS["superuser"]]
    reasons = [_POWERS[power] for power in found.powers if power in _POWERS]
    if found.creates_in:
        reasons.append(f"it can create tables in {_listed(found.creates_in)}")
    if found.writable_count:
        names = [f"{schema}.{table}" for schema, table in found.writable]
        reasons.append(f"it can change {_listed(names, found.writable_count)}")
    if found.server_files:
        reasons.append("it can read or write files of the database's server")
    if found.privileges:
        named = [f"{privilege} on {place}" for privilege, place in found.privileges]
        reasons.append(f"it has the privileges {_listed(named)}")
    return reasons


def remarks(found: Preflight, source: Source) -> list[str]:
    """What a person should know, and what is no reason to refuse."""
    said: list[str] = []
    if found.temporary_tables:
        said.append(source.known.temporary_tables)
    if found.also:
        said.append(f"It also has the privileges {_listed(found.also)}, which change no data.")
    if "bypass_row_security" in found.powers:
        said.append("Row security does not apply to it.")
    others = [schema for schema in found.schemas if source.only_schema and schema != source.only_schema]
    if others:
        said.append(f"It can also see the schemas {_listed(others)}.")
    return said


def require_reader(found: Preflight, identity: Identity, source: Source) -> list[str]:
    """Raises InvalidInput for a role that can write, unless it is the one that a person allowed; then its reasons are
    returned, to be shown."""
    reasons = reasons_against(found)
    if reasons and source.allowed_writer != identity.role:
        raise InvalidInput(
            f"{source.known.account} {quote(identity.role)} can do more than read: {'; '.join(reasons)}",
            suggestion=reader_grants(source, found),
            role=identity.role,
            reasons=reasons,
            grants=grant_statements(source, found),
        )
    return reasons


def grant_statements(source: Source, found: Preflight) -> list[str]:
    """They make a reader, for the database's owner to run."""
    wanted = [
        source.only_schema,
        *(schema for schema, _ in found.writable),
        *found.creates_in,
        *found.schemas,
    ]
    schema = next((each for each in wanted if each and each != "*"), "public")
    return source.known.reader(f"{source.name}_reader", schema, found.creates_in)


def reader_grants(source: Source, found: Preflight) -> str:
    statements, account = grant_statements(source, found), source.known.account
    return (
        f"Connect as a {account} that can only read. The owner of the database makes one so: {' '.join(statements)}"
        f" To use this {account} all the same, add --allow-writer with its name."
    )


def _listed(names: list[str], count: int | None = None) -> str:
    shown = ", ".join(quote(name) for name in names[:_SHOWN])
    more = (count or len(names)) - min(len(names), _SHOWN)
    return f"{shown} and {more:,} more" if more > 0 else shown
