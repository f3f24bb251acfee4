"""Signing in and out: the page, its script, and what they send."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from sandtable.accounts import audit
from sandtable.assemble import Parts
from sandtable.server.accounts.here import LIMITED, NOT_FOUND, Address, Here
from sandtable.server.accounts.page import PASSWORD_SCRIPT, SCRIPT, password_page, sign_in_page
from sandtable.server.accounts.views import Me, SignInBody
from sandtable.server.callers import Asker
from sandtable.server.cookies import NAME, forget_cookie, is_secure, session_token, set_cookie
from sandtable.settings import Settings

router = APIRouter(tags=["accounts"])


@router.get(
    "/login",
    operation_id="sign_in_page",
    summary="The page for signing in",
    response_class=Response,
    responses={**NOT_FOUND, 200: {"description": "The page.", "content": {"text/html": {}}}},
)
async def page(request: Request, accounts: Here) -> Response:
    settings = settings_of(request)
    provider = settings.oidc_name if settings.oidc_issuer else None
    return sign_in_page(
        provider,
        wanted=request.query_params.get("next", ""),
        problem=request.query_params.get("problem", ""),
        no_users=await accounts.people.is_empty() and provider is None,
    )


@router.get("/login/page.js", include_in_schema=False)
async def script() -> Response:
    return Response(SCRIPT, media_type="text/javascript", headers={"Cache-Control": "no-cache"})


@router.get("/login/password", include_in_schema=False)
async def change_password_page(request: Request, accounts: Here, asker: Asker) -> Response:
    """Where a user is sent whose password an administrator made."""
    wanted = request.query_params.get("next", "")
    return password_page(asker.user, wanted=wanted, must_change=asker.must_change)


@router.get("/login/password.js", include_in_schema=False)
async def password_script() -> Response:
    return Response(PASSWORD_SCRIPT, media_type="text/javascript", headers={"Cache-Control": "no-cache"})


@router.post("/login", operation_id="sign_in", summary="Sign in with a password", responses=LIMITED)
async def sign_in(
    request: Request, response: Response, body: SignInBody, accounts: Here, address: Address
) -> Me:
    """Sets the cookie of a new session; the session of the cookie that was sent ends."""
    settings = settings_of(request)
    signed_in = await accounts.sign_in(
        body.name,
        body.password,
        address=address,
        client=request.headers.get("user-agent", ""),
        instead_of=session_token(request.scope, settings),
    )
    give_cookie(response, request, signed_in.token)
    return Me.of(signed_in.principal, signs_in=True, has_password=True)


@router.post(
    "/logout", operation_id="sign_out", summary="End the session", status_code=204, responses=NOT_FOUND
)
async def sign_out(request: Request, accounts: Here, asker: Asker, address: Address) -> Response:
    if asker.proof == "session":
        await accounts.sessions.end(asker.proof_id, asker.user)
        audit.note("sign_out", by=asker.user, address=address, session=asker.proof_id)
    response = Response(status_code=204)
    forget_cookie(response, NAME, secure=is_secure(request.scope, settings_of(request)))
    return response


def give_cookie(response: Response, request: Request, token: str) -> None:
    settings = settings_of(request)
    whole_s = int(settings.sign_in_hours * 3600)
    set_cookie(response, NAME, token, max_age=whole_s, secure=is_secure(request.scope, settings))


def settings_of(request: Request) -> Settings:
    parts: Parts = request.app.state.parts
    return parts.settings
