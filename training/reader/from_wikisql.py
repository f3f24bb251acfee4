"""WikiSQL's questions as examples: one table, one column or aggregate of it, and conditions.

`python -m training.reader.from_wikisql FOLDER` prints how many there are, and why the others are left out.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evals.wikisql_data import (
    TABLE,
    Question,
    Sheet,
    catalog_of,
    read_questions,
    read_sheets,
    run_plan,
    squeezed,
)
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Cell, Profile
from sandtable.planner.candidates.network.sketch import Item, Token
from training.reader.example import Example, fault_of

SOURCE = "wikisql"


class _NoSketch(Exception):
    """With the reason."""


def examples(folder: Path, skipped: Counter[str] | None = None) -> Iterator[Example]:
    """Of both splits, `tune` marked; `skipped` counts the reasons why questions are left out."""
    sheets = read_sheets(folder)
    catalogs: dict[str, tuple[Dataset, Profile]] = {}
    for split in ("train", "tune"):
        for asked in read_questions(folder, split, sheets):
            sheet = sheets[asked.table]
            if asked.table not in catalogs:
                dataset, profile = catalog_of(sheet)
                named = dataset.model_copy(update={"id": f"wikisql-{sheet.id}"})
                catalogs[asked.table] = (named, profile)
            dataset, profile = catalogs[asked.table]
            try:
                sketch = _sketch(asked, sheet, dataset)
            except _NoSketch as reason:
                if skipped is not None:
                    skipped[str(reason)] += 1
                continue
            yield Example(SOURCE, dataset, profile, asked.text, sketch, split == "tune")


def _sketch(asked: Question, sheet: Sheet, dataset: Dataset) -> tuple[Token, ...]:
    (item,) = asked.plan["select"]
    column = Item("column", TABLE, item["column"])
    made: list[Token] = [Item("table", TABLE)]
    match item.get("agg"):
        case None:
            made.append(column)
        case "count":
            made.append(_counted(asked, sheet))
        case agg:
            made += [agg, column]
    for condition in asked.plan["filters"]:
        made += ["where", *_condition(condition, sheet)]
    sketch = (*made, "end")
    if (fault := fault_of(sketch, dataset)) is not None:
        raise _NoSketch(fault)
    return sketch


def _counted(asked: Question, sheet: Sheet) -> str:
    """`count`, where no empty cell makes the number of rows another one."""
    rows = {**asked.plan, "select": [{"agg": "count"}]}
    if run_plan(rows, sheet) != run_plan(asked.plan, sheet):
        raise _NoSketch("a count that leaves out empty cells")
    return "count"


def _condition(condition: dict[str, Any], sheet: Sheet) -> list[Token]:
    name, op, value = condition["column"], condition["op"], condition["value"]
    column = Item("column", TABLE, name)
    place = sheet.header.index(name)
    if not sheet.numeric[place]:
        if op != "=":
            raise _NoSketch("a text compared by size")
        return [Item("value", TABLE, name, _cell(sheet, place, value))]
    try:
        number = float(str(value).replace(",", "").strip("$£€% "))
    except ValueError:
        raise _NoSketch("a number column compared with a text") from None
    return ["==" if op == "=" else op, column, Item("number", value=number)]


def _cell(sheet: Sheet, place: int, value: object) -> Cell:
    """The cell that is meant, as the profile has it."""
    cells = Counter(row[place] for row in sheet.rows if row[place] is not None)
    wanted = squeezed(value)
    fitting = [cell for cell, _ in cells.most_common() if squeezed(cell) == wanted]
    if not fitting:
        raise _NoSketch("a value that is no cell")
    if len(fitting) > 1:
        raise _NoSketch("a value that is written in several ways")
    return fitting[0]


def main() -> None:
    skipped: Counter[str] = Counter()
    kept = Counter("tune" if one.tune else "train" for one in examples(Path(sys.argv[1]), skipped))
    sys.stdout.write(
        "".join(f"{count:6}  {name}\n" for name, count in (*kept.items(), *skipped.most_common()))
    )


if __name__ == "__main__":
    main()
