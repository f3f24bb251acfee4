"""A planner that reads one word which names nothing in the data as another that does, as a learned reader would."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sandtable.agent.builtin import BuiltinProposer
from sandtable.agent.proposer import Asked, Proposed
from sandtable.planner.conscience import Account
from sandtable.planner.language.reading import Reading
from sandtable.planner.outcome import EarlierTurn, Outcome, Understood
from sandtable.planner.planner import plan_question
from sandtable.planner.schema.index import SchemaIndex
from tests.agent.house import Scripted

Plans = Callable[[str, SchemaIndex, EarlierTurn | None], Outcome]


def as_likely(account: Account, places: frozenset[int]) -> Account:
    """The account with what came from the words at these places as likely."""
    moved = [(part.path, tuple(at for at in part.words if at in places)) for part in account.parts]
    parts = tuple(
        replace(part, words=tuple(at for at in part.words if at not in places)) for part in account.parts
    )
    return replace(account, parts=parts, likely=tuple((path, words) for path, words in moved if words))


def reads(word: str, named: str) -> Plans:
    """In the place of `plan_question`. Both are single words, so that all others keep their places."""

    def plan(
        question: str, index: SchemaIndex, before: EarlierTurn | None = None, *, reader: object = None
    ) -> Outcome:
        outcome = plan_question(re.sub(rf"(?i)\b{word}\b", named, question), index, before)
        words = Reading.of(question).words
        places = frozenset(at for at, each in enumerate(words) if each.lower == word)
        if not isinstance(outcome, Understood) or outcome.account is None or not places:
            return outcome
        return replace(outcome, account=as_likely(outcome.account, places))

    return plan


@dataclass
class Reader(Scripted):
    """The built-in planner as a house's proposer; patch `sandtable.agent.builtin.plan_question` with `reads`."""

    name: str = "builtin"
    planner: BuiltinProposer = field(default_factory=BuiltinProposer)

    async def propose(self, asked: Asked) -> Proposed:
        self.asked.append(asked)
        return await self.planner.propose(asked)
