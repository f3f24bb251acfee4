"""How many connections there may be, and which of them makes way."""

from __future__ import annotations

import resource
from dataclasses import dataclass

import pytest
from structlog.testing import capture_logs

from sandtable.server import acceptor
from sandtable.server.acceptor import Room, room_here
from sandtable.server.logs import Seldom

LAN, OTHER, PROXY = "192.168.1.9", "192.168.1.10", "10.0.0.7"


@dataclass(eq=False)
class Connection:
    given_up: bool = False

    def give_up(self) -> None:
        self.given_up = True


def filled(room: Room, peer: str, count: int) -> list[Connection]:
    """So many connections that wait for their client."""
    made = [Connection() for _ in range(count)]
    for one in made:
        room.enter(peer)
        room.waits(one, peer)
    return made


def test_the_longest_wait_makes_way() -> None:
    room = Room(4)
    first, second, *_ = filled(room, "127.0.0.1", 4)
    room.waits(first, "127.0.0.1")
    assert room.has_place(LAN)
    assert (first.given_up, second.given_up) == (False, True), "the first one has begun to wait again"


def test_what_works_does_not_make_way() -> None:
    room = Room(2)
    for one in filled(room, "127.0.0.1", 2):
        room.works(one)
    assert not room.has_place(LAN)
    room.leave("127.0.0.1")
    assert room.has_place(LAN)


def test_those_that_are_about_to_enter_count() -> None:
    room = Room(2)
    room.enter("127.0.0.1")
    assert room.has_place(LAN) and not room.has_place(LAN, besides=1)


def test_one_remote_address_has_half_of_the_places() -> None:
    room = Room(8)
    others = filled(room, OTHER, 2)
    own = filled(room, LAN, 4)
    assert room.has_place(LAN)
    assert [one.given_up for one in (*others, *own)] == [False, False, True, False, False, False]
    for one in own:
        room.works(one)
    assert not room.has_place(LAN), "it can only take the place of its own"
    assert room.has_place(OTHER)


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.9.9.9", "::1", PROXY])
def test_this_machine_and_proxies_have_all(peer: str) -> None:
    room = Room(8, lambda address: address == PROXY)
    for one in filled(room, peer, 7):
        room.works(one)
    assert room.has_place(peer)


def test_one_machine_has_many_addresses_of_ipv6() -> None:
    room = Room(4)
    for number in (1, 2):
        room.enter(f"2001:db8::{number}")
    assert not room.has_place("2001:db8::3")
    assert room.has_place("2001:db8:0:1::3")


@pytest.mark.parametrize(
    ("descriptors", "places"),
    [(1024, 896), (100_000, 2000), (64, 16), (resource.RLIM_INFINITY, 2000)],
    ids=["usual", "many", "few", "unlimited"],
)
def test_descriptors_are_left_for_the_work(
    monkeypatch: pytest.MonkeyPatch, descriptors: int, places: int
) -> None:
    monkeypatch.setattr(acceptor.resource, "getrlimit", lambda _: (descriptors, descriptors))
    room = room_here()
    for _ in range(places):
        assert room.has_place("127.0.0.1")
        room.enter("127.0.0.1")
    assert not room.has_place("127.0.0.1")


def test_what_happens_often_is_logged_seldom() -> None:
    times = iter((0.0, 1.0, 9.9, 10.0, 11.0, 30.0, 30.0))
    with capture_logs() as lines:
        seldom = Seldom(acceptor.log, every_s=10.0, clock=lambda: next(times))
        for _ in range(6):
            seldom.warning("full", client=LAN)
        seldom.error("broken")
    assert [(line["event"], line["times_before"]) for line in lines] == [
        ("full", 0), ("full", 2), ("full", 1), ("broken", 0),
    ]  # fmt: skip
    assert [line["log_level"] for line in lines] == ["warning"] * 3 + ["error"]
