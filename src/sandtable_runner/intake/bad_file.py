"""The refusal of a source file: what is wrong and where, what to do, and the repairs that a person can agree to."""

from __future__ import annotations

from collections.abc import Iterable


class BadFile(Exception):
    def __init__(self, message: str, suggestion: str, repairs: Iterable[dict[str, str]] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.suggestion = suggestion
        self.repairs = list(repairs)
