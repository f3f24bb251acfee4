"""Errors of downloading the awards data, with messages for the user."""

from __future__ import annotations


class DownloadError(Exception):
    """The data could not be fetched: `message` says why, `suggestion` what to do."""

    def __init__(self, message: str, *, suggestion: str = "") -> None:
        super().__init__(f"{message}. {suggestion}".strip() if suggestion else message)
        self.message = message
        self.suggestion = suggestion


class NotCsv(DownloadError):
    """The server sent something other than a CSV file. It is not kept."""
