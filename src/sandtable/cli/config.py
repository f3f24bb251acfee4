"""Settings for commands."""

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
    """Settings with limits raised to `wanted`: on the command line, options override the limits."""
    more = {name: value for name, value in wanted.items() if value and value > getattr(settings, name)}
    return settings.model_copy(update=more)
