"""Every plan proposed for a question, each once, with its sources and its account."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from functools import cached_property

from sandtable.planner.candidates.network.reader import Read
from sandtable.planner.conscience import Account, Part, account, known_pieces
from sandtable.planner.dialogue.continuing import continuing
from sandtable.planner.dialogue.following import Followed
from sandtable.planner.dialogue.message import Message
from sandtable.planner.language.reading import Reading
from sandtable.planner.outcome import Understood
from sandtable.planner.ranking.essence import core, essence, with_window
from sandtable.planner.schema.defined import valid_plan
from sandtable.planner.schema.entries import Json
from sandtable.planner.schema.index import SchemaIndex

_LEAST_LEFT = 0.02
_UNLIKELY = math.log(2 / 3)
_OF_KNOWN = frozenset({"avg", "sum", "min", "max", "median"})
_KINDS = {"table": "table", "metric": "table", "column": "column"}


@dataclass(frozen=True, slots=True)
class Doubts:
    """The probability of the least likely token of each kind, 1 where there is none, and how many are unlikely."""

    table: float = 1.0
    """Of the tables and metrics."""
    column: float = 1.0
    named: float = 1.0
    """Of the values, numbers, texts, units and windows."""
    word: float = 1.0
    """Of the grammar's words: what is computed, compared, ordered, and where each part ends."""
    many: int = 0
    """Tokens that are less likely than two to one."""

    @staticmethod
    def of(read: Read) -> Doubts:
        least = {"table": 0.0, "column": 0.0, "named": 0.0, "word": 0.0}
        for token, log in zip(read.sketch, read.logs, strict=True):
            kind = "word" if isinstance(token, str) else _KINDS.get(token.kind, "named")
            least[kind] = min(least[kind], log)
        many = sum(log < _UNLIKELY for log in read.logs)
        return Doubts(**{kind: math.exp(log) for kind, log in least.items()}, many=many)

    @property
    def weakest(self) -> float:
        return min(self.table, self.column, self.named, self.word)


NO_DOUBTS = Doubts(0.0, 0.0, 0.0, 0.0)
"""Of a plan that the network did not write."""


@dataclass(slots=True)
class Candidate:
    plan: Json
    account: Account
    likelihood: float = 0.0
    """The network's probability for it, over all ways to write it."""
    doubts: Doubts = NO_DOUBTS
    place: int = -1
    """Its place among the network's plans."""
    grammar: float = 0.0
    """The grammar's confidence in it."""
    lookup: float = 0.0
    followed: float = 0.0
    """How sure the rules of dialogue are that the message changes the previous answer into it."""
    used: tuple[str, ...] = ()
    core: str = ""
    """Equal for plans that compute the same of the same rows."""


