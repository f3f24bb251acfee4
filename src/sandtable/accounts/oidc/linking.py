"""What a provider says about a person → an account.

Invariant: an account is found by issuer and subject alone. Names and e-mail addresses, which a provider may let people
choose, never lead into an account that exists; they only name a new one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandtable.accounts import audit
from sandtable.accounts.accounts import Accounts
from sandtable.accounts.model import Person
from sandtable.accounts.names import is_name
from sandtable.accounts.refusals import NotAllowed
from sandtable.errors import InvalidInput

_UNUSABLE = re.compile(r"[^a-z0-9._@+-]+")
_LONGEST_NAME = 48
_MOST_GROUPS = 200
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class GroupRules:
    claim: str = "groups"
    allowed: frozenset[str] = frozenset()
    """Empty: everybody may sign in."""
    admin: frozenset[str] = frozenset()
    """Empty: the provider does not say who is an administrator."""


async def account_of(accounts: Accounts, rules: GroupRules, issuer: str, claims: Mapping[str, Any]) -> Person:
    """The account of this person, which the first sign-in makes. Raises NotAllowed."""
    subject, groups = str(claims["sub"]), groups_of(claims, rules.claim)
    if rules.allowed and not rules.allowed & set(groups):
        audit.refused("sign_in", by=f"{issuer} {subject}"[:200], reason="in no allowed group")
        raise NotAllowed(
            "this account of the provider may not use this server", suggestion="Ask an administrator."
        )
    person = await accounts.people.by_subject(issuer, subject)
    if person is None:
        person = await _added(accounts, issuer, subject, claims)
    if rules.admin:
        await _set_admin(accounts, person, is_admin=bool(rules.admin & set(groups)))
    teams = [name for name in (group.strip().lower() for group in groups) if is_name(name)]
    await accounts.teams.state(person.name, teams, accounts.now())
    return await accounts.people.get(person.name)


def groups_of(claims: Mapping[str, Any], claim: str) -> list[str]:
    found = claims.get(claim)
    listed = [found] if isinstance(found, str) else found if isinstance(found, list) else []
    return [group for group in listed if isinstance(group, str)][:_MOST_GROUPS]


async def _added(accounts: Accounts, issuer: str, subject: str, claims: Mapping[str, Any]) -> Person:
    wished = _wished(claims, issuer, subject)
    for number in range(1, _ATTEMPTS):
        name = wished if number == 1 else f"{wished}-{number}"
        try:
            person = await accounts.people.add(name, accounts.now(), issuer=issuer, subject=subject)
        except InvalidInput:
            # Taken, by another person or by a removed one; or another request of this person was quicker.
            known = await accounts.people.by_subject(issuer, subject)
            if known is not None:
                return known
            continue
        audit.note("user_added", by=person.name, issuer=issuer)
        return person
    raise NotAllowed("no name is free for this person", suggestion="Ask an administrator.")


def _wished(claims: Mapping[str, Any], issuer: str, subject: str) -> str:
    for claim in ("preferred_username", "email", "name"):
        given = claims.get(claim)
        name = (
            _UNUSABLE.sub("-", given.lower())[:_LONGEST_NAME].strip("-._@+") if isinstance(given, str) else ""
        )
        if is_name(name):
            return name
    return f"user-{hashlib.sha256(f'{issuer} {subject}'.encode()).hexdigest()[:12]}"


async def _set_admin(accounts: Accounts, person: Person, *, is_admin: bool) -> None:
    if person.is_admin == is_admin:
        return
    try:
        await accounts.people.set_admin(person.name, is_admin)
    except InvalidInput:
        audit.refused("admin_taken", by="provider", user=person.name, reason="the only administrator")
        return
    audit.note("admin_given" if is_admin else "admin_taken", by="provider", user=person.name)
