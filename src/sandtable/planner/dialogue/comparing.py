"""`versus 2024`, `compared with the month before`, `next to Berlin`: what is compared with the previous answer."""

from __future__ import annotations

import re

from sandtable.planner.dialogue.edits import Edit, Versus, VersusValue
from sandtable.planner.dialogue.message import Message
from sandtable.planner.dialogue.view import View
from sandtable.planner.language import periods
from sandtable.planner.language.periods import Period
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.times import Calendar, find_time_phrases
from sandtable.planner.mentions.finding import now_of

_COMPARE = re.compile(
    r"(?:(?:how does|how do|how did|how is|how was) (?:that|this|it|they|those)(?: look)? )?"
    r"(?:versus|vs|against|compared? (?:(?:it|that|this|them) )?(?:to|with|against)|compares? (?:to|with)|"
    r"compared|"
    r"in comparison (?:to|with)|(?:put |show )?(?:it |that |them )?(?:next to|beside|"
    r"side by side with))(?: in| for)? (?P<what>(?!wh).+)"
    r"|(?:and )?(?P<also>(?:in|for) .+) for comparison"
)
_EARLIER = re.compile(
    r"(?:the |same |the same )?(?:(?:time|period|month|quarter|week) )?(?:(?P<unit>day|week|month|quarter|"
    r"year)(?: before| earlier)|"
    r"(?:previous|last|prior|preceding) (?P<unit2>day|week|month|quarter|year|period)|(?:one|"
    r"a) (?P<unit3>year|month|quarter|week) (?:before|earlier|ago))"
)
_BARE_MONTH = re.compile(r"(?:19|20)\d{2}")
_UNITS = {"year": 12, "quarter": 3, "month": 1}


def is_comparison(message: Message) -> bool:
    return _COMPARE.fullmatch(message.text) is not None


def comparison(message: Message, view: View) -> Edit | None:
    found = _COMPARE.fullmatch(message.text)
    if found is None:
        return None
    what = (found["what"] or found["also"]).strip()
    mine = view.period
    if mine is not None:
        other = _other_period(what, mine, view)
        if other is not None:
            return Edit(Versus(mine, other), message.places)
    return _other_value(message, what, view)


def _other_period(what: str, mine: Period, view: View) -> Period | None:
    earlier = _EARLIER.fullmatch(what)
    if earlier is not None:
        unit = earlier["unit"] or earlier["unit2"] or earlier["unit3"]
        return periods.earlier(mine, mine.unit if unit == "period" else unit)
    now = now_of(view.index)
    reading = Reading.of(what if what.startswith(("in ", "for ")) else f"in {what}")
    phrases = find_time_phrases(reading, Calendar.at(now, view.index.rules))
    if len(phrases) != 1 or phrases[0].period is None or phrases[0].end - phrases[0].start != len(reading):
        return None
    said = phrases[0].period
    if said.unit != mine.unit:
        # `march 2025` against `2024` means the march of that year.
        if said.unit == "year" and mine.unit in {"month", "quarter"}:
            return periods.around(mine.first.replace(year=said.first.year, day=1), mine.unit)
        return None
    return said if _BARE_MONTH.search(what) else periods.nearest(said, mine)


def _other_value(message: Message, what: str, view: View) -> Edit | None:
    kept = [p for p in view.conditions if p.path[0] == "filters" and p.op == "=" and len(p.path) == 2]
    for piece in kept:
        column = piece.columns[0] if len(piece.columns) == 1 else None
        if column is None or column.profile is None:
            continue
        values = {str(v.value).lower(): v.value for v in column.profile.values}
        other = values.get(what) if what in values else values.get(what.removeprefix("the "))
        if other is not None and other != piece.values[0]:
            return Edit(VersusValue(piece.path, (*piece.values, other)), message.places)
    return None
