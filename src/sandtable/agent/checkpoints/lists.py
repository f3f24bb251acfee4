"""A state's lists as differences from the lists of the state before it. Pure.

A conversation's state is a few lists that grow at their end: messages, what is shown beside them, exchanges. An
item is named by the digest of its bytes and stored once in its thread. A state holds, for each of its lists, which
part of its parent's list it begins with and the digests of the items that follow. Invariant: the size of a
difference depends on what changed, not on the length of the list.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

DIGEST_BYTES = 16

Typed = tuple[str, bytes]
"""The kind of a value and its bytes, as a serializer makes them."""


@dataclass(frozen=True, slots=True)
class Difference:
    """`parent[start : start + count]`, then `own`."""

    start: int = 0
    count: int = 0
    own: tuple[bytes, ...] = ()

    def __len__(self) -> int:
        return self.count + len(self.own)


@dataclass(frozen=True, slots=True)
class Item:
    value: Any
    """Shared by all that read the state: a step returns new values and changes none in place."""
    digest: bytes
    size: int


Held = tuple[Item, ...]
"""A list in memory with the digests of its items: the next state need not serialize items that it shares."""


def item_digest(kind: str, value: bytes) -> bytes:
    return hashlib.blake2b(b"%b\0%b" % (kind.encode(), value), digest_size=DIGEST_BYTES).digest()


def hold(
    values: Sequence[Any], parent: Held, dump: Callable[[Any], Typed]
) -> tuple[Held, dict[bytes, Typed]]:
    """The list that follows its parent's, and those of its items that the parent does not have."""
    same = {id(item.value): item for item in parent}
    alike = {item.digest: item for item in parent}
    held: list[Item] = []
    new: dict[bytes, Typed] = {}
    for value in values:
        item = same.get(id(value))
        if item is None:
            kind, data = dump(value)
            digest = item_digest(kind, data)
            item = alike.get(digest)
            if item is None:
                new[digest] = kind, data
                item = Item(value, digest, len(data))
        held.append(item)
    return tuple(held), new


def difference(parent: Held, now: Held) -> Difference:
    """A list that lost items at its beginning, like a sliding window, still shares the rest."""
    theirs, ours = [item.digest for item in parent], [item.digest for item in now]
    if not ours or ours[0] not in theirs:
        return Difference(own=tuple(ours))
    start = theirs.index(ours[0])
    count, most = 0, min(len(theirs) - start, len(ours))
    while count < most and theirs[start + count] == ours[count]:
        count += 1
    return Difference(start, count, tuple(ours[count:]))


def resolved(chain: Iterable[Difference]) -> list[bytes]:
    """The whole list. `chain` has the state's own difference first, then its ancestors', as far as they are needed."""
    pieces: list[tuple[bytes, ...]] = []
    low, high = 0, -1
    for one in chain:
        high = len(one) if high < 0 else high
        pieces.append(one.own[max(low - one.count, 0) : max(high - one.count, 0)])
        low, high = one.start + min(low, one.count), one.start + min(high, one.count)
        if low >= high:
            return [digest for piece in reversed(pieces) for digest in piece]
    raise LookupError("a list begins in a state that is not there")


def written(differences: Mapping[str, Difference]) -> dict[str, list[int | bytes]]:
    """The difference as plain values, for a serializer."""
    return {name: [one.start, one.count, b"".join(one.own)] for name, one in differences.items()}


def read(plain: Mapping[str, Sequence[Any]]) -> dict[str, Difference]:
    return {name: Difference(start, count, _cut(own)) for name, (start, count, own) in plain.items()}


def _cut(digests: bytes) -> tuple[bytes, ...]:
    return tuple(digests[at : at + DIGEST_BYTES] for at in range(0, len(digests), DIGEST_BYTES))


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists of all states of a thread, as they are stored."""

    states: Mapping[str, tuple[str | None, Mapping[str, Difference]]]
    """Parent and differences of each state."""
    item: Callable[[bytes], Item]

    def of(self, state_id: str) -> dict[str, Held]:
        """None for a state that is not there."""
        _, differences = self.states.get(state_id, (None, {}))
        return {name: tuple(map(self.item, resolved(self._chain(name, state_id)))) for name in differences}

    def _chain(self, name: str, state_id: str | None) -> Iterator[Difference]:
        while state_id is not None and state_id in self.states:
            state_id, differences = self.states[state_id]
            if name not in differences:
                return
            yield differences[name]
