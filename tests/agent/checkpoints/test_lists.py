"""A list that is kept as differences is the list; and a difference costs what changed."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.agent.checkpoints.lists import (
    Difference,
    Held,
    Item,
    Lists,
    difference,
    hold,
    read,
    resolved,
    written,
)


def dumped(value: object) -> tuple[str, bytes]:
    return "text", str(value).encode()


@dataclass
class Tree:
    """States that each follow one of those before, kept as a saver keeps them."""

    values: list[list[str]] = field(default_factory=lambda: [[]])
    held: list[Held] = field(default_factory=lambda: [()])
    states: dict[str, tuple[str | None, dict[str, Difference]]] = field(
        default_factory=lambda: {"0": (None, {"list": Difference()})}
    )
    items: dict[bytes, Item] = field(default_factory=dict)

    def add(self, parent: int, values: list[str]) -> Difference:
        held, new = hold(values, self.held[parent], dumped)
        made = difference(self.held[parent], held)
        self.items |= {digest: Item(data.decode(), digest, len(data)) for digest, (_, data) in new.items()}
        self.states[str(len(self.values))] = str(parent), read(written({"list": made}))
        self.values.append(values)
        self.held.append(held)
        return made


edits = st.lists(
    st.tuples(
        st.integers(0, 1 << 16),
        st.sampled_from(["append", "replace", "window", "cut", "same", "other"]),
        st.integers(0, 1 << 16),
        st.lists(st.sampled_from("abcdefgh"), max_size=4),
    ),
    max_size=25,
)


@given(edits)
def test_every_state_of_a_tree_is_read_as_it_was(changes: list[tuple[int, str, int, list[str]]]) -> None:
    tree = Tree()
    for where, how, at, new in changes:
        parent = where % len(tree.values)
        before = list(tree.values[parent])
        place = at % (len(before) + 1)
        after = {
            "append": before + new,
            "replace": before[:place] + new + before[place + 1 :],
            "window": before[place:] + new,
            "cut": before[:place],
            "same": before,
            "other": new,
        }[how]
        tree.add(parent, after)
    lists = Lists(tree.states, tree.items.__getitem__)
    for number, values in enumerate(tree.values):
        assert [item.value for item in lists.of(str(number))["list"]] == values


@pytest.mark.parametrize(
    ("before", "after", "start", "count", "own"),
    [
        ("abcdefgh", "abcdefghij", 0, 8, 2),
        ("abcdefgh", "bcdefghi", 1, 7, 1),
        ("abcdefgh", "abcdefxgh", 0, 6, 3),
        ("abcdefgh", "abc", 0, 3, 0),
        ("abcdefgh", "abcdefgh", 0, 8, 0),
        ("abc", "xyz", 0, 0, 3),
        ("", "abc", 0, 0, 3),
        ("abc", "", 0, 0, 0),
    ],
    ids=["grows", "window", "changed near its end", "cut", "same", "other", "first", "emptied"],
)
def test_a_difference_is_what_changed(before: str, after: str, start: int, count: int, own: int) -> None:
    tree = Tree()
    tree.add(0, list(before))
    made = tree.add(1, list(after))
    assert (made.start, made.count, len(made.own)) == (start, count, own)


def test_what_the_parent_has_is_not_written_out_again() -> None:
    written_out: list[object] = []

    def dump(value: object) -> tuple[str, bytes]:
        written_out.append(value)
        return dumped(value)

    shared = [object() for _ in range(100)]
    parent, first = hold(shared, (), dump)
    held, new = hold([*shared, "last"], parent, dump)
    assert len(first) == 100 and list(map(str, written_out[100:])) == ["last"]
    assert len(new) == 1 and held[:100] == parent


def test_a_thousand_states_deep() -> None:
    chain = [Difference(0, number, (b"%016d" % number,)) for number in range(1000)]
    assert resolved(reversed(chain)) == [b"%016d" % number for number in range(1000)]


def test_a_list_without_its_beginning_is_an_error() -> None:
    with pytest.raises(LookupError):
        resolved([Difference(0, 3, (b"x" * 16,))])
