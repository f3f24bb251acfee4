"""What the routes of accounts share: the accounts of this server, and the answer where it has none."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request

from sandtable.accounts.accounts import Accounts
from sandtable.errors import NotFound
from sandtable.server.callers import ADDRESS
from sandtable.server.errors import ErrorBody


def accounts_here(request: Request) -> Accounts:
    """Raises NotFound."""
    accounts: Accounts | None = request.app.state.accounts
    if accounts is None:
        raise NotFound(
            "this server has no accounts",
            suggestion="SANDTABLE_ACCOUNTS=on switches them on; docs/accounts.md says more.",
        )
    return accounts


def address_of(request: Request) -> str:
    return request.scope[ADDRESS]


Here = Annotated[Accounts, Depends(accounts_here)]
Address = Annotated[str, Depends(address_of)]

NOT_FOUND: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorBody, "description": "No such thing, or a server without accounts."}
}
LIMITED: dict[int | str, dict[str, Any]] = {
    **NOT_FOUND,
    429: {
        "model": ErrorBody,
        "description": "Too many failed attempts; `Retry-After` says how long to wait.",
    },
}
