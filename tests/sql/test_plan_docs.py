"""Every plan in docs/plan.md compiles and runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sandtable.plan.validate import parse_plan
from sandtable.sql.compile import compile_plan
from tests.plan.shop import SHOP, connect

TEXT = (Path(__file__).parents[2] / "docs" / "plan.md").read_text()
PLANS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)]


@pytest.mark.parametrize("plan", PLANS)
def test_documented_plans_run(plan: object) -> None:
    with connect() as connection:
        assert connection.execute(compile_plan(parse_plan(plan), SHOP).sql).fetchall()


def test_there_are_documented_plans() -> None:
    assert len(PLANS) >= 5
