"""The report of `verify`: one link after the other, each ok, broken, not checked (and why), not pinned, or a reading.

Invariant: that a plan is what a question meant is never `ok`. No derivation can show it: a person checks it.
"""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, computed_field

from sandtable.capsule.model import Asker

AnyRun = Literal[
    "envelope", "signature", "signer", "digests", "question", "data", "plan", "verdict", "result", "chart"
]
LinkStatus = Literal["ok", "broken", "not_checked", "not_pinned", "reading"]
OfCode = Literal["artifacts", "stdout"]
LinkName = Literal[AnyRun, OfCode]

LINKS: tuple[LinkName, ...] = get_args(AnyRun)
"""Links of every capsule, in this order."""
CODE_LINKS: tuple[LinkName, ...] = get_args(OfCode)
"""Further links of a run of Python."""


class Link(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: LinkName
    status: LinkStatus
    """`not_pinned`: about rows that stay in a database, where they can change. `reading`: for a person to check, since
    it cannot be derived."""
    detail: str = ""


class VerifyReport(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    run_id: str | None
    """None when the payload was not read: the envelope is broken, or no trusted signature covers it."""
    keyid: str | None
    asked_by: Asker | None = None
    """Who asked, as the signer states it; None for a payload that was not read, and for formats before the fifth."""
    links: tuple[Link, ...]

    @computed_field
    @property
    def ok(self) -> bool:
        """Nothing is broken."""
        return all(link.status != "broken" for link in self.links)

    @computed_field
    @property
    def complete(self) -> bool:
        """Nothing that can be derived was left unchecked, and the data are pinned; how a question was read cannot be
        derived."""
        return all(link.status not in ("not_checked", "not_pinned") for link in self.links)

    def link(self, name: LinkName) -> Link:
        return next(link for link in self.links if link.name == name)