@dataclass
class Field:
    """All candidates of one question."""

    question: str
    index: SchemaIndex
    candidates: list[Candidate] = field(default_factory=list[Candidate])
    nothing: float = 0.0
    """The network's probability that the dataset does not answer the question."""
    unknown: tuple[str, ...] = ()
    """Words that the grammar cannot explain."""
    before: Json | None = None
    """The plan of the answer that the question may follow."""
    rule: float = 0.0
    """The result of the dialogue rules: 1 a plan, 0.5 that it points back, 0 that it is a standalone question."""
    repeated: Candidate | None = None
    """The previous plan, where the network wrote it again."""
    _by_essence: dict[str, Candidate] = field(default_factory=dict[str, Candidate])

    @cached_property
    def earlier(self) -> frozenset[tuple[str, str]]:
        """The parts of the previous plan, each by its kind and label."""
        return frozenset((p.kind, p.label) for p in known_pieces(self.before or {}, self.index))

    @cached_property
    def _answered(self) -> str:
        """What the previous plan computes, in whatever order."""
        return essence(self.before, self.index, ordered=False) if self.before is not None else ""

    def add(self, plan: Json) -> Candidate | None:
        """The candidate with this plan; None for a plan that does not fit the dataset.

        Plans that differ only in the order of their rows are one candidate: that which accounts for the words better.
        Those of the previous answer are two: a message may ask for another order of them.
        """
        key = essence(plan, self.index, ordered=False)
        if key == self._answered:
            key = essence(plan, self.index)
        known = self._by_essence.get(key)
        if known is not None and known.plan == plan:
            return known
        if not valid_plan(plan, self.index):
            return known
        found = self._account(plan)
        if known is None:
            known = Candidate(plan, found, core=core(plan, self.index))
            self._by_essence[key] = known
            self.candidates.append(known)
        elif _merit(found) > _merit(known.account):
            known.plan, known.account = plan, found
        return known

    def add_read(self, read: list[Read]) -> None:
        for place, each in enumerate(read):
            probability = math.exp(each.likelihood)
            if each.plan is None:
                self.nothing += probability if each.sketch == ("none",) else 0.0
                continue
            found = self.add(each.plan)
            if found is not None:
                found.likelihood += probability
                if found.place < 0:
                    found.place, found.doubts = place, Doubts.of(each)

    def without_unasked_conditions(self) -> None:
        """Move the probability of a plan with a condition that no word asks for to the same plan without it.

        Over a table of few rows the network adds the one value that it was shown (`total units` of the South).
        """
        for each in list(self.candidates):
            unasked = {part.path[1] for part in each.account.unasked if _is_condition(part)}
            extra = unasked | _needless(each.plan)
            if not extra or len(unasked) < len(each.account.unasked) or each.account.unbound:
                continue
            kept = [one for at, one in enumerate(each.plan["filters"]) if at not in extra]
            plain = {**each.plan, "filters": kept}
            key = essence(plain if kept else _without_filters(plain), self.index, ordered=False)
            known = self._by_essence.get(key)
            if known is not None and known is not each:
                known.likelihood += each.likelihood
                each.likelihood = 0.0
                if known.place < 0:
                    known.place, known.doubts = each.place, each.doubts

    def without_other_rows(self) -> None:
        """`how many order items`: if a table has that name, remove plans that do not read it."""
        line = Reading.of(self.question).line
        named = [
            table.name
            for table in self.index.tables
            if len(table.words) > 1
            and re.search(rf"\b(?:how many|number of|count of) {re.escape(' '.join(table.words))}\b", line)
        ]
        if len(named) == 1:
            self._leave([each for each in self.candidates if f'"{named[0]}' not in _text(each.plan)])

    def without_other_days(self) -> None:
        """`on october 16, 1994`: if the grammar reads every word and one day, remove plans without that day.

        Over tables like those whose dates it learned as text, the network doubts how a day is written in a plan, not
        which day is meant: what it gave to plans without the day says nothing about those with it.
        """
        read = next((each for each in self.candidates if each.grammar and each.account.clean), None)
        day = _day(read.plan) if read is not None else None
        kept = [each for each in self.candidates if _day(each.plan) == day]
        given = sum(each.likelihood for each in kept)
        if day is None or not given:
            return
        self.candidates = kept
        for each in kept:
            each.likelihood /= max(given + self.nothing, _LEAST_LEFT)

    def _leave(self, out: list[Candidate]) -> None:
        """Remove these candidates and rescale the probabilities of the others."""
        left = max(1.0 - sum(each.likelihood for each in out), _LEAST_LEFT)
        self.candidates = [each for each in self.candidates if each not in out]
        for each in self.candidates:
            each.likelihood = min(1.0, each.likelihood / left)

    def without_the_answer_before(self) -> None:
        """Remove the previous answer, which a message does not ask for again, and rescale the other probabilities."""
        same = [each for each in self.candidates if self.is_answered(each.plan)]
        self.repeated = max(same, key=lambda each: each.likelihood, default=None)
        self._leave(same)

    def is_answered(self, plan: Json) -> bool:
        """Whether it is the previous plan, in the same order or in none."""
        if self.before is None or essence(plan, self.index, ordered=False) != self._answered:
            return False
        return "order_by" not in plan or essence(plan, self.index) == essence(self.before, self.index)

    def add_followed(self, followed: Followed, plan: Json) -> None:
        """Add the plan that the dialogue rules make of the previous one."""
        found = self.add(plan)
        if found is None:
            return
        found.followed, found.used = followed.certainty, followed.used
        own = self._account(plan, followed)
        if _merit(own) >= _merit(found.account):
            found.plan, found.account = plan, own

    def _account(self, plan: Json, followed: Followed | None = None) -> Account:
        if self.before is None:
            return account(self.question, plan, self.index)
        said = continuing(Message.of(self.question), plan, self.before)
        if followed is None:
            return account(self.question, plan, self.index, self.before, answered=said)
        answered, asking = followed.answered | said - followed.asking, followed.asking
        return account(self.question, plan, self.index, self.before, answered=answered, asking=asking)

    def add_understood(self, understood: Understood, *, lookup: bool = False) -> Candidate | None:
        found = self.add(understood.plan)
        if found is None:
            return None
        if lookup:
            found.lookup = max(found.lookup, understood.confidence)
        else:
            found.grammar = max(found.grammar, understood.confidence)
            found.used = understood.used
            own = self._account(understood.plan)
            if _merit(own) >= _merit(found.account):
                # The grammar's names of outputs and order of rows are the nicer ones.
                found.plan, found.account = understood.plan, own
        return found


def _day(plan: Json) -> str | None:
    """The one day of its window."""
    window = with_window(plan)[1] or {}
    return str(window["from"]) if "from" in window and window["from"] == window.get("to") else None


def _merit(found: Account) -> int:
    return -len(found.unbound) - len(found.unasked)


def _needless(plan: Json) -> set[str | int]:
    """`is not null` conditions on a value of which only averages or sums are shown: these skip nulls anyway."""
    shown = [item for item in plan.get("select", ()) if "agg" in item or "metric" in item or "op" in item]
    needed = {item.get("column") for item in shown if item.get("agg") in _OF_KNOWN}
    if len(needed) != 1 or len(shown) != 1:
        return set()
    return {
        at
        for at, each in enumerate(plan.get("filters", ()))
        if each.get("op") == "not_null" and each.get("column") in needed
    }


def _is_condition(part: Part) -> bool:
    return part.kind == "where" and len(part.path) == 2 and part.path[0] == "filters"


def _without_filters(plan: Json) -> Json:
    return {name: value for name, value in plan.items() if name != "filters"}


def _text(plan: Json) -> str:
    return json.dumps(plan, default=str, ensure_ascii=False)
