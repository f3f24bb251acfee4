"""States in a turn's journal: what is written is short, what is read back is the whole state."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from sandtable.agent.turn_events import DecisionRequest, StateReached, ThreadState
from sandtable.conversations.json_text import encode
from sandtable.conversations.turn_start import TurnStart, short_state

ids = st.lists(st.integers(0, 12), unique=True, max_size=8)
changed = st.sets(st.integers(0, 12), max_size=3)


def _values(numbers: list[int], other: Set[int] = frozenset()) -> dict[str, Any]:
    """The same ids have the same content, but for the `other` ones."""

    def text(number: int) -> str:
        return f"“{number}” {1e20 if number in other else number / 3}"

    return {
        "messages": [AIMessage(text(number), id=str(number)) for number in numbers],
        "ui": [{"type": "ui", "id": f"u{n}", "props": {"rows": [[text(n), None, 0.1]]}} for n in numbers],
        "dataset_id": "shop",
    }


@given(ids, ids, changed)
def test_what_is_read_back_is_the_whole_state(before: list[int], after: list[int], other: set[int]) -> None:
    start = TurnStart(ThreadState("t", "c", values=_values(before)))
    values, request = _values(after, other), DecisionRequest("i", {"action_requests": after})
    kept = start.short(StateReached(values, (request,)))
    short = short_state(kept)
    assert short.since == "c" and short.requests == [{"id": "i", "value": {"action_requests": after}}]
    assert start.whole(short) == encode(values)
    shared = [number for number in after if number in before and number not in other]
    assert all(f"“{number}”" not in kept for number in shared)


def test_a_state_without_a_start_is_kept_whole() -> None:
    short = short_state(TurnStart(ThreadState("t")).short(StateReached(_values([1]))))
    assert short.since is None
    assert TurnStart().whole(short) == encode(_values([1]))
