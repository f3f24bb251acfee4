"""Signing in with an OpenID Connect provider: to the provider, and back from it."""

from __future__ import annotations

from urllib.parse import urlencode

import structlog
from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse

from sandtable.accounts import audit
from sandtable.accounts.oidc.attempt import LIFETIME_S
from sandtable.accounts.oidc.flow import OidcFlow
from sandtable.accounts.refusals import NotAllowed, NotProven, ProviderRefused
from sandtable.errors import NotFound
from sandtable.server.accounts.here import Address, Here
from sandtable.server.accounts.page import own_address
from sandtable.server.accounts.signing_in import give_cookie, settings_of
from sandtable.server.cookies import forget_cookie, is_secure, read_cookie, session_token, set_cookie

log = structlog.get_logger("sandtable.server")

router = APIRouter(include_in_schema=False)

_COOKIE = "sandtable_oidc"


@router.get("/login/oidc")
async def begin(request: Request, accounts: Here) -> RedirectResponse:
    after = own_address(request.query_params.get("next", ""))
    try:
        address, cookie = await _flow(request).begin(after, accounts.now())
    except ProviderRefused as error:
        return _failed("provider", error)
    response = RedirectResponse(address, status_code=303)
    secure = is_secure(request.scope, settings_of(request))
    set_cookie(response, _COOKIE, cookie, max_age=LIFETIME_S, secure=secure)
    return response


@router.get("/login/oidc/callback")
async def callback(request: Request, accounts: Here, address: Address) -> RedirectResponse:
    settings = settings_of(request)
    secure = is_secure(request.scope, settings)
    cookie = read_cookie(request.scope, _COOKIE, secure=secure)
    try:
        person, after = await _flow(request).finish(accounts, request.query_params, cookie)
        signed_in = await accounts.begin_session(
            person,
            address=address,
            client=request.headers.get("user-agent", ""),
            instead_of=session_token(request.scope, settings),
            by_provider=True,
        )
    except ProviderRefused as error:
        audit.refused("sign_in", by="provider", address=address, reason=error.message)
        response = _failed("provider", error)
    except (NotAllowed, NotProven) as error:
        response = _failed("not_allowed", error)
    else:
        response = RedirectResponse(own_address(after), status_code=303)
        give_cookie(response, request, signed_in.token)
    forget_cookie(response, _COOKIE, secure=secure)
    return response


def _flow(request: Request) -> OidcFlow:
    """Raises NotFound."""
    flow: OidcFlow | None = request.app.state.oidc
    if flow is None:
        raise NotFound("this server has no identity provider", suggestion="SANDTABLE_OIDC_ISSUER names one.")
    return flow


def _failed(problem: str, error: ProviderRefused | NotAllowed | NotProven) -> RedirectResponse:
    log.warning("oidc_sign_in_failed", reason=error.message)
    return RedirectResponse(f"/login?{urlencode({'problem': problem})}", status_code=303)
