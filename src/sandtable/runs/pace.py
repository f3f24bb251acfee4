"""How fast places of a queue become free, and so when a caller that was turned away should come back.

Invariant: pure but for the clock that it is given. An answer is a whole number of seconds from 1 to MOST_S.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable

from sandtable.errors import QueueFull

MOST_S = 60
"""What is true of a queue now says little about a later time."""
_REMEMBERED = 32
_FEWEST = 3
RETRY_AFTER = "retry_after_s"
"""The key in a problem's details."""


class Pace:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: deque[float] = deque(maxlen=_REMEMBERED)

    def ended(self) -> None:
        """One of the tasks has ended."""
        self._ends.append(self._clock())

    def seconds_for(self, count: int) -> int | None:
        """When so many more will have ended; None while too few have ended to say so."""
        if len(self._ends) < _FEWEST:
            return None
        # The time since the last one counts: a queue that stands still becomes slower.
        each = (self._clock() - self._ends[0]) / len(self._ends)
        return max(1, min(MOST_S, math.ceil(each * max(count, 1))))

    def refused(self, error: QueueFull, count: int) -> QueueFull:
        """The error, with when to come back. `count`: how many must end before another attempt makes sense."""
        seconds = self.seconds_for(count)
        if seconds is not None:
            error.details[RETRY_AFTER] = seconds
        return error
