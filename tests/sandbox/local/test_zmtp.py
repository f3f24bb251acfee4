"""Whatever a kernel sends, in whatever pieces, no message grows beyond its bounds unseen."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandtable.sandbox.local.zmtp import MOST_FRAMES, OutOfBounds, Watch

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01NULL" + bytes(16) + b"\x00" + bytes(31)
READY = b"\x04\x06\x05READY"
MOST = 1000


def part(size: int, *, more: bool = False, long: bool = False) -> bytes:
    wide = long or size > 255
    head = bytes([more | (2 if wide else 0)]) + size.to_bytes(8 if wide else 1, "big")
    return head + bytes(size)


def watch(*sent: bytes) -> None:
    seen = Watch(MOST)
    for piece in sent:
        seen.feed(piece)


_GOOD = {
    "a message": part(10),
    "many messages": part(900) * 50,
    "parts": b"".join(part(10, more=True) for _ in range(MOST_FRAMES - 1)) + part(0),
    "a long head of a short part": part(3, long=True),
    "as many bytes as may be": part(MOST),
    "a heartbeat between messages": b"\x04\x05\x04PING" + part(1),
}
_BAD = {
    "an endless message": part(0, more=True) * (MOST_FRAMES + 1),
    "a part over the limit": part(MOST + 1),
    "parts over the limit": part(MOST // 2, more=True) * 3,
    "a length of all ones": b"\x02" + b"\xff" * 8,
    "a reserved flag": b"\x08\x00",
    "a command over its limit": b"\x06" + (1 << 20).to_bytes(8, "big"),
    "nothing but commands": READY * 100,
}
_STRANGE = {
    "version 1": b"\x01\x00" + bytes(62),
    "version 2": b"\xff" + bytes(8) + b"\x7f\x01" + bytes(53),
    "version 4": b"\xff" + bytes(8) + b"\x7f\x04" + bytes(53),
    "no signature": b"GET / HTTP/1.1\r\n" * 4,
}


@pytest.mark.parametrize("sent", _GOOD.values(), ids=_GOOD.keys())
def test_what_is_within_its_bounds_passes(sent: bytes) -> None:
    watch(GREETING, READY, sent)
    watch(*(bytes([byte]) for byte in GREETING + READY + sent))


@pytest.mark.parametrize("sent", _BAD.values(), ids=_BAD.keys())
def test_what_is_not_is_stopped(sent: bytes) -> None:
    with pytest.raises(OutOfBounds):
        watch(GREETING, READY, sent)
    with pytest.raises(OutOfBounds):
        watch(*(bytes([byte]) for byte in GREETING + READY + sent))


@pytest.mark.parametrize("sent", _STRANGE.values(), ids=_STRANGE.keys())
def test_only_the_one_version_is_understood(sent: bytes) -> None:
    with pytest.raises(OutOfBounds):
        watch(sent)


@settings(max_examples=100)
@given(st.binary(max_size=400), st.integers(1, 50))
def test_pieces_make_no_difference(sent: bytes, length: int) -> None:
    def judged(pieces: list[bytes]) -> bool:
        try:
            watch(GREETING, *pieces)
        except OutOfBounds:
            return False
        return True

    cut = [sent[at : at + length] for at in range(0, len(sent), length)]
    assert judged([sent]) == judged(cut)
