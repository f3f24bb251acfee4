"""The clarifying question about a plan that leaves a word unbound: the word, the reason, and possible meanings."""

from __future__ import annotations

from sandtable.planner.conscience.account import Account, Part
from sandtable.planner.conscience.ledger import Unbound
from sandtable.planner.conscience.naming import closeness
from sandtable.planner.language.reading import Reading
from sandtable.planner.schema.index import SchemaIndex
from sandtable.quoting import quote

_MOST_NAMES = 3
_DROPPED = frozenset({"unit", "content", "time", "superlative", "aggregate", "chart"})
"""Kinds whose words an offer may omit: without a negation or a limit it would be another question."""


def unclear_words(account: Account, question: str) -> str:
    """The first unbound word, else the words of a part that they do not ask for; else empty."""
    if account.unbound:
        return account.unbound[0].text
    words = account.unasked[0].words if account.unasked else ()
    return Reading.of(question).written(words[0], words[-1] + 1) if words else ""


def reason_for(account: Account) -> str:
    """Why the plan is not answered, in a whole sentence."""
    if account.unbound:
        first = account.unbound[0]
        return f"I did not find what {quote(first.text)} means here: {first.why}. Could you say it in other words?"
    return f"I am not sure what is meant: {_extra(account.unasked[0])}. Could you say it in other words?"


def _extra(part: Part) -> str:
    match part.kind:
        case "where":
            return f"no word of the question asks for the condition that {quote(part.label)}"
        case "when":
            return f"no word of the question names the time {quote(part.label)}"
        case "measure":
            return f"it is open whether {quote(part.label)} is asked for"
        case "by":
            return f"no word of the question asks for groups by {quote(part.label)}"
        case _:
            return f"it is open whether {quote(part.label)} is asked for"


def offers_at(question: str, account: Account, index: SchemaIndex) -> list[str]:
    """The question with the unbound word replaced, the likeliest replacement first."""
    if not account.unbound:
        return []
    reading = Reading.of(question)
    first = account.unbound[0]
    said: list[str] = []
    if first.kind == "content":
        said += [_with(reading, first, name) for name in _near_names(reading.words[first.start].stem, index)]
    if first.why.startswith("every single one"):
        said += [_with(reading, first, f"{word} {first.text}") for word in ("total", "average")]
    elif first.kind in _DROPPED:
        said.append(_with(reading, first, ""))
    return list(dict.fromkeys(offer for offer in said if offer.strip(" ?.!,") and offer != question))


def _with(reading: Reading, at: Unbound, text: str) -> str:
    """The question with other words in that place; without new words, the preposition before it is dropped, too."""
    start = at.start
    if (
        not text
        and start > 0
        and reading.lower(start - 1) in {"in", "as", "of", "by", "per", "for", "with", "and"}
    ):
        start -= 1
    before = reading.text[: reading.words[start].start]
    after = reading.text[reading.words[at.end - 1].end :]
    return " ".join(f"{before}{text}{after}".split()).replace(" ?", "?").replace(" ,", ",")


def _near_names(word: str, index: SchemaIndex) -> list[str]:
    names = [(c.stems, " ".join(c.words)) for t in index.tables for c in t.columns]
    names += [(m.stems, " ".join(m.words)) for m in index.metrics]
    scored = [(max(closeness(word, s) for s in stems), name) for stems, name in names[:400] if stems]
    return [name for score, name in sorted(scored, key=lambda s: -s[0]) if score >= 0.5][:_MOST_NAMES]
