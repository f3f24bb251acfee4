"""Which boards can be made."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from sandtable.boards.model import Condition, Layout, Tile, digest_of, require_fit
from sandtable.errors import InvalidInput

TEXT: dict[str, Any] = {"id": "a", "text": "Sales", "x": 0, "y": 0, "w": 4, "h": 2}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        pytest.param({"question_id": "q"}, "either", id="two-things"),
        pytest.param({"text": None}, "either", id="nothing"),
        pytest.param({"x": 9}, "12 columns", id="beyond-the-grid"),
        pytest.param({"id": "a b"}, "pattern", id="id"),
        pytest.param({"h": 0}, "greater", id="no-height"),
    ],
)
def test_a_tile_is_one_thing_on_the_grid(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Tile.model_validate(TEXT | changes)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        pytest.param({"op": "between", "value": [1]}, "between needs two values", id="between"),
        pytest.param({"op": "=", "value": None}, "needs a `value`", id="no-value"),
        pytest.param({"op": "is_null", "value": 1}, "takes no value", id="value-for-null"),
        pytest.param({"op": "in", "value": list(range(201))}, "at most 200", id="too-many"),
    ],
)
def test_a_condition_is_one_that_a_plan_can_hold(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Condition.model_validate({"column": "region", **given})


def test_tiles_do_not_overlap_and_have_ids_of_their_own() -> None:
    first = Tile.model_validate(TEXT)
    beside, over = (Tile.model_validate(TEXT | {"id": "b", "x": x}) for x in (4, 3))
    require_fit(Layout(tiles=(first, beside)))
    with pytest.raises(InvalidInput, match="`a` and `b` overlap"):
        require_fit(Layout(tiles=(first, over)))
    with pytest.raises(InvalidInput, match="two tiles have the id"):
        require_fit(Layout(tiles=(first, Tile.model_validate(TEXT | {"y": 9}))))


def test_the_order_of_conditions_does_not_change_their_digest() -> None:
    one, two = Condition(column="a", op="=", value=1), Condition(column="b", op="in", value=("x",))
    assert digest_of((one, two)) == digest_of((two, one)) != digest_of((one,))
    assert digest_of(()) == ""
