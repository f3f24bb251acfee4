"""Who asks: the name that a request is counted under."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Depends
from fastapi.requests import HTTPConnection

from sandtable.errors import InvalidInput

_USER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@:+-]{0,63}")


def user_of(request: HTTPConnection) -> str:
    """Of a request or a WebSocket. Raises InvalidInput."""
    given = request.headers.get("x-sandtable-user")
    if given is None:
        # Nobody can claim an address by the header: no name starts with `@`.
        return f"@{request.client.host}" if request.client else "@unknown"
    if not _USER.fullmatch(given):
        raise InvalidInput(
            "the header X-Sandtable-User is not a usable name",
            suggestion="Use up to 64 letters, digits and . _ @ : + - and begin with a letter or digit.",
        )
    return given


User = Annotated[str, Depends(user_of)]
