"""The entry point of this package: may this text be said about these rows?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from sandtable.agent.grounding.facts import Facts, folded, time_name
from sandtable.agent.grounding.grammar import clauses_of
from sandtable.agent.grounding.lexicon import NAME
from sandtable.agent.grounding.reading import Token, read
from sandtable.agent.grounding.truth import column_of, ends_of, is_true
from sandtable.quoting import INVISIBLE

LONGEST = 800
MOST_SENTENCES = 5
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_OURS = "“”’—–−€£¥°"


def grounded(text: str, plain: str, facts: Facts) -> bool:
    """Whether `text` may be said in place of `plain`, the sentence that was made from the rows."""
    if _alike(text, plain):
        return True
    if not _plain_prose(text, plain, facts) or not facts.usable:
        return False
    tokens = read(text, facts)
    if tokens is None or not _keeps(text, tokens, plain, facts):
        return False
    known = {_bare(sentence) for sentence in _SENTENCE_END.split(plain)}
    sentences = _sentences(tokens)
    return 0 < len(sentences) <= MOST_SENTENCES and all(
        _bare(text[sentence[0].start : sentence[-1].end]) in known or _all_true(sentence, facts)
        for sentence in sentences
    )


def sentence_grounded(text: str, tables: Sequence[Facts]) -> bool:
    """Whether one sentence is true of one of several results."""
    for facts in tables:
        if facts.usable and _plain_prose(text, "", facts):
            tokens = read(text, facts)
            sentences = _sentences(tokens) if tokens is not None else []
            if len(sentences) == 1 and _all_true(sentences[0], facts):
                return True
    return False


def _keeps(text: str, tokens: Sequence[Token], plain: str, facts: Facts) -> bool:
    """Whether what `plain` says of the time, the conditions, the highest and the lowest is in `text`, too."""
    said, told = folded(text), folded(plain)
    result = facts.result
    for condition, names in ((result.time, (time_name(result),)), (result.where, facts.values)):
        if condition and folded(condition) in told:
            named = bool(names) and all(folded(name) in said for name in names)
            if not named and folded(condition) not in said:
                return False
    named = [token.rows for token in tokens if token.letter == NAME and not token.scope]
    ends = [place for place in ends_of(facts) if folded(result.label(result.rows[place])) in told]
    return all(any(place in rows for rows in named) for place in ends)


def _all_true(sentence: Sequence[Token], facts: Facts) -> bool:
    clauses = clauses_of(sentence)
    if clauses is None:
        return False
    for clause in clauses:
        if not is_true(clause, facts):
            return False
        # "Europe had the most orders, and Asia the fewest": the second clause is about orders, too.
        facts = replace(facts, main=column_of(clause, facts))
    return True


def _sentences(tokens: Sequence[Token]) -> list[list[Token]]:
    made: list[list[Token]] = [[]]
    for token in tokens:
        if token.letter == ".":
            made.append([])
        else:
            made[-1].append(token)
    return [sentence for sentence in made if sentence]


def _plain_prose(text: str, plain: str, facts: Facts) -> bool:
    """One paragraph, and no letter that is neither plain nor in the data: a look-alike is another letter."""
    if not text.strip() or len(text) > LONGEST or "\n" in text.strip() or INVISIBLE.search(text.strip()):
        return False
    shown = unicodedata.normalize("NFC", text)
    known = f"{plain}{_OURS}{''.join(facts.spelled)}"
    return all(char.isascii() or char in known for char in shown)


def _alike(text: str, plain: str) -> bool:
    return " ".join(text.split()) == " ".join(plain.split())


def _bare(sentence: str) -> str:
    return " ".join(sentence.split()).rstrip(".!")
