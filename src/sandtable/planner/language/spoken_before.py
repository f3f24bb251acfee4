"""Times as a conversation says them: `in May` of the year that was mentioned, `the month before`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sandtable.planner.language import periods
from sandtable.planner.language.periods import Period
from sandtable.planner.language.reading import Reading

_YEAR = re.compile(r"(?:19|20)\d{2}")
_PRECEDING = re.compile(
    r"(?:the )?(?:(?P<unit>day|week|month|quarter|year|period) (?:before|earlier|prior)"
    r"|(?:previous|prior|preceding) (?P<whole>day|week|month|quarter|year|period|one))(?= |$)"
)


def moved(reading: Reading, start: int, end: int, said: Period, mine: Period) -> Period:
    """The period that the words say, after an answer about `mine`: a month or quarter without a year is near to it."""
    if any(_YEAR.fullmatch(reading.lower(at)) for at in range(start, end)):
        return said
    return periods.nearest(said, mine)


def preceding(reading: Reading, mine: Period) -> Iterator[tuple[int, int, Period]]:
    """What comes before `mine`, with its first word and the word after it."""
    for start, end, match in reading.find(_PRECEDING):
        unit = match["unit"] or match["whole"]
        found = periods.earlier(mine, mine.unit if unit in {"period", "one"} else unit)
        if found is not None:
            yield start, end, found
