"""Who asks: the principal of a request, proven by a trusted proxy, an API key or a session's cookie.

Invariant: with accounts, a request has a principal only if one of these proves it, and each proof is checked in the
store for every request: what is revoked is refused at once. Without accounts, those whom no proxy passes on are
served alike.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import Scope

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.principal import Principal
from sandtable.errors import ErrorCode, Problem
from sandtable.server.callers import Caller
from sandtable.server.cookies import session_token
from sandtable.server.hosts import Authority, Refusal, is_own_page
from sandtable.server.permissions import WITH_A_GIVEN_PASSWORD, Need, allows
from sandtable.settings import Settings

CSRF = "x-sandtable-csrf"
"""A header that a page of another origin cannot send without asking this server first, which refuses it."""
_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
# The stock chat interface cannot send the header; its requests are checked for their origin, like all others.
_WITHOUT_HEADER = "/langgraph/"


class Proving:
    def __init__(self, settings: Settings, accounts: Accounts | None) -> None:
        self._settings = settings
        self._accounts = accounts

    @property
    def asks(self) -> bool:
        """Whether an identity must be proven here."""
        return self._accounts is not None

    async def principal_of(self, scope: Scope, caller: Caller) -> Principal | Refusal:
        """Raises StoreUnavailable."""
        if self._accounts is None:
            return self._without_accounts(caller)
        if caller.is_named:
            return await self._by_proxy(self._accounts, caller)
        given = Headers(scope=scope).getlist("authorization")
        if given:
            return await self._by_key(self._accounts, given)
        token = session_token(scope, self._settings)
        found = None if token is None else await self._accounts.of_session(token)
        return found or _NOTHING_PROVEN

    def _without_accounts(self, caller: Caller) -> Principal:
        """An address sees everything, because there are no people then; but not one that a proxy let through without
        a user, which is a person that did not sign in."""
        if caller.is_named:
            admin = self._makes_admin(caller)
            return Principal(caller.user, "proxy", sees_all=admin, is_admin=admin, teams=caller.groups)
        sees_all = not caller.proxied or self._settings.insecure
        return Principal(caller.user, sees_all=sees_all, is_admin=caller.is_here)

    async def _by_proxy(self, accounts: Accounts, caller: Caller) -> Principal | Refusal:
        """A person whom the proxy knows need not have an account; one who has, has its rights."""
        person = await accounts.people.find(caller.user.lower())
        admin = self._makes_admin(caller)
        if person is None:
            return Principal(caller.user, "proxy", sees_all=admin, is_admin=admin, teams=caller.groups)
        if person.disabled:
            return _DISABLED
        admin = admin or person.is_admin
        teams = person.teams | caller.groups
        return Principal(person.name, proof="proxy", is_admin=admin, sees_all=admin, teams=teams)

    def _makes_admin(self, caller: Caller) -> bool:
        settings = self._settings
        return caller.user in settings.admins or not caller.groups.isdisjoint(settings.admin_groups)

    async def _by_key(self, accounts: Accounts, given: list[str]) -> Principal | Refusal:
        scheme, _, token = given[0].partition(" ")
        if len(given) > 1 or scheme.lower() != "bearer":
            return _OTHER_PROOF
        return await accounts.of_key(token.strip()) or _UNKNOWN_KEY


def judge(need: Need | None, principal: Principal, scope: Scope) -> Refusal | None:
    """Why this principal may not do this, if so. `need` is None for what is not in the table of permissions."""
    if principal.must_change and need != "open" and not _may_be_done_first(scope):
        return _MUST_CHANGE
    if need is None:
        return Refusal(
            404,
            Problem(
                code=ErrorCode.NOT_FOUND,
                message=f"nothing is at {scope['path']}",
                suggestion="GET /docs lists what this server answers.",
            ),
        )
    if allows(need, principal):
        return None
    if need == "person":
        why, how = "an API key cannot do this", "Sign in with a browser."
    elif need == "admin" and not principal.is_admin:
        why, how = "only an administrator may do this", "Ask an administrator."
    elif need == "metrics":
        why, how = "metrics are for API keys and administrators", "Send an API key."
    else:
        why, how = f"this API key does not have the scope `{need}`", f"Make one with the scope `{need}`."
    return Refusal(403, Problem(code=ErrorCode.UNAUTHORIZED, message=why, suggestion=how))


def _may_be_done_first(scope: Scope) -> bool:
    """Whether it is possible before the password is changed."""
    method = scope.get("method", "")
    return f"{'GET' if method == 'HEAD' else method} {scope['path']}" in WITH_A_GIVEN_PASSWORD


def forged(scope: Scope, principal: Principal, own: Authority, *, https: bool) -> Refusal | None:
    """Why a request that a cookie proves may have been sent by a page of another origin, if so.

    A browser adds the cookie by itself. So what changes something must say that it comes from a page of ours, and must
    have a header or a content type that pages of other origins cannot send.
    """
    is_socket = scope["type"] == "websocket"
    if principal.proof != "session" or (not is_socket and scope["method"] in _SAFE_METHODS):
        return None
    headers = Headers(scope=scope)
    origins = headers.getlist("origin")
    of_own_page = headers.get("sec-fetch-site") == "same-origin" or (
        len(origins) == 1 and is_own_page(origins[0], own, https)
    )
    if not of_own_page:
        return _NO_ORIGIN
    if is_socket or scope["path"].startswith(_WITHOUT_HEADER) or CSRF in headers:
        return None
    return _NO_HEADER


def _refusal(status: int, message: str, suggestion: str) -> Refusal:
    return Refusal(status, Problem(code=ErrorCode.UNAUTHORIZED, message=message, suggestion=suggestion))


_NOTHING_PROVEN = _refusal(
    401,
    "this server must know who asks",
    "Sign in at /login, or send an API key: `Authorization: Bearer st_…`.",
)
_MUST_CHANGE = Refusal(
    403,
    Problem(
        code=ErrorCode.UNAUTHORIZED,
        message="the password of this account was made by an administrator, and must be changed first",
        suggestion="Change it at /login/password, or with PUT /me/password.",
        details={"must_change_password": True},
    ),
    page="/login/password",
)
_OTHER_PROOF = _refusal(
    401, "the Authorization header holds no API key", "Send one header `Authorization: Bearer st_…`."
)
_UNKNOWN_KEY = _refusal(
    401, "the API key is unknown, was revoked, or has expired", "Make another one, and send that."
)
_DISABLED = _refusal(403, "this account is disabled", "Ask an administrator.")
_NO_ORIGIN = _refusal(
    403,
    "a request that a cookie signs must say that it comes from a page of this server",
    "Programs: send an API key instead of the cookie. Browsers: update yours; it sends neither Origin nor"
    " Sec-Fetch-Site.",
)
_NO_HEADER = _refusal(
    403,
    "a request that a cookie signs must have the header X-Sandtable-CSRF",
    "Send `X-Sandtable-CSRF: 1`. Programs: send an API key instead of the cookie.",
)
