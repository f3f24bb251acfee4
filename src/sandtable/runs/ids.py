"""Run ids that sort by creation time: `run_`, milliseconds, a counter, randomness."""

from __future__ import annotations

import re
import secrets
from datetime import datetime

RUN_ID = "run_[0-9a-f]{32}"
"""As a regular expression."""
_RUN_ID = re.compile(RUN_ID)


def is_run_id(text: str) -> bool:
    return _RUN_ID.fullmatch(text) is not None


class RunIds:
    def __init__(self) -> None:
        self._last = (0, 0)

    def next(self, now: datetime) -> str:
        """Greater than every earlier id, even when the clock stands still or steps back."""
        millis, count = int(now.timestamp() * 1000), 0
        if millis <= self._last[0]:
            millis, count = self._last[0], self._last[1] + 1
        self._last = (millis, count)
        return f"run_{millis:012x}{count:06x}{secrets.token_hex(7)}"
