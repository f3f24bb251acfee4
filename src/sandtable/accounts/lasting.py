"""Whether what proved an identity still holds: for connections that stay open long after the proof.

Invariant: a principal is lost when a request with the same proof would be refused, or would get fewer rights. A proxy
keeps no proof here that could be taken away, so only a disabled account ends what it let in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.model import Person
from sandtable.accounts.principal import Principal, Proof


async def lost(accounts: Accounts, principals: Collection[Principal]) -> set[Principal]:
    """Those of them that no longer hold. Raises StoreUnavailable, StoreCorrupt."""
    now = accounts.now()
    by_key = await accounts.keys.people(_ids(principals, "key"), now)
    by_session = await accounts.sessions.people(_ids(principals, "session"), now)
    by_name = await accounts.people.among({each.user for each in principals if each.proof == "proxy"})
    return {each for each in principals if not _holds(each, by_key, by_session, by_name)}


def _ids(principals: Collection[Principal], proof: Proof) -> set[str]:
    return {each.proof_id for each in principals if each.proof == proof}


def _holds(
    principal: Principal,
    by_key: Mapping[str, Person],
    by_session: Mapping[str, Person],
    by_name: Mapping[str, Person],
) -> bool:
    if principal.proof == "none":
        return True
    if principal.proof == "proxy":
        person = by_name.get(principal.user)
        return person is None or not person.disabled
    person = (by_key if principal.proof == "key" else by_session).get(principal.proof_id)
    if person is None or person.disabled or person.name != principal.user:
        return False
    return principal.teams <= person.teams and (person.is_admin or not principal.is_admin)
