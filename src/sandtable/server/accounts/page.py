"""The pages to sign in and to change a password on: ours, plain, and independent of the web interface, which only
people who signed in may load.

Invariant: every value passes `html.escape`; the only scripts are ours, at addresses of their own. Afterwards, only
addresses of this server are opened.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from urllib.parse import urlencode

from fastapi.responses import HTMLResponse

from sandtable.server.pages import PAGE_POLICY, html_page

_SCRIPTS = files("sandtable.server.accounts")
SCRIPT = _SCRIPTS.joinpath("page.js").read_text("utf-8")
PASSWORD_SCRIPT = _SCRIPTS.joinpath("password.js").read_text("utf-8")
_POLICY = f"{PAGE_POLICY}; script-src 'self'; connect-src 'self'"
_PROBLEMS = {
    "provider": "Signing in with the provider did not work. Try again; the server's log has the cause.",
    "not_allowed": "The provider knows you, and you may not use this server. Ask an administrator.",
}


def own_address(wanted: str) -> str:
    """A path of this server; `/` for anything else."""
    is_path = wanted.startswith("/") and not wanted.startswith(("//", "/\\", "/login"))
    return wanted if is_path and wanted.isprintable() and "\\" not in wanted else "/"


def sign_in_page(provider: str | None, *, wanted: str, problem: str, no_users: bool) -> HTMLResponse:
    after = own_address(wanted)
    said = _PROBLEMS.get(problem, "")
    other = ""
    if provider is not None:
        address = f"/login/oidc?{urlencode({'next': after})}"
        other = f'<p><a class="button" href="{escape(address)}">Continue with {escape(provider)}</a></p>'
    hint = (
        "<p>There is no user yet. Where the server runs, <code>sandtable user add NAME --admin</code> makes the first"
        " administrator.</p>"
        if no_users
        else ""
    )
    page = html_page(
        "Sign in · Sandtable",
        f"""<main class="sign-in"><h1>Sandtable</h1>{hint}{other}
<form id="sign-in" data-after="{escape(after)}">
<label for="name">Name</label>
<input id="name" name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<p id="problem" class="failed" role="alert">{escape(said)}</p>
<button type="submit">Sign in</button>
<noscript><p>This page needs JavaScript.</p></noscript>
</form></main><script src="/login/page.js" defer></script>""",
    )
    page.headers["Content-Security-Policy"] = _POLICY
    return page


def password_page(name: str, *, wanted: str, must_change: bool) -> HTMLResponse:
    why = (
        "<p>An administrator made your password. Choose one that only you know; then you can go on.</p>"
        if must_change
        else ""
    )
    page = html_page(
        "Change the password · Sandtable",
        f"""<main class="sign-in"><h1>Change the password</h1>{why}
<form id="change" data-after="{escape(own_address(wanted))}">
<input name="username" autocomplete="username" value="{escape(name)}" hidden>
<label for="old">Password until now</label>
<input id="old" name="old" type="password" autocomplete="current-password" required autofocus>
<label for="new">New password</label>
<input id="new" name="new" type="password" autocomplete="new-password" required>
<label for="again">The new password again</label>
<input id="again" name="again" type="password" autocomplete="new-password" required>
<p id="problem" class="failed" role="alert"></p>
<button type="submit">Change the password</button>
<button type="button" id="leave">Sign out</button>
<noscript><p>This page needs JavaScript.</p></noscript>
</form></main><script src="/login/password.js" defer></script>""",
    )
    page.headers["Content-Security-Policy"] = _POLICY
    return page
