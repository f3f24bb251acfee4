"""One log line for everything about identity that matters later: `audit`, with who did what.

Invariant: no line holds a password, a key, a token or a hash of one; keys and sessions are named by their ids.
"""

from __future__ import annotations

import structlog

log = structlog.get_logger("sandtable.audit")


def note(act: str, *, by: str, **about: object) -> None:
    """`by` is the user who acts, or what a failed attempt claimed to be."""
    log.info("audit", act=act, by=by, **about)


def refused(act: str, *, by: str, **about: object) -> None:
    log.warning("audit", act=act, by=by, **about)
