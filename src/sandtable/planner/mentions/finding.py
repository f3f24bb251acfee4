"""Everything that a question may refer to, found once, before any table is chosen."""

from __future__ import annotations

from dataclasses import dataclass

from sandtable.observing import timed_part
from sandtable.planner.language.buckets import Bucket, find_buckets
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.times import Calendar, TimePhrase, find_time_phrases
from sandtable.planner.mentions.matching import Match, find_mentions
from sandtable.planner.mentions.values import ValueMatch, find_quoted, find_values
from sandtable.planner.schema.index import SchemaIndex


@dataclass(frozen=True, slots=True)
class Found:
    """Everything a question may refer to, whatever the table: computed once, used for every table."""

    quoted: list[ValueMatch]
    phrases: list[TimePhrase]
    buckets: list[Bucket]
    mentions: list[Match]
    values: list[ValueMatch]


@timed_part("linking")
def look(text: str, index: SchemaIndex) -> Found:
    reading = Reading.of(text)
    quoted = find_quoted(reading, index)
    for match in quoted:
        reading.claim(match.start, match.end, "value")
    phrases = find_time_phrases(reading, Calendar.at(now_of(index), index.rules))
    buckets = find_buckets(reading, in_fiscal=index.in_fiscal)
    return Found(quoted, phrases, buckets, find_mentions(reading, index), find_values(reading, index))


def now_of(index: SchemaIndex) -> str | None:
    """The dataset's own `now`, else the latest day in its only time column."""
    if index.dataset.as_of:
        return index.dataset.as_of
    latest = [
        str(c.profile.maximum)
        for t in index.tables
        for c in t.columns
        if c.temporal and c.profile and c.profile.maximum and str(c.profile.maximum)[:4].isdigit()
    ]
    return latest[0] if len(latest) == 1 else None
