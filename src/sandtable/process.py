"""Start-up of a single-user process: read the settings, and keep logs out of the output."""

from __future__ import annotations

import logging
import sys

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


def quiet_logs() -> None:
    """Log errors only, to stderr; stdout holds nothing but the answer."""
    structlog.configure(
        processors=[structlog.processors.add_log_level, structlog.processors.KeyValueRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
