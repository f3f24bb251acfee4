"""The columns of a recipe, applied to a table as they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.checking import is_usable
from sandtable_runner.intake.reading import TEXT, Reading

REPAIR = "misfits-empty:"
"""Before the name of a column: cells that do not fit become empty."""


def column(
    header: str,
    name: str,
    reading: Reading = TEXT,
    *,
    empty: Sequence[str] = (),
    misfits: str = "refuse",
    reason: str = "",
    nulls: bool = False,
) -> dict[str, Any]:
    """A column of a recipe. `nulls`: the file itself says which cells are empty, and an empty text is none of them."""
    nothing = () if nulls and reading == TEXT else ("",)
    return {
        "header": header,
        "name": name,
        **reading.entries(),
        "empty": [*nothing, *empty],
        "misfits": misfits,
        "reason": reason,
    }


def apply(
    headers: Sequence[str],
    given: Sequence[Mapping[str, Any]],
    repairs: Collection[str],
    place: str,
    *,
    nulls: bool = False,
) -> list[dict[str, Any]]:
    """In the order of the table. Raises BadFile where table and recipe do not have the same columns."""
    left = list(given)
    columns: list[dict[str, Any]] = []
    for header in headers:
        entry = next((entry for entry in left if entry["header"].strip() == header.strip()), None)
        if entry is None:
            raise BadFile(
                f"{place} has the column {header.strip()!r}, which the recipe does not name",
                "Leave the column out, or add the file without the recipe",
            )
        left.remove(entry)
        columns.append(_completed(entry, header, repairs, place, nulls=nulls))
    if left:
        missing = ", ".join(repr(entry["header"]) for entry in left[:10])
        raise BadFile(
            f"{place} lacks columns that the recipe names: {missing}", "Add them, or give no recipe"
        )
    return columns


def _completed(
    entry: Mapping[str, Any], header: str, repairs: Collection[str], place: str, *, nulls: bool
) -> dict[str, Any]:
    reading = Reading.of({"read_as": "text", **entry})
    name = entry["name"]
    if not is_usable(reading):
        raise BadFile(
            f"column {name} of {place} cannot be read as {reading.read_as} with the format {reading.format!r}"
            f" and the unit {reading.unit!r}",
            "Correct the recipe of this column",
        )
    empty = [word for word in entry.get("empty", ()) if word]
    misfits = "empty" if f"{REPAIR}{name}" in repairs else entry.get("misfits", "refuse")
    reason = entry.get("reason", "")
    return column(header, name, reading, empty=empty, misfits=misfits, reason=reason, nulls=nulls)
