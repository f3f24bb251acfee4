"""What can be checked in a capsule alone: its form, its signature, its digests. Pure; run it in a thread.

Invariant: the payload is read only after a trusted key's signature over its bytes was verified. Until then a capsule
costs one JSON text of bounded size and one look-up. Nothing is derived again from an invalid capsule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidSignature
from pydantic import ValidationError

from sandtable.capsule.canonical import plain
from sandtable.capsule.digests import digests_of, prompts_of
from sandtable.capsule.document import Document, parted, says_the_same
from sandtable.capsule.keys import TrustedKeys
from sandtable.capsule.model import AnyCapsule, AskedCapsule, read_capsule
from sandtable.capsule.report import LINKS, Link, LinkName, VerifyReport
from sandtable.capsule.seal import PAYLOAD_TYPE, pre_authentication, read_statement, subjects, unpack
from sandtable.errors import InvalidInput

_KEYID_CHARS = 64


@dataclass(frozen=True, slots=True)
class Examined:
    links: tuple[Link, ...]
    """The first links of a report, up to `digests`."""
    keyid: str | None = None
    capsule: AnyCapsule | None = None
    """None when the payload was not read."""
    hindrance: str = ""
    """Why the capsule is not derived again; empty when it is valid."""

    @property
    def report(self) -> VerifyReport:
        """The report of a capsule from which nothing is derived again."""
        return self.unfinished(self.hindrance)

    def unfinished(self, why: str) -> VerifyReport:
        """The report with the known links, and the rest not checked because of `why`."""
        rest = (unchecked(name, why) for name in LINKS[len(self.links) :])
        run_id = self.capsule.run_id if self.capsule is not None else None
        asker = self.capsule.asked_by if isinstance(self.capsule, AskedCapsule) else None
        return VerifyReport(run_id=run_id, keyid=self.keyid, asked_by=asker, links=(*self.links, *rest))


def unchecked(name: LinkName, why: str) -> Link:
    return Link(name=name, status="not_checked", detail=why)


def unreadable(why: str) -> Examined:
    return Examined((_broken("envelope", why),), hindrance="the envelope cannot be read")


def examine(given: Document, keys: TrustedKeys) -> Examined:
    """Raises Unreadable for a text that is not a JSON object."""
    envelope, copy = parted(given)
    try:
        payload, given_id, signature = unpack(envelope)
    except InvalidInput as error:
        return unreadable(error.message)
    signed = _check_signer(payload, given_id, signature, keys)
    keyid = plain(given_id[:_KEYID_CHARS])
    if any(link.status != "ok" for link in signed):
        form = Link(name="envelope", status="ok", detail="its payload was not read")
        return Examined((form, *signed), keyid, hindrance="not looked at: no trusted signature covers it")
    try:
        statement = read_statement(payload)
        capsule = _capsule_in(statement)
    except InvalidInput as error:
        return Examined(
            (_broken("envelope", error.message), *signed), keyid, hindrance="the payload is not a capsule"
        )
    links = (_check_copy(copy, statement["predicate"]), *signed, _check_digests(statement))
    in_order = all(link.status == "ok" for link in links)
    why = "" if in_order else "not derived again, because the capsule itself is not in order"
    return Examined(links, keyid, capsule, why)


def _capsule_in(statement: dict[str, Any]) -> AnyCapsule:
    try:
        return read_capsule(statement["predicate"])
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))[:200] or "predicate"
        raise InvalidInput(f"the payload is not a capsule: {where}: {first['msg']}") from error


def _check_copy(copy: dict[str, Any], predicate: dict[str, Any]) -> Link:
    if says_the_same(copy, predicate):
        return Link(name="envelope", status="ok")
    return _broken("envelope", "the readable copy under `capsule` differs from the signed payload")


def _check_signer(payload: bytes, keyid: str, signature: bytes, keys: TrustedKeys) -> tuple[Link, Link]:
    key = keys.get(keyid)
    if key is None:
        todo = "put the signer's public key in keys/trusted or pass it with --key"
        return (
            unchecked("signature", "the signer's public key is not here"),
            _broken("signer", f"no trusted key has the id {plain(keyid[:_KEYID_CHARS])}; {todo}"),
        )
    signer = Link(name="signer", status="ok", detail=f"signed with trusted key {keyid[:16]}")
    try:
        key.verify(signature, pre_authentication(PAYLOAD_TYPE, payload))
    except InvalidSignature:
        return _broken("signature", "the signature does not fit the payload: one of them was changed"), signer
    return Link(name="signature", status="ok"), signer


def _check_digests(statement: dict[str, Any]) -> Link:
    fields = statement["predicate"]
    try:
        expected = digests_of(fields)
    except (ValueError, RecursionError) as error:
        return _broken("digests", f"the recorded content is inconsistent: {error}")
    recorded = fields["digests"]
    wrong = [name for name, value in expected.items() if recorded.get(name) != value]
    if fields["result"] and fields["result"]["digest"] != recorded["result"] and "result" not in wrong:
        wrong.append("result")
    if "origin" in fields and fields["prompts"] != prompts_of(fields["origin"]) and "prompts" not in wrong:
        wrong.append("prompts")
    if not wrong and statement["subject"] != subjects(fields):
        wrong.append("subject")
    if wrong:
        return _broken(
            "digests", f"the recorded digest does not fit the recorded content: {', '.join(wrong)}"
        )
    return Link(name="digests", status="ok")


def _broken(name: LinkName, why: str) -> Link:
    return Link(name=name, status="broken", detail=why)
