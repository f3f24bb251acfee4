"""What is kept is closed, and each rule lets an oldest part go."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.errors import InvalidInput
from sandtable.runs.retention import Amount, Name, Rules, Thing, bytes_of, decide, seconds_of, unneeded
from sandtable.settings import Settings

NOW = 1_000_000.0


def run(number: int, at: float, *needs: Name, size: int = 10) -> Thing:
    return Thing(("run", f"r{number}"), at, size, needs)


def r(number: int) -> Name:
    return ("run", f"r{number}")


kinds = st.sampled_from(["run", "thread", "session"])
names = st.tuples(kinds, st.sampled_from("abcdefgh"))
things = st.lists(
    st.builds(
        Thing,
        names,
        st.one_of(st.integers(0, 20).map(float), st.just(inf)),
        st.integers(0, 30),
        st.lists(names, max_size=3).map(tuple),
    ),
    max_size=14,
    unique_by=lambda thing: thing.name,
)
rules = st.builds(
    Rules,
    st.one_of(st.none(), st.integers(0, 20).map(float)),
    st.one_of(st.none(), st.integers(0, 8)),
    st.one_of(st.none(), st.integers(0, 150)),
)


def closed(kept: set[Name], there: list[Thing]) -> bool:
    known = {thing.name for thing in there}
    return all(set(thing.needs) & known <= kept for thing in there if thing.name in kept)


@given(things, rules)
def test_what_is_kept_needs_nothing_that_goes(there: list[Thing], given_rules: Rules) -> None:
    decision = decide(there, given_rules, 20.0)
    kept = {thing.name for thing in there} - decision.goes
    assert closed(kept, there)
    assert {thing.name for thing in there if thing.at == inf} <= kept
    assert (decision.rule is None) == (not decision.goes)
    assert given_rules.any or not decision.goes
    assert sum(one.count for one in decision.going.values()) == len(decision.goes)


@given(things, rules)
def test_the_rules_hold_for_what_nothing_needs(there: list[Thing], given_rules: Rules) -> None:
    """Where things need nothing of each other, each rule is exact."""
    alone = [Thing(thing.name, thing.at, thing.bytes) for thing in there]
    kept = [thing for thing in alone if thing.name not in decide(alone, given_rules, 20.0).goes]
    may_go = [thing for thing in kept if thing.at < inf]
    if given_rules.older_than_s is not None:
        assert all(20.0 - thing.at <= given_rules.older_than_s for thing in may_go)
    stays = sum(thing.bytes for thing in kept if thing.at == inf)
    if given_rules.max_bytes is not None and may_go:
        assert sum(thing.bytes for thing in kept) <= max(given_rules.max_bytes, stays)
    if given_rules.keep_runs is not None:
        runs = [thing for thing in kept if thing.name[0] == "run"]
        pinned = sum(thing.at == inf for thing in runs)
        assert len(runs) <= max(given_rules.keep_runs, pinned)
    oldest = min((thing.at for thing in may_go), default=inf)
    gone = [thing for thing in alone if thing not in kept]
    assert all(thing.at <= oldest for thing in gone)


@given(things, rules, things)
def test_what_came_since_keeps_what_it_needs(
    before: list[Thing], given_rules: Rules, since: list[Thing]
) -> None:
    decision = decide(before, given_rules, 20.0)
    there = list({thing.name: thing for thing in (*before, *since)}.values())
    going = unneeded(decision, there)
    assert going <= decision.goes
    assert closed({thing.name for thing in there} - going, there)


@pytest.mark.parametrize(
    ("given_rules", "kept"),
    [
        (Rules(), "123456"),
        (Rules(older_than_s=100), "3456"),
        (Rules(keep_runs=2), "356"),
        (Rules(max_bytes=45), "356"),
        (Rules(older_than_s=1), "6"),
        (Rules(keep_runs=0), "6"),
        (Rules(older_than_s=100, keep_runs=1), "6"),
    ],
    ids=["none", "age", "count", "size", "age of all", "count of none", "the first that is broken"],
)
def test_a_small_house(given_rules: Rules, kept: str) -> None:
    there = [
        run(1, NOW - 500),
        run(2, NOW - 400),
        # Old, and needed by one that is not.
        run(3, NOW - 300),
        run(4, NOW - 90),
        run(5, NOW - 50, r(3), size=20),
        # Not ended.
        run(6, inf),
    ]
    decision = decide(there, given_rules, NOW)
    assert "".join(name[1][1] for name in sorted({t.name for t in there} - decision.goes)) == kept


def test_a_conversation_keeps_its_runs_and_a_session_its_cells() -> None:
    thread: Name = ("thread", "t")
    session: Name = ("session", "s")
    cells = [run(number, NOW - 1000 + number, ("session", "s")) for number in range(3)]
    there = [
        *cells,
        Thing(session, NOW - 998, needs=tuple(cell.name for cell in cells)),
        run(7, NOW - 900),
        run(8, NOW - 900),
        Thing(thread, NOW - 10, 5, (r(1), r(7))),
    ]
    decision = decide(there, Rules(older_than_s=100), NOW)
    assert decision.goes == {r(8)}
    # The three cells and the run that the conversation names.
    assert decision.needed == 4
    assert decision.going == {"run": Amount(1, 10)}
    assert decision.held["run"] == Amount(5, 50)


def test_a_large_thing_does_not_make_room_for_older_ones() -> None:
    there = [run(1, NOW - 3, size=1), run(2, NOW - 2, size=100), run(3, NOW - 1, size=10)]
    assert decide(there, Rules(max_bytes=50), NOW).goes == {r(1), r(2)}


def test_a_chain_of_many_runs() -> None:
    """Deep chains are no recursion."""
    there = [run(number, float(number), r(number - 1)) for number in range(20_000)]
    assert not decide(there, Rules(keep_runs=1), 1e6).goes
    assert decide(there, Rules(keep_runs=1), 1e6).needed == 19_999


def test_the_settings_are_rules() -> None:
    settings = Settings(keep_days=2, keep_runs=7, keep_mb=3)
    assert Rules.of(settings) == Rules(172_800.0, 7, 3 << 20)
    assert not Rules.of(Settings()).any


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (seconds_of, "90d", 90 * 86_400),
        (seconds_of, " 12 H ", 43_200),
        (seconds_of, "4w", 28 * 86_400),
        (bytes_of, "2GB", 2 << 30),
        (bytes_of, "500 MiB", 500 << 20),
        (bytes_of, "1.5g", 3 << 29),
        (bytes_of, "1000", 1000),
        (bytes_of, "7kb", 7 << 10),
    ],
)
def test_amounts_are_read(read: Any, text: str, value: float) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("read", "text"),
    [(seconds_of, t) for t in ("", "90", "d", "-1d", "1y", "9" * 9 + "d")]
    + [(bytes_of, t) for t in ("", "GB", "-1", "1e9", "2 PB", "1.2.3")],
)
def test_what_is_no_amount_is_refused(read: Any, text: str) -> None:
    with pytest.raises(InvalidInput, match="is no "):
        read(text)
