"""A cache of the last few results of pure functions, so that one question does not repeat the work at every step.

Only for results that depend on their key alone: eviction costs time and changes nothing else.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        found = self._kept.get(key)
        if found is not None:
            self._touch(key)
        return found

    def put(self, key: K, value: V) -> None:
        self._kept[key] = value
        self._touch(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def _touch(self, key: K) -> None:
        try:
            self._kept.move_to_end(key)
        except KeyError:
            # Another thread has just evicted it.
            return
