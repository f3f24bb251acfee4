"""The page to sign in on: ours, plain, and independent of the web interface, which only people who signed in may load.

Invariant: every value passes `html.escape`; the only script is ours, at an address of its own. After signing in, only
addresses of this server are opened.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from urllib.parse import urlencode

from fastapi.responses import HTMLResponse

from sandtable.server.pages import PAGE_POLICY, html_page

SCRIPT = files("sandtable.server.accounts").joinpath("page.js").read_text("utf-8")
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
