"""`For the monthly report: …`, `our auditors want to know …`: the purpose of a question, not its content.

Only at the beginning, only up to a colon, a comma or a word of wanting, and only where none of the words names
something in the data.
"""

from __future__ import annotations

import re

from sandtable.planner.conscience.ledger import Ledger
from sandtable.planner.language.vocabulary import FILLER
from sandtable.planner.schema.index import SchemaIndex

_OCCASION = r"(?:report|meeting|slides?|deck|presentation|board|newsletter|review|audit|council|call|minutes|talk|memo)"
_WANTS = r"(?:asked|asks?|wants?|wanted|needs?|would like|wonders?|is asking|are asking|was asking)"
_PREAMBLE = re.compile(
    r"^(?:(?:hi|hello|hey|ok|so|well|please|sorry|and) ,? ?)*"
    r"(?:"
    rf"(?:one |this is |just )?for (?:the|my|our|a|tomorrow's|today's|next week's) (?:[a-z'-]+ ){{0,3}}?{_OCCASION} "
    r"(?::|,|(?:i|we) (?:need|want|require))"
    r"|(?:a )?(?:quick|short|small|simple) (?:one|question|thing) [:,]"
    r"|one (?:more|last|other) (?:thing|question) [:,]"
    r"|(?:i'm|i am|we're|we are) (?:preparing|writing|making|working on) (?:a|an|the|my|our) (?:[a-z'-]+ ){1,4}?[:,]"
    rf"|(?:our|my|the) (?:[a-z'-]+ ){{1,3}}?{_WANTS} (?:me |us )?(?:this|to know|to see|for)? ?[:,]?"
    r"|(?:someone|somebody) (?:[a-z'-]+ ){0,4}?asked (?:me |us )?[:,]?"
    r")(?= )"
)


def bind_preambles(book: Ledger) -> None:
    found = _PREAMBLE.match(f"{book.reading.line} ")
    if found is None:
        return
    end = len(found[0].split())
    if end < len(book.words) and not any(_is_of_data(book.lower(at), book.index) for at in range(end)):
        book.put_aside(0, end)


def _is_of_data(word: str, index: SchemaIndex) -> bool:
    if word in FILLER or not word[0].isalpha():
        return False
    return word in index.name_words or bool(index.find_value(word) or index.values_with_word(word))
