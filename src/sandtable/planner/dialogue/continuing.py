"""Words of a message that only link it to the previous answer and add nothing to its meaning.

Some of them are such words only where the plan has changed as they say: `drop` where something of the previous plan is
gone and nothing is asked for in its place, `compared to` where something stands beside what was there, `in total` where
groups are gone. Invariant: a negation (`no`, `but`, `not`, `without`) is never one of them.
"""

from __future__ import annotations

import re

from sandtable.planner.candidates.grammar.composing import is_aggregate
from sandtable.planner.dialogue.message import Message
from sandtable.planner.schema.entries import Json

_IT = r"(?:it|that|this|them|those|these|both|the same)"
_HOW = re.compile(
    r"\b(?:(?:what|how) about"
    rf"|how(?:'s| is| does| did| do| would)? (?:{_IT}|they)(?: (?:look|looking|go|going|be))?(?: like)?"
    rf"|what (?:does|did|would|is|was) {_IT}(?: look(?: like)?| be)?"
    r"|(?:the )?same(?: (?:thing|again|question|figures?|numbers?|one))?(?: but)?(?: for| with)?"
    rf"|(?:break|split|cut|slice|divide|drill)(?:ing)? {_IT}(?: (?:down|up|out|into))?"
    r"|(?:break|broken|split|drill) (?:down|up|out|into)|breakdown"
    r"|instead(?: of)?|rather(?: than)?|also|too|as well|additionally|in addition|further|on top|again"
    r"|(?:next to|beside|alongside) (?:it|that|them|this)"
    rf"|(?:i )?(?:meant|mean)|make {_IT}"
    rf"|(?:do|try|give|show|redo|run|repeat|put|get|see|use|keep|take|have|want|need)(?: me)?(?: {_IT})?"
    r"|let'?s(?: (?:see|look at|do|try|focus on|have|say))?|let me see|can (?:you|we|i)|could (?:you|we|i)"
    r"|would (?:you|it)|i(?:'d| would) (?:like|want|rather)(?: to)?(?: see)?|i (?:want|need|wonder)(?: to)?(?: see)?|if"
    rf"|(?:of|among|from|for|in|with|by|on|out of) (?:all )?(?:of )?{_IT}"
    rf"|only|just|now|then|ones|switch(?: {_IT})?(?: to)?|change {_IT}(?: to)?|go back(?: to)?|back to"
    rf"|narrow(?: {_IT})?(?: down)?(?: to)?|(?:limit|restrict)(?: {_IT})?(?: to)?"
    rf"|filter(?: {_IT})?(?: (?:to|by|on|down to))?|they|{_IT}|theirs?|its"
    r"|please|pls|thanks|thank you|okay|ok|sorry|actually|hm+|and|so|well|right|great|cool|fine|alright|yes"
    r"|for me|next(?: (?:one|question))?(?= [,:])|new (?:topic|question)|different (?:thing|question|topic)"
    r"|something (?:else|different))\b"
)
_LEAVING = re.compile(
    r"\b(?:drop|remove|forget(?: about)?|ignore|leave(?: out)?|take (?:out|away|off)|regardless(?: of)?|whatever"
    r"|years|date range|time range|dates|period|lose|skip|scrap|clear|undo|all|any|every|whole"
    r"|filters?|conditions?|restrictions?|limits?|splits?"
    r"|(?:instead of|rather than) (?:seconds|minutes|hours|days|weeks|months|years|percent))\b"
)
_BESIDE = re.compile(
    r"\b(?:(?:is|was|were|are) (?:that|this|it|they) )?"
    r"(?:more|less|higher|lower|better|worse|fewer|bigger|smaller) than"
    r"|\b(?:compared?|comparison|compares|versus|vs|against|next to|beside|alongside|side by side)\b"
)
_TOGETHER = re.compile(
    r"\b(?:in total|altogether|all together|overall|as one(?: number)?|total|combined|together)\b"
)


def continuing(message: Message, plan: Json, before: Json) -> frozenset[int]:
    """Places of those words, where `plan` is `before` as changed by the message."""
    said = [_HOW]
    if _is_gone(plan, before) and not _new_conditions(plan, before):
        said.append(_LEAVING)
    if _stands_beside(plan, before):
        said.append(_BESIDE)
    if len(_keys(plan)) < len(_keys(before)):
        said.append(_TOGETHER)
    found = set(message.courtesy)
    for words in said:
        for start, end, _ in message.reading.find(words):
            found.update(range(start, end))
    return frozenset(found)


def _keys(plan: Json) -> list[Json]:
    return [_nameless(item) for item in plan.get("select", ()) if not is_aggregate(item)]


def _nameless(item: Json) -> Json:
    return {field: value for field, value in item.items() if field != "as"}


def _is_gone(plan: Json, before: Json) -> bool:
    """Whether something that the previous plan kept or showed was removed."""
    for part in ("filters", "having"):
        if any(each not in plan.get(part, ()) for each in before.get(part, ())):
            return True
    shown = [_nameless(item) for item in plan.get("select", ())]
    if any(_nameless(item) not in shown for item in before.get("select", ())):
        return True
    return any(part in before and before[part] != plan.get(part) for part in ("time", "limit", "derive"))


def _stands_beside(plan: Json, before: Json) -> bool:
    """Whether rows of a second period or value are read too."""
    return any("any" in each or each.get("op") == "in" for each in _new_conditions(plan, before))


def _new_conditions(plan: Json, before: Json) -> list[Json]:
    return [each for each in plan.get("filters", ()) if each not in before.get("filters", ())]
