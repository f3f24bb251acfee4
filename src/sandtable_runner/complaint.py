"""The engine's error message, reworded for the author of the query.

The engine's positions refer to our wrapped text, and its advice to locked settings: both are
removed. The cause is kept.
"""

from __future__ import annotations

import re

_PLACE = re.compile(r"\n\s*\n?LINE \d+:.*", re.DOTALL)
_ADVICE = re.compile(r"\n+(?:Possible solutions:|See also|\* ).*", re.DOTALL)
_KIND = re.compile(r"^[A-Z][\w ]* Error: ")
_CANDIDATES = re.compile(r"\n*Candidate (?:bindings|tables): (?:: )?(.*)", re.DOTALL)
_MEANT = re.compile(r'\n*Did you mean "?(.*?)"?\??$', re.DOTALL)
_NO_COLUMN = re.compile(r'Referenced (column|table) "(.*?)" not found.*', re.DOTALL)
_MOST_NAMED = 5
_SCHEMA = "check names and types against the dataset's schema"


def explain(text: str) -> tuple[str, str]:
    """What was wrong, and what to do about it."""
    text = _ADVICE.sub("", _PLACE.sub("", text)).strip()
    text = _KIND.sub("", text)
    suggestion = _SCHEMA
    if found := _CANDIDATES.search(text):
        names = [name.strip() for name in found[1].split(",")][:_MOST_NAMED]
        text = text[: found.start()]
        suggestion = f"did you mean {names[0]}?" + (
            f" There are also {', '.join(names[1:])}." if names[1:] else ""
        )
    elif found := _MEANT.search(text):
        text = text[: found.start()]
        suggestion = f'did you mean "{found[1]}"?'
    if found := _NO_COLUMN.fullmatch(text.strip()):
        where = "the tables of this query" if found[1] == "column" else "this query"
        text = f'there is no {found[1]} "{found[2]}" in {where}'
    return text.strip(), suggestion
