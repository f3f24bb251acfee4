"""The names of columns, from the header of a file: none is empty, none occurs twice."""

from __future__ import annotations

from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.workbench import MAX_COLUMNS, repair

RENAME = "rename-duplicates"
ROW_NUMBER = "row_number"


def check_width(source: str, width: int) -> None:
    if width > MAX_COLUMNS:
        raise BadFile(
            f"{source} has {width} columns; the limit is {MAX_COLUMNS}", "Reshape it to a long table"
        )


def name_columns(
    source: str, headers: list[str], *, rename: bool, numbered: bool = False
) -> tuple[tuple[str, ...], list[str]]:
    """The names and notes on those that are not in the file. `numbered`: the first column counts the rows."""
    check_width(source, len(headers))
    notes: list[str] = []
    named = list(headers)
    taken = {header.lower() for header in headers}
    for position, header in enumerate(headers, 1):
        if header.strip():
            continue
        if numbered and position == 1:
            named[0] = _free(ROW_NUMBER, taken)
            notes.append(f"Column 1 has no name and counts the rows; it is called {named[0]}.")
        else:
            named[position - 1] = _free(f"column_{position}", taken)
            notes.append(f"Column {position} has no name; it is called {named[position - 1]}.")
    return _without_duplicates(source, named, taken, notes, rename=rename)


def _without_duplicates(
    source: str, named: list[str], taken: set[str], notes: list[str], *, rename: bool
) -> tuple[tuple[str, ...], list[str]]:
    seen: dict[str, int] = {}
    for position, name in enumerate(named, 1):
        if name.lower() in seen:
            new = _free(name, taken)
            if not rename:
                raise BadFile(
                    f"{source} has the column {name!r} twice (columns {seen[name.lower()]} and {position})",
                    "Rename one of them",
                    [
                        repair(
                            RENAME, f"Call the second one {new}, and so on for other names that occur twice"
                        )
                    ],
                )
            named[position - 1] = new
            notes.append(f"Column {position} has the name of another column; it is called {new}.")
        seen[named[position - 1].lower()] = position
    return tuple(named), notes


def _free(name: str, taken: set[str]) -> str:
    """The name, or the first of `name_2`, `name_3` … that is not taken; taken from now on."""
    number, new = 1, name
    while new.lower() in taken:
        number += 1
        new = f"{name}_{number}"
    taken.add(new.lower())
    return new
