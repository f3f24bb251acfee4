"""The threads that a client of this protocol may name: it chooses the ids of its conversations itself.

Invariant: a client reaches only threads of its own user. An id that is a UUID names the thread with this id, so that a
conversation goes on over every protocol; any other id is the user's own name for a thread, and says nothing to others.
"""

from __future__ import annotations

from uuid import UUID, uuid5

from sandtable.conversations.model import Thread
from sandtable.errors import NotFound
from sandtable.quoting import quote

_NAMES = UUID("9f0d6c1e-58a1-4a6f-8f0e-6d1a2b7c3e54")
"""The namespace of the ids that are made from names."""


def own_thread_id(given: str, user: str) -> str:
    try:
        return str(UUID(given)) if len(given) == 36 else _named(given, user)
    except ValueError:
        return _named(given, user)


def _named(given: str, user: str) -> str:
    # A name of a user has no newline.
    return str(uuid5(_NAMES, f"{user}\n{given}"))


def require_own(thread: Thread | None, user: str, given: str) -> None:
    """Raises NotFound for a thread that another user began."""
    if thread is not None and thread.user != user:
        raise NotFound(
            f"the conversation {quote(given)} is not yours",
            suggestion="Send a `threadId` of your own, such as a new UUID.",
            thread_id=thread.id,
        )
