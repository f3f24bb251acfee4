"""How a question is put: a list of rows, different values, yes or no."""

from __future__ import annotations

import re

from sandtable.planner.draft import Draft

_YES_NO = re.compile(
    r"(?:true or false ?:? |true / false ?:? )?(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would)(?= )"
)
_ROWS = re.compile(
    r"(?:please )?(?:can you |could you )?(?:show|display|give|print|view|see|get)(?= )|rows?(?= |$)|records?(?= |$)"
)
_DISTINCT = re.compile(r"(?:distinct|unique|different)(?= )")
_ASKED = re.compile(r"(?:can|could|would|will) you(?= )|(?:do|does) (?:you|we) (?:know|have)(?= )")


def find_manner(draft: Draft) -> None:
    reading = draft.reading
    opening = reading.match_at(_YES_NO, 0)
    draft.yes_no = opening is not None and reading.match_at(_ASKED, 0) is None
    draft.rows = any(start == 0 or reading.free(start, end) for start, end, _ in reading.find(_ROWS))
    draft.distinct = any(reading.free(start, end) for start, end, _ in reading.find(_DISTINCT))
