"""One number column minus another: `how many more silver than gold medals`."""

from __future__ import annotations

import re

from sandtable.planner.columns import is_measure
from sandtable.planner.draft import Draft, Json, Measure

_MORE = re.compile(r"(?:by )?how (?:many|much) (?P<way>more|fewer|less)(?= )")


def find_column_difference(draft: Draft) -> None:
    """Both columns added up over the rows that are asked about, and set off against each other."""
    for start, end, match in draft.reading.find(_MORE):
        than = next((at for at in range(end, len(draft.reading)) if draft.reading.lower(at) == "than"), None)
        spots = [s for s in draft.spots if s.open and s.start >= end and s.number and is_measure(s.number)]
        if than is None or len(spots) != 2 or not spots[0].start < than <= spots[1].start:
            continue
        left, right = (s.number for s in spots)
        if left is None or right is None or left is right or not draft.reading.free(start, end):
            continue
        for spot in draft.spots:
            if spot in spots or (spot.table is not None and end <= spot.start <= spots[1].end):
                spot.role = "measured"
        draft.reading.claim(start, end, "measure")
        draft.reading.claim(than, than + 1, "measure")
        if match.group("way") != "more":
            left, right = right, left
        sides: list[Json] = [{"agg": "sum", "column": draft.ref(c)} for c in (left, right)]
        item: Json = {"op": "-", "left": sides[0], "right": sides[1], "as": "difference"}
        draft.measures.append(Measure(item, start, left))
        return
