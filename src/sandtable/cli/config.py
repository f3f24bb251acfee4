"""Settings for a command, and logs that stay out of its answer."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog
from pydantic import ValidationError

from sandtable.errors import InvalidInput
from sandtable.settings import Settings


def load_settings() -> Settings:
    try:
        return Settings()
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        raise InvalidInput(
            f"the settings cannot be used: {'; '.join(wrong)}",
            suggestion="Correct or unset that SANDTABLE_… variable; docs/settings.md lists them all.",
        ) from error


def debugging() -> bool:
    try:
        return load_settings().log_level == "debug"
    except InvalidInput:
        return False


def quiet_logs() -> None:
    """Stdout holds the answer alone, and stderr what a person must know."""
    structlog.configure(
        processors=[structlog.processors.add_log_level, structlog.processors.KeyValueRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def raised(settings: Settings, **wanted: Any) -> Settings:
    """Settings in which each of `wanted` is allowed: on the command line, asking is deciding."""
    more = {name: value for name, value in wanted.items() if value and value > getattr(settings, name)}
    return settings.model_copy(update=more)
