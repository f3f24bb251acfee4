"""The modules of the stock chat UI read the logical kind that the server sends with a column."""

from __future__ import annotations

import json
import re
from pathlib import Path

from sandtable.engines.types import NUMERIC
from sandtable.plan.units import FRACTION
from sandtable.server.langgraph import ui

MODULES = Path(ui.__file__).parents[1] / "drawing"


def test_numeric_kinds_are_those_of_the_server() -> None:
    listed = re.search(r"NUMERIC = new Set\((\[.*?\])\)", (MODULES / "format.js").read_text("utf-8"))
    assert listed is not None and set(json.loads(listed[1])) == NUMERIC


def test_fractions_are_shown_in_percent() -> None:
    assert f'unit === "{FRACTION}"' in (MODULES / "format.js").read_text("utf-8")
