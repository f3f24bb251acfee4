"""What a command asks of its settings."""

from __future__ import annotations

from typing import Any

from sandtable.errors import InvalidInput
from sandtable.process import load_settings
from sandtable.settings import Settings


def debugging() -> bool:
    try:
        return load_settings().log_level == "debug"
    except InvalidInput:
        return False


def raised(settings: Settings, **wanted: Any) -> Settings:
    """Settings in which each of `wanted` is allowed: on the command line, asking is deciding."""
    more = {name: value for name, value in wanted.items() if value and value > getattr(settings, name)}
    return settings.model_copy(update=more)
