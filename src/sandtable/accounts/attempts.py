"""Failed attempts to sign in, counted for each address and each name; further ones must wait, longer each time.

Invariant: an attempt is counted before its password is checked, so that attempts at the same time count as well. A
person who knows the password is at most kept waiting by others who guess it, never locked out for good.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from sandtable.accounts.refusals import TooManyAttempts

FREE_FOR_NAME, FREE_FOR_ADDRESS = 5, 20
"""Failures without waiting. Several people may share an address."""
LONGEST_WAIT_S = 300.0
FORGOTTEN_S = 3600.0
_MOST = 10_000


@dataclass(slots=True)
class _Failures:
    count: int = 0
    last: float = 0.0
    until: float = 0.0


class Attempts:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: OrderedDict[tuple[str, str], _Failures] = OrderedDict()

    def begin(self, name: str, address: str) -> None:
        """Counts an attempt as failed until `succeeded`. Raises TooManyAttempts."""
        now = self._clock()
        both = ((("name", name), FREE_FOR_NAME), (("address", address), FREE_FOR_ADDRESS))
        wait = max(self._found(key, now).until - now for key, _ in both)
        if wait > 0:
            raise TooManyAttempts(int(wait) + 1)
        for key, free in both:
            found = self._found(key, now)
            found.count += 1
            found.last = now
            beyond = found.count - free
            found.until = now + min(2.0**beyond, LONGEST_WAIT_S) if beyond >= 0 else 0.0

    def succeeded(self, name: str, address: str) -> None:
        """Of the address, only this attempt is taken back: its owner may have one account and guess others."""
        self._known.pop(("name", name), None)
        found = self._known.get(("address", address))
        if found is not None:
            found.count -= 1
            found.until = 0.0

    def _found(self, key: tuple[str, str], now: float) -> _Failures:
        found = self._known.get(key)
        if found is None or now - found.last > FORGOTTEN_S:
            found = self._known[key] = _Failures(last=now)
        self._known.move_to_end(key)
        while len(self._known) > _MOST:
            self._known.popitem(last=False)
        return found
