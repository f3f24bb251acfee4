"""Who asks, over HTTP: signing in and out, one's own account and API keys, users and teams."""

from __future__ import annotations

from sandtable.server.accounts import oidc, own, people, signing_in
from sandtable.server.adapter import Adapter

ADAPTER = Adapter((signing_in.router, oidc.router, own.router, people.router))
