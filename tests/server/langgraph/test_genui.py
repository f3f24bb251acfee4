"""The modules of the stock chat UI read the logical kind that the server sends with a column."""

from __future__ import annotations

import json
import re

from sandtable.drawing import FOLDER
from sandtable.engines.types import NUMERIC
from sandtable.plan.units import FRACTION


def test_numeric_kinds_are_those_of_the_server() -> None:
    listed = re.search(r"NUMERIC = new Set\((\[.*?\])\)", (FOLDER / "format.js").read_text("utf-8"))
    assert listed is not None and set(json.loads(listed[1])) == NUMERIC


def test_fractions_are_shown_in_percent() -> None:
    assert f'unit === "{FRACTION}"' in (FOLDER / "format.js").read_text("utf-8")
